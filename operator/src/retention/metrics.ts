import { Counter, type Registry } from 'prom-client'

/** What the archive tells about itself. */
export interface RetentionMetrics {
  onArchived: (count: number) => void
}

/** Makes the metrics; once a process. */
export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  const archived = new Counter({
    name: 'screenshot_archived_total',
    help: 'Records moved from the Kubernetes API to the bucket.',
    registers: [registry],
  })
  return { onArchived: (count) => archived.inc(count) }
}
