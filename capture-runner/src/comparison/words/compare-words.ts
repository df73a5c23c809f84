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
  for (const hunk of split(diffWords(before, wordsOf(text)))) {
    if (others.has(JSON.stringify(hunk))) agreed.push(hunk)
    if (steps.add(HUNK_STEPS)) yield
  }
  return {
    textChanged: agreed.length > 0,
    wordsAdded: shorten(agreed.flatMap(({ added }) => added)),
    wordsRemoved: shorten(agreed.flatMap(({ removed }) => removed)),
  }
}

/** Steps to compare a change. */
const HUNK_STEPS = 50

/** Words that replace as many others are single changes, because the loads may agree on some of them. */
function* split(hunks: readonly Hunk[]): Generator<Hunk> {
  for (const hunk of hunks) {
    if (hunk.removed.length !== hunk.added.length) yield hunk
    else
      for (const [index, word] of hunk.removed.entries()) yield { at: hunk.at + index, removed: [word], added: [hunk.added[index] ?? ''] }
  }
}

const shorten = (words: readonly string[]): string[] => words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_LENGTH).toWellFormed())
