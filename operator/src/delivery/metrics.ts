import type { ScreenshotEventType } from '@tintype/crds/event-types'
import type { PostFailure } from './post-failure.ts'

/** What deliveries tell about themselves; each hook names the metric it feeds, the program's metrics.ts registers them. */
export interface DeliveryMetrics {
  /** webhook_attempts_total{event,outcome} and webhook_attempt_duration_seconds{outcome} */
  onAttempt?(labels: { event: ScreenshotEventType; outcome: 'success' | 'answered' | PostFailure }, seconds: number): void
  /** webhook_deliveries_total{event,result}: after the ledger was written */
  onSettled?(labels: { event: ScreenshotEventType; result: 'ok' | 'failed' }): void
  /** webhook_delivery_latency_seconds{event}: from the event to the end of its successful attempt */
  onDelivered?(labels: { event: ScreenshotEventType }, seconds: number): void
}
