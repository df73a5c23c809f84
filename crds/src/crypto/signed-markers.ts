import { createHmac } from 'node:crypto'
import { isSignedWith, type KeyRing, signWith } from './key-ring.ts'

// Markers that cause deletions (tombstones, expiries) are signed with the release's keys, so that write access to the bucket alone does not
// allow deletions. The signature covers the marker's key, so that a copied marker is invalid.

const macOf = (key: string) => (secret: Buffer) =>
  // Other texts under the same secret begin with an account name, which contains no space. The space keeps these texts distinct.
  createHmac('sha256', secret).update(`stored mark\n${key}`).digest()

/** The text of a marker: the id of the signing key, and the signature. */
export const signMarker = (key: string, ring: KeyRing): string => signWith(ring, macOf(key))

/** Maximum bytes of a signed marker. */
export const MAX_MARKER_BYTES = 256

/** True if a key of the ring signed this marker. */
export const isSignedMarker = (key: string, text: string, ring: KeyRing): boolean => isSignedWith(ring, text, macOf(key))
