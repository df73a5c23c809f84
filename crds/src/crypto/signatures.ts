import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/** Signing keys by id. `current` signs, and all keys verify, so that signatures survive a rotation. Stored in a Secret as JSON. */
export const KeyRing = z.object({
  current: z.string().regex(/^[a-z0-9]{1,16}$/),
  keys: z.record(z.string(), z.base64()),
})
export type KeyRing = z.infer<typeof KeyRing>

/** The key with an id; undefined: the ring has none. */
export const secretOf = ({ keys }: KeyRing, id: string): Buffer | undefined => {
  const text = Object.hasOwn(keys, id) ? keys[id] : undefined
  return text === undefined ? undefined : Buffer.from(text, 'base64')
}

/** The key that signs. @throws if the ring lacks it */
export function currentSecret(ring: KeyRing): Buffer {
  const secret = secretOf(ring, ring.current)
  if (secret === undefined) throw new Error(`the key ring has no key ${ring.current}`)
  return secret
}

/** Computes the code of a text with a key. */
type Mac = (secret: Buffer) => Buffer

/** Signs with the current key: `<id of the key>.<base64url>`. */
export const signWith = (ring: KeyRing, mac: Mac): string => `${ring.current}.${mac(currentSecret(ring)).toString('base64url')}`

/** True if a key of the ring made this signature. */
export function isSignedWith(ring: KeyRing, signature: string, mac: Mac): boolean {
  const [id = '', text = ''] = signature.split('.')
  const secret = secretOf(ring, id)
  const expected = secret && mac(secret)
  const given = Buffer.from(text, 'base64url')
  return expected !== undefined && given.length === expected.length && timingSafeEqual(given, expected)
}

// Signed links to files. The gateway signs links in records, the operator signs links in events, and the gateway verifies both.

/** Lifetime of a link in an API response, in seconds. */
const DOWNLOAD_SECONDS = 86_400
/** Lifetime of a link in an event, in seconds. It must be valid until the last retry. */
export const EVENT_DOWNLOAD_SECONDS = 604_800
const HOUR_SECONDS = 3_600

export interface Link {
  /** Key of the object, such as `users/acc/scr_….png`. */
  key: string
  /** Unix time in seconds. */
  expires: number
  /** File name for downloads; absent: the browser shows the file. */
  attachment?: string | undefined
}

const linkMacOf =
  ({ key, expires, attachment = '' }: Link) =>
  (secret: Buffer) =>
    createHmac('sha256', secret).update(['v1', key, expires, attachment].join('\n')).digest()

/**
 * The expiry of a new link. It starts at the next full hour, so that two reads of a record have the same link and ETag. If the lifetime is less
 * than an hour, it starts at the next multiple of the lifetime.
 */
export function expiryOf(now: Date, lifetimeSeconds = DOWNLOAD_SECONDS): number {
  const step = Math.min(HOUR_SECONDS, lifetimeSeconds)
  return Math.ceil(now.getTime() / 1000 / step) * step + lifetimeSeconds
}

const DAY_MILLISECONDS = 86_400_000

/** End of the retention of a screenshot's files: whole days after its creation. */
export const keptUntil = (createdAt: Date, retentionDays: number): Date => new Date(createdAt.getTime() + retentionDays * DAY_MILLISECONDS)

/** Path and query of a link, to append to the public URL: `/files/users/…?expires=…&signature=…`. */
export function signLink(link: Link, ring: KeyRing): string {
  const query = new URLSearchParams({ expires: String(link.expires) })
  if (link.attachment !== undefined) query.set('attachment', link.attachment)
  query.set('signature', signWith(ring, linkMacOf(link)))
  return `/files/${link.key}?${query}`
}

/** True if a key of the ring signed the link and the link has not expired. */
export function verifyLink(link: Link, signature: string, ring: KeyRing, now: Date): boolean {
  // The signed text is the same without a name and with an empty one. No link is signed with an empty one.
  if (link.attachment === '') return false
  return isSignedWith(ring, signature, linkMacOf(link)) && link.expires * 1000 > now.getTime()
}

// Markers that cause deletions (tombstones, expiries) are signed with the release's keys, so that write access to the bucket alone does not
// allow deletions. The signature covers the marker's key, so that a copied marker is invalid.

const markerMacOf = (key: string) => (secret: Buffer) =>
  // Other texts under the same secret begin with an account name, which contains no space. The space keeps these texts distinct.
  createHmac('sha256', secret).update(`stored mark\n${key}`).digest()

/** The text of a marker: the id of the signing key, and the signature. */
export const signMarker = (key: string, ring: KeyRing): string => signWith(ring, markerMacOf(key))

/** Maximum bytes of a signed marker. */
export const MAX_MARKER_BYTES = 256

/** True if a key of the ring signed this marker. */
export const isSignedMarker = (key: string, text: string, ring: KeyRing): boolean => isSignedWith(ring, text, markerMacOf(key))

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
