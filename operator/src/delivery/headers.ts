import { hexSignature, standardSignature } from '@tintype/crds/webhook-signature'

/** One attempt, as its headers tell of it. */
export interface SignedPost {
  body: string
  secret: string
  eventId: string
  eventType: string
  /** `wh_…` */
  webhookId: string
  /** `dlv_…`: this event at this webhook, whatever the attempt. */
  deliveryId: string
  attempt: number
  at: Date
  /** Version of the operator, for the user agent. */
  version: string
}

/** Headers of a post: the spec's own signature (5.4), and those of Standard Webhooks beside it, over the same bytes with the same secret. */
export function buildHeaders(signed: SignedPost): Record<string, string> {
  const { body, secret, eventId, eventType, webhookId, deliveryId, attempt, at, version } = signed
  const timestampSeconds = Math.floor(at.getTime() / 1000)
  return {
    'content-type': 'application/json',
    'user-agent': `Tintype-Webhooks/${version}`,
    'x-webhook-signature': hexSignature(body, secret),
    'x-webhook-event': eventType,
    'x-webhook-id': webhookId,
    'x-webhook-delivery': deliveryId,
    'x-webhook-attempt': String(attempt),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': standardSignature(body, secret, eventId, timestampSeconds),
  }
}
