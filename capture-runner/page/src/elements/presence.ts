import type { HideReason, PageFunctions } from '../../../src/page/functions.ts'
import { isVisible as isShown } from '../shared/boxes.ts'
import { call, queryAll } from '../shared/dom.ts'
import { containerOf, findMatches } from '../shared/tree.ts'

export const findPresence: PageFunctions['findPresence'] = (selector, { isVisible = true, count = 1 }) => {
  const isEnough = (found: Element[]) => (isVisible ? found.filter(isShown) : found).length >= count
  // Most elements are in the document itself, whose search is much faster.
  if (isEnough(queryAll(document, selector))) return 'there'
  const found = findMatches(selector)
  if (isEnough(found)) return 'there'
  const hidden = isVisible ? found.find((element) => !isShown(element)) : undefined
  return hidden ? reasonOf(hidden) : 'absent'
}

/** Why an element is not shown. */
function reasonOf(element: Element): HideReason {
  let isClosed = false
  for (let outer: Element | undefined = element; outer; outer = containerOf(outer)) {
    if (call(outer, 'matches', 'dialog:not([open]), [popover]:not(:popover-open)')) return 'dialog'
    if (call(outer, 'matches', 'details:not([open])') && outer !== element) return 'details'
    if (outer !== element && getComputedStyle(outer).contentVisibility === 'hidden') isClosed = true
  }
  return isClosed ? 'skipped' : 'hidden'
}
