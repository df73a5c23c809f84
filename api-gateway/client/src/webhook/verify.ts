import { TintypeError } from '../common/errors.ts'
import type { WebhookEvent } from '../common/types.ts'

// The signature of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, base64 after `v1,`. During a rotation the header has two entries.

const DEFAULT_TOLERANCE_SECONDS = 300
const PREFIX = 'whsec_'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The body as it was received. A body that a JSON parser has read and written again has another signature. */
export type WebhookPayload = string | Uint8Array | ArrayBuffer

/** Headers of a Request, or of Node.js. */
export type WebhookHeaders = { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  payload: WebhookPayload
  headers: WebhookHeaders
  /** The signing secret, or several of which one must fit. */
  secret: string | readonly string[]
  /** Maximum difference between the clock of the sender and yours, in seconds. Default: 300. */
  tolerance?: number | undefined
  /** The current time. Default: now. */
  now?: Date | undefined
}

const refuse = (message: string, cause?: unknown): TintypeError => new TintypeError(message, { code: 'WEBHOOK_NOT_VERIFIED', cause })

function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : found?.join(' ')
}

const toBytes = (payload: WebhookPayload): Uint8Array<ArrayBuffer> =>
  typeof payload === 'string' ? new TextEncoder().encode(payload) : new Uint8Array(payload)

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

/** The key: the decoded base64 with or without the prefix, or the bytes of a text that is not base64. */
function toKeyBytes(secret: string): Uint8Array<ArrayBuffer> {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  if (text !== '' && BASE64.test(text)) return fromBase64(text)
  if (secret === '' || secret.startsWith(PREFIX)) {
    throw new TintypeError('secret is not a signing secret. Set it to the signing_secret that POST /webhooks returned.', {
      code: 'INVALID_CONFIGURATION',
    })
  }
  return new TextEncoder().encode(secret)
}

const importKey = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', toKeyBytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])

function assertRecent(timestamp: string, tolerance: number, now: Date): void {
  const age = /^\d+$/.test(timestamp) ? Math.abs(now.getTime() / 1_000 - Number(timestamp)) : Number.NaN
  if (age <= tolerance) return
  throw refuse(`webhook-timestamp is more than ${tolerance} seconds from now. Check your clock, and refuse the request.`)
}

/** True if one signature was made with one secret. `crypto.subtle.verify` compares in constant time. All pairs are compared, whatever the results. */
async function isSigned(
  secrets: readonly string[],
  signatures: readonly Uint8Array<ArrayBuffer>[],
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const keys = await Promise.all(secrets.map(importKey))
  const results = await Promise.all(
    keys.flatMap((key) => signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, content))),
  )
  return results.includes(true)
}

/**
 * Verifies the signature and the age of a request that a webhook endpoint received, and resolves to its event. Rejects with the code
 * `WEBHOOK_NOT_VERIFIED`. Refuse such a request with 400.
 */
export async function verifyWebhook(options: VerifyOptions): Promise<WebhookEvent> {
  const { payload, headers, secret, tolerance = DEFAULT_TOLERANCE_SECONDS, now = new Date() } = options
  const [id, timestamp, header] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => readHeader(headers, name))
  if (!id || !timestamp || !header) {
    throw refuse('webhook-id, webhook-timestamp or webhook-signature is missing. Pass all headers of the request, or refuse it.')
  }
  assertRecent(timestamp, tolerance, now)
  const signatures = header
    .split(' ')
    .filter((entry) => entry.startsWith('v1,') && BASE64.test(entry.slice(3)))
    .map((entry) => fromBase64(entry.slice(3)))
  const body = toBytes(payload)
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(prefix.length + body.length)
  content.set(prefix)
  content.set(body, prefix.length)
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!(await isSigned(secrets, signatures, content))) {
    throw refuse('webhook-signature does not fit. Pass the body as received and the secret of this endpoint, or refuse the request.')
  }
  return parseEvent(payload)
}

/** Parses the body of an event. It does not verify the signature. */
export function parseEvent(payload: WebhookPayload): WebhookEvent {
  let event: Partial<WebhookEvent> | null
  try {
    event = JSON.parse(typeof payload === 'string' ? payload : new TextDecoder().decode(payload)) as Partial<WebhookEvent> | null
  } catch (cause) {
    throw new TintypeError('the body is not JSON. Pass the body of the request as received.', { code: 'INVALID_EVENT', cause })
  }
  if (typeof event?.id !== 'string' || typeof event.type !== 'string' || typeof event.data !== 'object' || event.data === null) {
    throw new TintypeError('the body is not an event of Tintype. Pass the body of the request as received.', { code: 'INVALID_EVENT' })
  }
  return event as WebhookEvent
}
