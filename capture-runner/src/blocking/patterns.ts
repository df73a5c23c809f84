// URL patterns of clients. Pure functions.

/** A pattern without a star matches anywhere in a URL: `example.com/ad` means `*example.com/ad*`. */
const widen = (pattern: string): string => (pattern.includes('*') ? pattern : `*${pattern}*`)

/** Returns a function that tests whether a URL matches one of the patterns, ignoring case. Runs in linear time. */
export function createMatcher(patterns: readonly string[]): (address: string) => boolean {
  const parts = patterns.map((pattern) => widen(pattern).toLowerCase().split(/\*+/))
  return (address) => parts.some((pieces) => fits(address.toLowerCase(), pieces))
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
