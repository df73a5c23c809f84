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
export function compareWords(earlier: string, text: string, again: string = text): ChangedWords {
  const before = wordsOf(earlier)
  const others = new Map(
    diffWords(before, wordsOf(again))
      .flatMap(split)
      .map((hunk) => [JSON.stringify(hunk), hunk]),
  )
  const agreed = diffWords(before, wordsOf(text))
    .flatMap(split)
    .filter((hunk) => others.has(JSON.stringify(hunk)))
  return {
    textChanged: agreed.length > 0,
    wordsAdded: shorten(agreed.flatMap(({ added }) => added)),
    wordsRemoved: shorten(agreed.flatMap(({ removed }) => removed)),
  }
}

/** Words that replace as many others are single changes, because the loads may agree on some of them. */
const split = (hunk: Hunk): Hunk[] =>
  hunk.removed.length === hunk.added.length
    ? hunk.removed.map((word, index) => ({ at: hunk.at + index, removed: [word], added: [hunk.added[index] ?? ''] }))
    : [hunk]

const shorten = (words: readonly string[]): string[] => words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_LENGTH).toWellFormed())
