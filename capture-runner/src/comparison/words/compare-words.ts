import { type InParts, Steps } from '../in-turns.ts'
import { diffWords, type Hunk } from './diff-words.ts'

// Compares the visible text of captures by words, to distinguish a change of content from one of drawing. Pure functions.

/** Maximum words of each kind in a result, and characters of each. */
const MAX_WORDS = 20
const MAX_LENGTH = 64

/** The words that changed. */
export interface ChangedWords {
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
