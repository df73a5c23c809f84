import { createHmac, randomBytes } from 'node:crypto'

// Two schemes over the same secret. The spec's own header is keyed with the whole text of the secret; Standard Webhooks with the bytes
// that follow its prefix (contract, trap T1).

const PREFIX = 'whsec_'
const SECRET_BYTES = 33

/** `whsec_` and 44 characters of base64: 33 random bytes, so that there is no padding. */
export const newSigningSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** Lower-case hexadecimal HMAC-SHA256 of the body, for `X-Webhook-Signature` (spec 5.4). */
export const hexSignature = (body: string | Uint8Array, secret: string): string => createHmac('sha256', secret).update(body).digest('hex')

/** `v1,<base64>` over `id.timestamp.body`, for `webhook-signature` (Standard Webhooks). */
export function standardSignature(body: string, secret: string, id: string, timestampSeconds: number): string {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`
}
