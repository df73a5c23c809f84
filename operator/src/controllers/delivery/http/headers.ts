import { hexSignature, standardSignature } from '@tintype/crds/crypto/signatures'
import type { SigningTexts } from '../../webhook/signing-secret.ts'

/** The values of an attempt that its headers contain. */
export interface SignedPost {
  body: string
  secrets: SigningTexts
  eventId: string
  eventType: string
  /** `wh_…` */
  webhookId: string
  /** `dlv_…`: the same for all attempts. */
  deliveryId: string
  attempt: number
  at: Date
  /** Version of the operator, for the User-Agent header. */
  version: string
}

/**
 * Headers of a post: Tintype's own signature and the signatures of Standard Webhooks, over the same bytes with the same secret. During a rotation
 * the previous secret signs too: in the list of Standard Webhooks, and in a header of its own for the other scheme.
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
