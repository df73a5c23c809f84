import type { PageFunctions } from '../../../src/page/functions.ts'
import { setStyle } from '../shared/dom.ts'
import { containerOf } from '../shared/tree.ts'

// A script may hide what is in the first quarter of the window. In the tall window, that is much of the page.

/** Share of the window in which content may be hidden, and the distance of the points at which it is looked for, in CSS pixels. */
const TOP_SHARE = 0.3
const STEP = 100
/** Places from left to right, as shares of the window. */
const ACROSS = [0.25, 0.5, 0.75]

export const hidesTop: PageFunctions['hidesTop'] = () => {
  for (let y = STEP / 2; y < innerHeight * TOP_SHARE; y += STEP) {
    if (ACROSS.every((x) => isTransparent(document.elementFromPoint(x * innerWidth, y)))) return true
  }
  return false
}

/** True for an element that flows with the page and cannot be seen. Menus and messages that appear later are above the page. */
function isTransparent(element: Element | null): boolean {
  let isSeen = true
  for (let outer = element ?? undefined; outer; outer = containerOf(outer)) {
    const { opacity, position } = getComputedStyle(outer)
    if (/fixed|sticky|absolute/.test(position)) return false
    if (Number(opacity) < 0.1) isSeen = false
  }
  return !isSeen
}

export const shiftDown: PageFunctions['shiftDown'] = (pixels) => {
  if (document.documentElement) setStyle(document.documentElement, { 'margin-top': pixels === 0 ? '' : `${pixels}px` })
}
