import { instrumentsOf } from '@tintype/crds/client/metrics'
import type { Registry } from 'prom-client'

/** Metric hooks of the retention controller. */
export interface RetentionMetrics {
  onArchived: (count: number) => void
  /** A round of a chore has finished. */
  onRound: (chore: string, at: Date) => void
}

/** Creates the metrics. Call it once per process. */
export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  const { counter, gauge } = instrumentsOf(registry)
  const archived = counter('screenshot_archived_total', 'Records moved from the Kubernetes API to the bucket.')
  const lastRound = gauge(
    'screenshot_retention_last_round_timestamp_seconds',
    'Time at which a retention chore (archive, rewrite, expire) last finished.',
    ['chore'],
  )
  return {
    onArchived: (count) => archived.inc(count),
    onRound: (chore, at) => lastRound.set({ chore }, at.getTime() / 1_000),
  }
}
