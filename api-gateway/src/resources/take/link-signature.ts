import { createHmac, timingSafeEqual } from 'node:crypto'

// The signature of a link: HMAC-SHA256 over the decoded parameters in a canonical form. A proxy may reorder or re-encode the query, and the signature
// stays valid. `signLink` of the client and the samples in docs/links.md do the same; test/support/sources/link-vectors.json has cases for all of them.

const PREFIX = 'tintype-take-v1\n'
const SIGNATURE = /^[0-9a-f]{64}$/

/** Encodes all characters except the unreserved ones of RFC 3986. */
const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** Compares by code point, as the bytes of UTF-8 do. `<` would compare UTF-16 units, which puts U+1F600 before U+FF01. */
const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The text that is signed. Pairs are sorted by their decoded name and value, and then encoded. */
export function canonicalQuery(pairs: readonly (readonly [string, string])[]): string {
  const sorted = pairs.toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
  return PREFIX + sorted.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
}

/** The signature of a link, 64 hexadecimal digits. */
export const signatureOf = (pairs: readonly (readonly [string, string])[], secret: string): string =>
  createHmac('sha256', secret).update(canonicalQuery(pairs)).digest('hex')

/** True if the signature belongs to one of the secrets. Takes the same time wherever the signatures differ. */
export function isSigned(pairs: readonly (readonly [string, string])[], signature: string, secrets: readonly string[]): boolean {
  if (!SIGNATURE.test(signature)) return false
  const given = Buffer.from(signature)
  return secrets.map((secret) => timingSafeEqual(Buffer.from(signatureOf(pairs, secret)), given)).includes(true)
}
