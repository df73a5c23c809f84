// Patterns of addresses, as clients write them. Pure.

/** A pattern without a star may be anywhere in an address: `example.com/ad` means `*example.com/ad*`. */
const widen = (pattern: string): string => (pattern.includes('*') ? pattern : `*${pattern}*`)

/** Tells whether an address fits one of the patterns; upper and lower case are the same. Takes time in proportion to the address. */
export function createMatcher(patterns: readonly string[]): (address: string) => boolean {
  const parts = patterns.map((pattern) => widen(pattern).toLowerCase().split(/\*+/))
  return (address) => parts.some((pieces) => fits(address.toLowerCase(), pieces))
}

/** The pieces between the stars, in order: the first at the beginning, the last at the end. No regular expression, which could be made to run for ever. */
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
