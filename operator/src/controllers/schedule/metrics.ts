import type { RunOutcome } from '@tintype/crds/kinds/screenshot-schedule'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
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
  const late = new Histogram({
    name: 'schedule_run_delay_seconds',
    help: 'Time from the due time of a scheduled run to its creation.',
    buckets: LATE_BUCKETS,
    registers: [registry],
  })
  const ended = new Counter({
    name: 'schedule_runs_ended_total',
    help: 'Ended runs of schedules, by outcome: completed, failed, deleted.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  for (const outcome of OUTCOMES) ended.inc({ outcome }, 0)
  new Gauge({
    name: 'schedule_failing',
    help: 'Schedules whose last three runs failed, without suspended ones.',
    registers: [registry],
    collect() {
      const isFailing = (runs: readonly { outcome: RunOutcome }[]) =>
        runs.length >= FAILURES && runs.slice(0, FAILURES).every(({ outcome }) => outcome === 'failed')
      this.set(schedules.lister.list().filter(({ spec, status }) => !spec.suspend && isFailing(status?.recentRuns ?? [])).length)
    },
  })
  return { onCreated: (seconds) => late.observe(seconds), onEnded: (outcome) => ended.inc({ outcome }) }
}
