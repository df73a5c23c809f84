import { Counter, Gauge, type Registry } from 'prom-client'

/** Metric hooks of the retention controller. */
export interface RetentionMetrics {
  onArchived: (count: number) => void
  /** A round of a chore has finished. */
  onRound: (chore: string, at: Date) => void
}

/** Creates the metrics. Call it once per process. */
export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  const archived = new Counter({
    name: 'screenshot_archived_total',
    help: 'Records moved from the Kubernetes API to the bucket.',
    registers: [registry],
  })
  const lastRound = new Gauge({
    name: 'screenshot_retention_last_round_timestamp_seconds',
    help: 'Time at which a retention chore (archive, rewrite, expire) last finished.',
    labelNames: ['chore'] as const,
    registers: [registry],
  })
  return {
    onArchived: (count) => archived.inc(count),
    onRound: (chore, at) => lastRound.set({ chore }, at.getTime() / 1_000),
  }
}
