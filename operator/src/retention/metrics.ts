import { Counter, Gauge, type Registry } from 'prom-client'

/** What the archive tells about itself. */
export interface RetentionMetrics {
  onArchived: (count: number) => void
  /** A round of a chore has come to its end. */
  onRound: (chore: string, at: Date) => void
}

/** Makes the metrics; once a process. */
export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  const archived = new Counter({
    name: 'screenshot_archived_total',
    help: 'Records moved from the Kubernetes API to the bucket.',
    registers: [registry],
  })
  const lastRound = new Gauge({
    name: 'screenshot_retention_last_round_timestamp_seconds',
    help: 'When a chore of the retention (archive, rewrite, expire) last came to its end.',
    labelNames: ['chore'] as const,
    registers: [registry],
  })
  return {
    onArchived: (count) => archived.inc(count),
    onRound: (chore, at) => lastRound.set({ chore }, at.getTime() / 1_000),
  }
}
