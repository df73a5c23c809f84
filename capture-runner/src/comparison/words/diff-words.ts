// Finds what changed between two lists of words: the shortest edit script (Myers, 1986). Pure functions.

/** Words of the earlier list from an index on, and what replaces them. */
export interface Hunk {
  at: number
  removed: readonly string[]
  added: readonly string[]
}

/** Changed words up to which the shortest script is searched. Beyond it, everything between the first and the last change is one hunk. */
const MAX_CHANGES = 400
/** Equal words to pass in this search. A text of a few different words has many ways to the same place. */
const MAX_STEPS = 5_000_000

/** The changes that turn one list into the other. */
export function diffWords(before: readonly string[], after: readonly string[], maxSteps = MAX_STEPS): Hunk[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const [removed, added] = [before.slice(start, before.length - end), after.slice(start, after.length - end)]
  if (removed.length + added.length === 0) return []
  const steps = removed.length === 0 || added.length === 0 ? undefined : findScript(removed, added, maxSteps)
  return steps ? toHunks(steps, removed, added).map((hunk) => ({ ...hunk, at: hunk.at + start })) : [{ at: start, removed, added }]
}

/** The furthest index in `before` on each diagonal, after each number of changes; undefined: too many changes or steps. */
function findScript(before: readonly string[], after: readonly string[], maxSteps: number): Map<number, number>[] | undefined {
  const trace: Map<number, number>[] = []
  let furthest = new Map([[1, 0]])
  let steps = 0
  for (let changes = 0; changes <= MAX_CHANGES; changes++) {
    trace.push(furthest)
    const next = new Map(furthest)
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = isDown(furthest, diagonal, changes) ? (furthest.get(diagonal + 1) ?? 0) : (furthest.get(diagonal - 1) ?? 0) + 1
      const first = x
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++
      steps += x - first
      if (steps > maxSteps) return undefined
      next.set(diagonal, x)
      if (x >= before.length && x - diagonal >= after.length) return trace
    }
    furthest = next
  }
  return undefined
}

/** Whether the best way to a diagonal adds a word. Otherwise it removes one. */
const isDown = (furthest: ReadonlyMap<number, number>, diagonal: number, changes: number): boolean =>
  diagonal === -changes || (diagonal !== changes && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1))

/** Follows the script back to its beginning. */
function toHunks(trace: readonly Map<number, number>[], before: readonly string[], after: readonly string[]): Hunk[] {
  const hunks: { at: number; removed: string[]; added: string[] }[] = []
  let [x, y] = [before.length, after.length]
  for (let changes = trace.length - 1; changes > 0; changes--) {
    const furthest = trace[changes]!
    const diagonal = x - y
    const down = isDown(furthest, diagonal, changes)
    const fromX = furthest.get(down ? diagonal + 1 : diagonal - 1) ?? 0
    const fromY = fromX - (down ? diagonal + 1 : diagonal - 1)
    // Equal words between this change and the next one separate their hunks.
    const isSeparate = x > (down ? fromX : fromX + 1)
    if (isSeparate || hunks.length === 0) hunks.unshift({ at: fromX, removed: [], added: [] })
    const hunk = hunks[0]!
    hunk.at = fromX
    if (down) hunk.added.unshift(after[fromY]!)
    else hunk.removed.unshift(before[fromX]!)
    x = fromX
    y = fromY
  }
  return hunks
}
