const MAX_EDITS = 3

/** Number of single-character edits between two words. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...b].entries()) {
      current.push(Math.min(previous[column + 1]! + 1, current[column]! + 1, previous[column]! + (letter === other ? 0 : 1)))
    }
    previous = current
  }
  return previous[b.length]!
}

/** The known name that is closest to a mistyped one: `ful-page` → `full-page`, and `width` → `viewport-width`. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const limit = Math.min(MAX_EDITS, Math.ceil(word.length / 3))
  const ranked = names.map((name) => ({ name, distance: editDistance(word, name) })).sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  return best !== undefined && best.distance <= limit ? best.name : names.find((name) => name.endsWith(`-${word}`))
}

/** ` Did you mean --full-page?`, or an empty text. */
export function suggestion(word: string, names: readonly string[], prefix = ''): string {
  const found = nearest(word, names)
  return found === undefined ? '' : ` Did you mean ${prefix}${found}?`
}
