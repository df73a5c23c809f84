import { instrumentsOf } from '@tintype/crds/client/probe-server'
import type { Registry } from 'prom-client'

/** Outcome of a reservation. */
export type ReservationOutcome = 'granted' | 'partial' | 'quota' | 'rate' | 'unavailable'

/** Callbacks for the metrics of the quota. */
export interface QuotaMetrics {
  onReservation: (outcome: ReservationOutcome) => void
  /** An update was written. @param waiters requests in it */
  onCommit: (waiters: number) => void
  /** An update conflicted with another writer's. */
  onConflict: () => void
}

/** Registers the metrics of the quota. */
export function buildQuotaMetrics(registry: Registry): QuotaMetrics {
  const { counter, histogram } = instrumentsOf(registry)
  const help = 'Quota and rate limit reservations by outcome, including those rejected from the informer cache.'
  const reservations = counter('quota_reservations_total', help, ['outcome'])
  const commits = counter('quota_commits_total', 'Successful updates of AccountUsages.')
  const conflicts = counter('quota_conflicts_total', 'Updates of AccountUsages that failed with a conflict.')
  const waiters = histogram('quota_commit_waiters', 'Requests per update of an AccountUsage.', [0, 1, 2, 5, 10, 20, 50, 100])
  return {
    onReservation: (outcome) => reservations.inc({ outcome }),
    onConflict: () => conflicts.inc(),
    onCommit(count) {
      commits.inc()
      waiters.observe(count)
    },
  }
}
