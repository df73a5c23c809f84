import { instrumentsOf } from '@tintype/crds/client/probe-server'
import type { Registry } from 'prom-client'

export type RetentionMetrics = ReturnType<typeof createRetentionMetrics>

/** Creates the metrics. Call it once per process. */
export function createRetentionMetrics(registry: Registry) {
  const { counter, gauge } = instrumentsOf(registry)
  return {
    archived: counter('screenshot_archived_total', 'Records moved from the Kubernetes API to the bucket.'),
    lastRound: gauge(
      'screenshot_retention_last_round_timestamp_seconds',
      'Time at which a retention chore (archive, rewrite, expire) last finished.',
      ['chore'],
    ),
  }
}
