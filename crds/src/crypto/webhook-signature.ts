import { createHmac, randomBytes } from 'node:crypto'

// Two schemes over the same secret. The spec's own header is keyed with the whole text of the secret; Standard Webhooks with the bytes
// that follow its prefix (contract, trap T1).

const PREFIX = 'whsec_'
const SECRET_BYTES = 33

/** `whsec_` and 44 characters of base64: 33 random bytes, so that there is no padding. */
export const newSigningSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** Lower-case hexadecimal HMAC-SHA256 of the body, for `X-Webhook-Signature` (spec 5.4). */
export const hexSignature = (body: string | Uint8Array, secret: string): string => createHmac('sha256', secret).update(body).digest('hex')

/** Base64, as a library of Standard Webhooks reads a secret that it is given. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The bytes that Standard Webhooks means by a secret: those of its base64, with or without the prefix; of any other text, its own. */
function keyOf(secret: string): Buffer {
  if (secret.startsWith(PREFIX)) return Buffer.from(secret.slice(PREFIX.length), 'base64')
  return Buffer.from(secret, BASE64.test(secret) ? 'base64' : 'utf8')
}

/** `v1,<base64>` over `id.timestamp.body`, for `webhook-signature` (Standard Webhooks). */
export function standardSignature(body: string, secret: string, id: string, timestampSeconds: number): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`
}
