// The canonical form of the parameters of a signed link. Signer and gateway must build the same text, whatever the order and the encoding of the
// URL. test/support/sources/link-vectors.json has examples.
//
// The query is decoded once as form data (`+` is a space), which replaces invalid UTF-8 by U+FFFD. `signature` and tracking parameters are left out.
// The parameters are sorted by name and value, by code point, and encoded by RFC 3986: all bytes except A-Z a-z 0-9 - . _ ~.

import { TRACKING_NAMES, TRACKING_PREFIXES } from '../generated/links.ts'

const SIGNED_PREFIX = 'tintype-take-v1\n'

/** Mail services, advertising and social networks add these to links. They are neither signed nor read. */
const isTracking = (name: string): boolean =>
  TRACKING_NAMES.some((one) => one === name) || TRACKING_PREFIXES.some((prefix) => name.startsWith(prefix))

/** Encodes all characters that RFC 3986 does not call unreserved. */
export const encodeRfc3986 = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * Compares by code point, as Go, Python and byte-wise sorting do. `<` would compare by UTF-16 units, which puts U+1F600 before U+FF01.
 */
export function compareCodePoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]]
  for (const [index, character] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    if (character !== other) return character.codePointAt(0)! - other.codePointAt(0)!
  }
  return left.length - right.length
}

/** The parameters of a query without `signature` and tracking parameters, decoded, in the order of the query. */
export const signedParameters = (query: string | URLSearchParams): [name: string, value: string][] =>
  [...new URLSearchParams(query)].filter(([name]) => name !== 'signature' && !isTracking(name))

/** The canonical form of a query. */
export const toCanonicalQuery = (query: string | URLSearchParams): string =>
  signedParameters(query)
    .sort(([nameA, valueA], [nameB, valueB]) => compareCodePoints(nameA, nameB) || compareCodePoints(valueA, valueB))
    .map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)
    .join('&')

/** The text whose HMAC-SHA256 is the signature of a link. */
export const toSignedText = (query: string | URLSearchParams): string => SIGNED_PREFIX + toCanonicalQuery(query)
