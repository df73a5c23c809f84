// URL patterns of clients. Pure functions.

import { domainToUnicode } from 'node:url'

/** A pattern without a star matches anywhere in a URL: `example.com/ad` means `*example.com/ad*`. */
const widen = (pattern: string): string => (pattern.includes('*') ? pattern : `*${pattern}*`)

const toPieces = (pattern: string): string[] => pattern.split(/\*+/)

/** Codes of letters outside of ASCII, and of those that a URL may have without a code: letters, digits and `-._~`. */
const CODES = /(?:%[89a-f][\da-f])+|%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi

/** A URL or pattern as a reader writes it, so that letters are equal to their codes. */
const toReadable = (text: string): string =>
  text
    .replace(CODES, (codes) => {
      try {
        return decodeURIComponent(codes)
      } catch {
        return codes
      }
    })
    .normalize('NFC')
    .toLowerCase()

/** A URL as browsers send it, with an international host in Punycode, and with its letters. */
function spellingsOf(address: string): string[] {
  const host = URL.parse(address)?.hostname ?? ''
  return host.includes('xn--') ? [address, address.replace(host, domainToUnicode(host))] : [address]
}

/** Returns a function that tests whether a URL matches one of the patterns, ignoring case and whether letters are percent-encoded. Runs in linear time. */
export function createMatcher(patterns: readonly string[]): (address: string) => boolean {
  const wide = patterns.map(widen)
  const parts = wide.map((pattern) => toPieces(pattern.toLowerCase()))
  const encoded = wide.filter((pattern) => pattern.includes('%')).map((pattern) => toPieces(toReadable(pattern)))
  const fitsOne = (address: string, patterns: readonly string[][]) => patterns.some((pieces) => fits(address, pieces))
  return (address) =>
    fitsOne(address.toLowerCase(), parts) ||
    (encoded.length > 0 && spellingsOf(address).some((spelling) => fitsOne(toReadable(spelling), encoded)))
}

/** Matches the pieces between the stars in order. Uses no regular expression, which could take exponential time. */
function fits(address: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return address === first
  if (!address.startsWith(first) || address.length < first.length + last.length || !address.endsWith(last)) return false
  let place = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = address.indexOf(piece, place)
    if (found < 0 || found + piece.length > address.length - last.length) return false
    place = found + piece.length
  }
  return true
}
