import { createHmac, randomBytes } from 'node:crypto'

// Two signature schemes with the same secret but different keys. `X-Webhook-Signature` uses the whole text of the secret as key. Standard Webhooks
// uses the decoded bytes after the prefix.

const PREFIX = 'whsec_'
const SECRET_BYTES = 33

/** Creates a secret: `whsec_` and 44 base64 characters. 33 random bytes need no padding. */
export const newSigningSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** Lower-case hexadecimal HMAC-SHA256 of the body, for `X-Webhook-Signature`. */
export const hexSignature = (body: string | Uint8Array, secret: string): string => createHmac('sha256', secret).update(body).digest('hex')

/** Base64 as the libraries of Standard Webhooks accept it. */
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The key of Standard Webhooks: the decoded base64, with or without the prefix, or the bytes of a text that is not base64. */
function keyOf(secret: string): Buffer {
  if (secret.startsWith(PREFIX)) return Buffer.from(secret.slice(PREFIX.length), 'base64')
  return Buffer.from(secret, BASE64.test(secret) ? 'base64' : 'utf8')
}

/** `v1,<base64>` over `id.timestamp.body`, for `webhook-signature` (Standard Webhooks). */
export function standardSignature(body: string, secret: string, id: string, timestampSeconds: number): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`
}
