import { createHmac, timingSafeEqual } from 'node:crypto'

// The signature of a link: HMAC-SHA256 over the decoded parameters in a canonical form. A proxy may reorder or re-encode the query, and the signature
// stays valid. `signLink` of the client and the samples in docs/links.md do the same; test/support/sources/link-vectors.json has cases for all of them.

const PREFIX = 'tintype-take-v1\n'
const SIGNATURE = /^[0-9a-f]{64}$/

/** Encodes all characters except the unreserved ones of RFC 3986. */
const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** The text that is signed. Pairs are sorted by the bytes of their decoded name and value, and then encoded. */
export function canonicalQuery(pairs: readonly (readonly [string, string])[]): string {
  // `<` would compare UTF-16 units, which puts U+1F600 before U+FF01.
  const sorted = pairs
    .map((pair) => ({ pair, bytes: pair.map((text) => Buffer.from(text)) as [Buffer, Buffer] }))
    .sort(({ bytes: [a, x] }, { bytes: [b, y] }) => Buffer.compare(a, b) || Buffer.compare(x, y))
    .map(({ pair }) => pair)
  return PREFIX + sorted.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
}

/** The signature of a link, 64 hexadecimal digits. */
export const signatureOf = (pairs: readonly (readonly [string, string])[], secret: string): string =>
  signatureOfText(canonicalQuery(pairs), secret)

const signatureOfText = (canonical: string, secret: string): string => createHmac('sha256', secret).update(canonical).digest('hex')

/** True if the signature belongs to one of the secrets. Takes the same time wherever the signatures differ. */
export function isSigned(pairs: readonly (readonly [string, string])[], signature: string, secrets: readonly string[]): boolean {
  if (!SIGNATURE.test(signature)) return false
  const given = Buffer.from(signature)
  const canonical = canonicalQuery(pairs)
  return secrets.map((secret) => timingSafeEqual(Buffer.from(signatureOfText(canonical, secret)), given)).includes(true)
}
