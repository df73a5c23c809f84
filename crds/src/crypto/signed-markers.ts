import { createHmac, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from './download-link.ts'

// Markers that cause deletions (tombstones, expiries) are signed with the release's keys, so that write access to the bucket alone does not
// allow deletions. The signature covers the marker's key, so that a copied marker is invalid.

const signature = (key: string, secret: string): Buffer =>
  // Other texts under the same secret begin with an account name, which contains no space. The space keeps these texts distinct.
  createHmac('sha256', Buffer.from(secret, 'base64')).update(`stored mark\n${key}`).digest()

/** The text of a marker: the id of the signing key, and the signature. */
export function signMarker(key: string, { current, keys }: KeyRing): string {
  const secret = keys[current]
  if (secret === undefined) throw new Error(`the key ring has no key ${current}`)
  return `${current}.${signature(key, secret).toString('base64url')}`
}

/** Maximum bytes of a signed marker. */
export const MAX_MARKER_BYTES = 256

/** True if a key of the ring signed this marker. */
export function isSignedMarker(key: string, text: string, { keys }: KeyRing): boolean {
  const [id = '', given = ''] = text.split('.')
  const secret = Object.hasOwn(keys, id) ? keys[id] : undefined
  if (secret === undefined) return false
  const expected = signature(key, secret)
  const bytes = Buffer.from(given, 'base64url')
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}
