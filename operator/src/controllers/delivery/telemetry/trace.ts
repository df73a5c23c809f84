// Trace context of deliveries. Pure.

import type { Span } from '@tintype/crds/client/span-exporter'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { spanIds, toTraceparent, traceOf } from '@tintype/crds/runtime/trace-context'
import type { EventType } from '@tintype/crds/schema/event-types'
import type { PostOutcome } from '../http/post.ts'

/** `traceparent` of one attempt, the parent of the receiver's spans. Empty when the request had no trace. */
export function toTraceHeaders(screenshot: Screenshot, deliveryId: string, attempt: number): Record<string, string> {
  const trace = traceOf(screenshot)
  return trace ? { traceparent: toTraceparent({ ...trace, spanId: spanIds.delivery(deliveryId, attempt) }) } : {}
}

/** One delivery attempt. */
export interface DeliveryAttempt {
  screenshot: Screenshot
  type: EventType
  deliveryId: string
  attempt: number
  begun: Date
  outcome: Pick<PostOutcome, 'isSuccess' | 'statusCode' | 'detail' | 'durationMilliseconds'>
}

/** The span of an attempt; undefined when the trace is not sampled. */
export function toDeliverySpan({ screenshot, type, deliveryId, attempt, begun, outcome }: DeliveryAttempt): Span | undefined {
  const trace = traceOf(screenshot)
  if (!trace?.isSampled) return undefined
  return {
    traceId: trace.traceId,
    spanId: spanIds.delivery(deliveryId, attempt),
    parentSpanId: spanIds.screenshot(screenshot.metadata.uid),
    name: `deliver ${type}`,
    kind: 'client',
    startMilliseconds: begun.getTime(),
    endMilliseconds: begun.getTime() + outcome.durationMilliseconds,
    attributes: {
      'tintype.delivery': deliveryId,
      'tintype.attempt': attempt,
      'http.response.status_code': outcome.statusCode || undefined,
    },
    error: outcome.isSuccess ? undefined : outcome.detail,
  }
}
