import { Counter, Histogram, type Registry } from 'prom-client'

/** How a reservation ended. */
export type ReservationOutcome = 'granted' | 'partial' | 'quota' | 'rate' | 'unavailable'

/** What the quota reports. */
export interface QuotaMetrics {
  onReservation: (outcome: ReservationOutcome) => void
  /** One update was written for so many waiters, at the so-manieth attempt. */
  onCommit: (waiters: number, attempt: number) => void
  /** An update lost against another writer's. */
  onConflict: () => void
}

/** Adds the metrics of the quota. */
export function buildQuotaMetrics(registry: Registry): QuotaMetrics {
  const registers = [registry]
  const reservations = new Counter({
    name: 'quota_reservations_total',
    help: 'Requests for quota and rate by outcome; those refused from the copy in memory are among them.',
    labelNames: ['outcome'] as const,
    registers,
  })
  const commits = new Counter({ name: 'quota_commits_total', help: 'Updates of AccountUsages that were written.', registers })
  const conflicts = new Counter({ name: 'quota_conflicts_total', help: 'Updates of AccountUsages that lost a race.', registers })
  const waiters = new Histogram({
    name: 'quota_commit_waiters',
    help: 'Requests that rode on one update.',
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
