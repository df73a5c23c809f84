import { instrumentsOf } from '@tintype/crds/client/probe-server'
import { RunOutcome } from '@tintype/crds/kinds/screenshot-schedule'
import type { Registry } from 'prom-client'
import type { Reflectors } from '../../kube/reflectors.ts'

export type ScheduleMetrics = ReturnType<typeof createScheduleMetrics>

const LATE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600]
/** A schedule fails when this many runs in a row have failed. */
const FAILURES = 3

/** Creates the metrics. Call it once per process. */
export function createScheduleMetrics(registry: Registry, schedules: Pick<Reflectors['schedules'], 'lister'>) {
  const { counter, histogram, computed } = instrumentsOf(registry)
  const ended = counter('schedule_runs_ended_total', 'Ended runs of schedules, by outcome: completed, failed, deleted.', ['outcome'])
  for (const outcome of RunOutcome.options) ended.inc({ outcome }, 0)
  computed('schedule_failing', 'Schedules whose last three runs failed, without suspended ones.', [], (gauge) => {
    const isFailing = (runs: readonly { outcome: RunOutcome }[]) =>
      runs.length >= FAILURES && runs.slice(0, FAILURES).every(({ outcome }) => outcome === 'failed')
    gauge.set(schedules.lister.list().filter(({ spec, status }) => !spec.suspend && isFailing(status?.recentRuns ?? [])).length)
  })
  return {
    lateSeconds: histogram('schedule_run_delay_seconds', 'Time from the due time of a scheduled run to its creation.', LATE_BUCKETS),
    ended,
  }
}
