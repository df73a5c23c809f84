import { type InParts, Steps } from './in-turns.ts'

// Compares the visible text of captures by words, to distinguish a change of content from one of drawing. Pure functions.

/** Maximum words of each kind in a result, and characters of each. */
const MAX_WORDS = 20
const MAX_LENGTH = 64

/** The words that changed. */
interface ChangedWords {
  textChanged: boolean
  wordsAdded: string[]
  wordsRemoved: string[]
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean)

/**
 * Compares the text of a load of a page with an earlier text.
 * @param again text of a second load: only changes that both have count
 */
export function* compareWords(earlier: string, text: string, again: string = text): InParts<ChangedWords> {
  const before = wordsOf(earlier)
  const steps = new Steps()
  const others = new Set<string>()
  for (const hunk of split(diffWords(before, wordsOf(again)))) {
    others.add(JSON.stringify(hunk))
    if (steps.add(HUNK_STEPS)) yield
  }
  yield
  const agreed: Hunk[] = []
  for (const group of groupByList(split(diffWords(before, wordsOf(text))), before)) {
    const same = group.filter((hunk) => others.has(JSON.stringify(hunk)))
    if (group.length < MIN_CHANGES || same.length >= group.length * MIN_AGREED) agreed.push(...same)
    if (steps.add(HUNK_STEPS * group.length)) yield
  }
  return {
    textChanged: agreed.length > 0,
    wordsAdded: shorten(agreed.flatMap(({ added }) => added)),
    wordsRemoved: shorten(agreed.flatMap(({ removed }) => removed)),
  }
}

/** Steps to compare a change. */
const HUNK_STEPS = 50

/** Equal words between two changes in the same list, or between a number and a change of its item. */
const MAX_BETWEEN = 2
const LIST_NUMBER = /^\d+\.$/
/**
 * The numbers of a list stay when its items change, so each item is a change of its own. If each load shows the items in another order, they agree on some
 * by chance: on fewer than this share, in a list with at least so many changes.
 */
const MIN_AGREED = 0.25
const MIN_CHANGES = 4

/** The changes in one list, or a single change beside lists. */
function* groupByList(hunks: Iterable<Hunk>, before: readonly string[]): Generator<Hunk[]> {
  let list: Hunk[] = []
  let end = 0
  for (const hunk of hunks) {
    const next = hunk.at + hunk.removed.length
    if (hunk.at - end > MAX_BETWEEN && list.length > 0) {
      yield list
      list = []
    }
    const isListed = list.length > 0 || before.slice(Math.max(0, hunk.at - MAX_BETWEEN), next).some((word) => LIST_NUMBER.test(word))
    if (isListed) list.push(hunk)
    else yield [hunk]
    end = next
  }
  if (list.length > 0) yield list
}

/** Words that replace as many others are single changes, because the loads may agree on some of them. */
function* split(hunks: readonly Hunk[]): Generator<Hunk> {
  for (const hunk of hunks) {
    if (hunk.removed.length !== hunk.added.length) yield hunk
    else
      for (const [index, word] of hunk.removed.entries()) yield { at: hunk.at + index, removed: [word], added: [hunk.added[index] ?? ''] }
  }
}

const shorten = (words: readonly string[]): string[] => words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_LENGTH).toWellFormed())

// Finds what changed between two lists of words: the shortest edit script (Myers, 1986). Pure functions.

/** Words of the earlier list from an index on, and what replaces them. */
interface Hunk {
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
