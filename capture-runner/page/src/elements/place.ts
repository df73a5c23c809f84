import type { HideReason, PageFunctions, Point } from '../../../src/page/functions.ts'
import { findFirstVisible, findVisible, inWindow, isBoxless, isVisible as isShown, ownBoxesOf } from '../shared/boxes.ts'
import { boxOf, call, queryAll } from '../shared/dom.ts'
import { areaOf, clipOf, cutTo, isLarge } from '../shared/painted.ts'
import { type Area, clipPathOf } from '../shared/shapes.ts'
import { recall, remember } from '../shared/state.ts'
import { containerOf, findMatches, partsOf } from '../shared/tree.ts'

function show(element: Element | undefined, block: ScrollLogicalPosition): void {
  const shown = element && (findBox(element) ?? containerOf(element))
  if (shown) call(shown, 'scrollIntoView', { block, inline: 'nearest', behavior: 'instant' })
}

/** The element, or the first one in it that has a box; undefined if it shows only text. */
function findBox(element: Element): Element | undefined {
  if (!isBoxless(element)) return element
  for (const part of partsOf(element)) {
    const found = part.nodeType === Node.ELEMENT_NODE ? findBox(part as Element) : undefined
    if (found) return found
  }
  return undefined
}

function middleOf(element: Element): Point {
  show(element, 'nearest')
  // The first line of a link. What is cut off cannot be clicked.
  const first: Area = ownBoxesOf(element).find(isLarge) ?? areaOf(element) ?? boxOf(element)
  const own = cutTo(first, clipPathOf(element) ?? first) ?? first
  const { left, top, right, bottom } = cutTo(own, clipOf(element)) ?? own
  const box = inWindow({ x: left, y: top, width: right - left, height: bottom - top }, element)
  const [farX, farY] = [Math.min(box.x + box.width, innerWidth), Math.min(box.y + box.height, innerHeight)]
  return { x: (Math.max(box.x, 0) + farX) / 2, y: (Math.max(box.y, 0) + farY) / 2 }
}

export const showMiddle: PageFunctions['showMiddle'] = (selector) => {
  const element = findFirstVisible(selector)
  return element ? middleOf(element) : null
}

export const showNextMiddle: PageFunctions['showNextMiddle'] = (selector, isFirst) => {
  const clicked = (isFirst ? undefined : recall('tintypeClicked')) ?? remember('tintypeClicked', new WeakSet())
  const element = findVisible(selector).find((one) => !clicked.has(one))
  if (!element) return null
  clicked.add(element)
  return middleOf(element)
}

export const scrollToMiddle: PageFunctions['scrollToMiddle'] = (selector) => show(findFirstVisible(selector), 'center')

export const scrollToTop: PageFunctions['scrollToTop'] = (selector, adjustTop) => {
  show(findFirstVisible(selector), 'start')
  scrollBy({ top: adjustTop, left: 0, behavior: 'instant' })
}

export const scrollToPosition: PageFunctions['scrollToPosition'] = (x, y) => scrollTo({ left: x, top: y, behavior: 'instant' })

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
