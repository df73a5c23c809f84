import { createHmac } from 'node:crypto'
import { isSignedWith, type KeyRing, signWith } from './key-ring.ts'

// Signed links to files. The gateway signs links in records, the operator signs links in events, and the gateway verifies both.

/** Lifetime of a link in an API response, in seconds. */
export const DOWNLOAD_SECONDS = 86_400
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

const macOf =
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
  query.set('signature', signWith(ring, macOf(link)))
  return `/files/${link.key}?${query}`
}

/** True if a key of the ring signed the link and the link has not expired. */
export function verifyLink(link: Link, signature: string, ring: KeyRing, now: Date): boolean {
  // The signed text is the same without a name and with an empty one. No link is signed with an empty one.
  if (link.attachment === '') return false
  return isSignedWith(ring, signature, macOf(link)) && link.expires * 1000 > now.getTime()
}
