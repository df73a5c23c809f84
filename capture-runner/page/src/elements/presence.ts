import type { PageFunctions } from '../../../src/page/functions.ts'
import { queryAll } from '../shared/dom.ts'
import { findMatches, isVisible as isShown } from '../shared/tree.ts'

export const findPresence: PageFunctions['findPresence'] = (selector, { isVisible = true, count = 1 }) => {
  const isEnough = (found: Element[]) => (isVisible ? found.filter(isShown) : found).length >= count
  // Most elements are in the document itself, whose search is much faster.
  return isEnough(queryAll(document, selector)) || isEnough(findMatches(selector)) ? 'there' : 'absent'
}
