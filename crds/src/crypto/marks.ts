import { createHmac, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from './download-link.ts'

// Marks that lead to deletions (tombstones, expiries) are signed with the release's keys, so that whoever can only write into the bucket
// cannot have anything deleted. The signature covers the key, so a copied mark is invalid.

const signature = (key: string, secret: string): Buffer =>
  // A space, which no account's name has: other texts under the same secret begin with one.
  createHmac('sha256', Buffer.from(secret, 'base64')).update(`stored mark\n${key}`).digest()

/** The text of a mark: which key signed it, and the signature. */
export function signMark(key: string, { current, keys }: KeyRing): string {
  const secret = keys[current]
  if (secret === undefined) throw new Error(`the key ring has no key ${current}`)
  return `${current}.${signature(key, secret).toString('base64url')}`
}

/** Bytes that a signed mark has at most. */
export const MAX_MARK_BYTES = 256

/** True for the text that {@link signMark} gave to this mark, by any key of the ring. Marks of earlier versions have no text. */
export function isSignedMark(key: string, text: string, { keys }: KeyRing): boolean {
  const [id = '', given = ''] = text.split('.')
  const secret = Object.hasOwn(keys, id) ? keys[id] : undefined
  if (secret === undefined) return false
  const expected = signature(key, secret)
  const bytes = Buffer.from(given, 'base64url')
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}
