import { hexSignature, standardSignature } from '@tintype/crds/crypto/webhook-signature'
import type { SigningTexts } from '../../webhook/sealed-secrets.ts'

/** One attempt, as its headers tell of it. */
export interface SignedPost {
  body: string
  secrets: SigningTexts
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

/**
 * Headers of a post: the spec's own signature (5.4), and those of Standard Webhooks beside it, over the same bytes with the same secret.
 * During a rotation the previous secret signs too: in a list where the scheme knows lists, in a header of its own where it does not.
 */
export function buildHeaders(signed: SignedPost): Record<string, string> {
  const { body, secrets, eventId, eventType, webhookId, deliveryId, attempt, at, version } = signed
  const { current, previous } = secrets
  const timestampSeconds = Math.floor(at.getTime() / 1000)
  return {
    'content-type': 'application/json',
    'user-agent': `Tintype-Webhooks/${version}`,
    'x-webhook-signature': hexSignature(body, current),
    ...(previous === undefined ? {} : { 'x-webhook-signature-previous': hexSignature(body, previous) }),
    'x-webhook-event': eventType,
    'x-webhook-id': webhookId,
    'x-webhook-delivery': deliveryId,
    'x-webhook-attempt': String(attempt),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': [current, previous]
      .flatMap((secret) => (secret === undefined ? [] : standardSignature(body, secret, eventId, timestampSeconds)))
      .join(' '),
  }
}
