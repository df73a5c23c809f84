import { Counter, Histogram, type Registry } from 'prom-client'

/** Outcome of a reservation. */
export type ReservationOutcome = 'granted' | 'partial' | 'quota' | 'rate' | 'unavailable'

/** Callbacks for the metrics of the quota. */
export interface QuotaMetrics {
  onReservation: (outcome: ReservationOutcome) => void
  /** An update was written. @param waiters requests in it @param attempt number of the attempt */
  onCommit: (waiters: number, attempt: number) => void
  /** An update conflicted with another writer's. */
  onConflict: () => void
}

/** Registers the metrics of the quota. */
export function buildQuotaMetrics(registry: Registry): QuotaMetrics {
  const registers = [registry]
  const reservations = new Counter({
    name: 'quota_reservations_total',
    help: 'Quota and rate limit reservations by outcome, including those rejected from the informer cache.',
    labelNames: ['outcome'] as const,
    registers,
  })
  const commits = new Counter({ name: 'quota_commits_total', help: 'Successful updates of AccountUsages.', registers })
  const conflicts = new Counter({ name: 'quota_conflicts_total', help: 'Updates of AccountUsages that failed with a conflict.', registers })
  const waiters = new Histogram({
    name: 'quota_commit_waiters',
    help: 'Requests per update of an AccountUsage.',
    buckets: [0, 1, 2, 5, 10, 20, 50, 100],
    registers,
  })
  return {
    onReservation: (outcome) => reservations.inc({ outcome }),
    onConflict: () => conflicts.inc(),
    onCommit(count) {
      commits.inc()
      waiters.observe(count)
    },
  }
}
