// One attempt of a delivery: signs the event, posts it, and tells the log, the metrics, the trace and the circuit breaker how it ended. It is the
// same for deliveries of Screenshots in the Kubernetes API, for those in the bucket, and for requested posts.

import { keyOf } from '@tintype/crds/client/kube-object'
import type { Span } from '@tintype/crds/client/span-exporter'
import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { spanIds, toTraceparent, traceOf } from '@tintype/crds/runtime/trace-context'
import type { AttemptFinding, AttemptLine } from '@tintype/crds/webhooks/deliveries'
import type { DeliveryContext } from './context.ts'
import { MAX_ATTEMPTS } from './decide.ts'
import { buildHeaders } from './http/headers.ts'
import type { PostOutcome } from './http/post.ts'
import { toFinding } from './telemetry/delivery-log.ts'
import { countPost } from './telemetry/metrics.ts'

export interface Attempt extends Pick<AttemptLine, 'delivery' | 'event' | 'type' | 'attempt' | 'url'> {
  webhook: Webhook
  /** Id of the Screenshot; absent for a test, which is not logged. */
  screenshot?: string
  /** Returns the bytes of the event; undefined when it does not exist any more. */
  load: () => Promise<string | undefined>
  /** The Screenshot or its record. Its trace continues at the receiver. */
  record?: Screenshot | undefined
  /** Key of the endpoint in the circuit breakers; absent for a requested post, which counts nowhere. */
  endpoint?: string
  /** True for a redelivery: there is no other attempt after it. */
  manual?: true
}

export interface SentEvent {
  outcome: PostOutcome
  begun: Date
  /** Fields of the delivery log. */
  finding: AttemptFinding
}

/**
 * Makes an attempt. Returns `unsigned` while the webhook has no secret, and `gone` when the event does not exist any more: nothing was posted.
 * @throws RetryableError, FencedError
 */
export async function makeAttempt(given: Attempt, deps: DeliveryContext): Promise<SentEvent | 'unsigned' | 'gone'> {
  const { webhook, load, record, endpoint, screenshot, ...line } = given
  const { delivery: deliveryId, event: eventId, type: eventType, attempt, manual, url } = line
  // Before the first wait, so that only one post probes.
  const end = endpoint === undefined ? undefined : deps.circuitBreakers.start(endpoint)
  let isSuccess: boolean | undefined
  try {
    const secrets = await deps.signingSecrets.find(webhook)
    if (secrets === undefined) {
      deps.onMissingSecret(keyOf(webhook))
      return 'unsigned'
    }
    const body = await load()
    if (body === undefined) return 'gone'
    const begun = deps.now()
    const signed = { ...{ body, secrets, eventId, eventType, deliveryId, attempt, at: begun }, version: deps.version }
    const headers = { ...buildHeaders({ ...signed, webhookId: webhookIdOf(webhook.metadata) }), ...toTraceHeaders(given) }
    const outcome = await deps.post({ url: url ?? webhook.spec.url, headers, body })
    isSuccess = outcome.isSuccess
    const finding = toFinding(outcome, begun, secrets)
    if (endpoint !== undefined) {
      countPost(deps.metrics, eventType, outcome)
      const span = toSpan(given, begun, outcome)
      if (span) deps.spans?.add(span)
      if (!isSuccess && attempt === 1) await deps.eventBodies.keep({ id: eventId, body })
    }
    const last = attempt < MAX_ATTEMPTS || manual ? {} : { last: true }
    if (screenshot !== undefined) deps.deliveryLog.note(webhook, { ...line, screenshot, ...last, ...finding })
    return { outcome, begun, finding }
  } finally {
    end?.(isSuccess)
  }
}

/** `traceparent` of an attempt, the parent of the receiver's spans. Empty when the request had no trace. */
export function toTraceHeaders({ record, delivery, attempt }: Pick<Attempt, 'record' | 'delivery' | 'attempt'>): Record<string, string> {
  const trace = record && traceOf(record)
  return trace ? { traceparent: toTraceparent({ ...trace, spanId: spanIds.delivery(delivery, attempt) }) } : {}
}

/** The span of an attempt; undefined when the trace is not sampled. */
export function toSpan(
  { record, type, delivery, attempt }: Pick<Attempt, 'record' | 'type' | 'delivery' | 'attempt'>,
  begun: Date,
  outcome: Pick<PostOutcome, 'isSuccess' | 'statusCode' | 'detail' | 'durationMilliseconds'>,
): Span | undefined {
  const trace = record && traceOf(record)
  if (!record || !trace?.isSampled) return undefined
  return {
    traceId: trace.traceId,
    spanId: spanIds.delivery(delivery, attempt),
    parentSpanId: spanIds.screenshot(record.metadata.uid),
    name: `deliver ${type}`,
    kind: 'client',
    startMilliseconds: begun.getTime(),
    endMilliseconds: begun.getTime() + outcome.durationMilliseconds,
    attributes: {
      'tintype.delivery': delivery,
      'tintype.attempt': attempt,
      'http.response.status_code': outcome.statusCode || undefined,
    },
    error: outcome.isSuccess ? undefined : outcome.detail,
  }
}
