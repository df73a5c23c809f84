import { timingSafeEqual } from 'node:crypto'
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
