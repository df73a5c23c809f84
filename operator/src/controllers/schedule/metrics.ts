import { instrumentsOf } from '@tintype/crds/client/metrics'
import type { RunOutcome } from '@tintype/crds/kinds/screenshot-schedule'
import type { Registry } from 'prom-client'
import type { Reflectors } from '../../kube/reflectors.ts'

/** Metric hooks of the schedule controller. */
export interface ScheduleMetrics {
  /** A run was created this many seconds after it was due. */
  onCreated: (lateSeconds: number) => void
  onEnded: (outcome: RunOutcome) => void
}

const OUTCOMES: readonly RunOutcome[] = ['completed', 'failed', 'deleted']
const LATE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600]
/** A schedule fails when this many runs in a row have failed. */
const FAILURES = 3

/** Creates the metrics. Call it once per process. */
export function createScheduleMetrics(registry: Registry, schedules: Pick<Reflectors['schedules'], 'lister'>): ScheduleMetrics {
  const { counter, histogram, computed } = instrumentsOf(registry)
  const late = histogram('schedule_run_delay_seconds', 'Time from the due time of a scheduled run to its creation.', LATE_BUCKETS)
  const ended = counter('schedule_runs_ended_total', 'Ended runs of schedules, by outcome: completed, failed, deleted.', ['outcome'])
  for (const outcome of OUTCOMES) ended.inc({ outcome }, 0)
  computed('schedule_failing', 'Schedules whose last three runs failed, without suspended ones.', [], (gauge) => {
    const isFailing = (runs: readonly { outcome: RunOutcome }[]) =>
      runs.length >= FAILURES && runs.slice(0, FAILURES).every(({ outcome }) => outcome === 'failed')
    gauge.set(schedules.lister.list().filter(({ spec, status }) => !spec.suspend && isFailing(status?.recentRuns ?? [])).length)
  })
  return { onCreated: (seconds) => late.observe(seconds), onEnded: (outcome) => ended.inc({ outcome }) }
}
