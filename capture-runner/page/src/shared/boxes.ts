import type { Box, Point } from '../../../src/page/functions.ts'
import { boxOf, call, read } from './dom.ts'

/** The boxes of an element in its own frame. Elements with `display: contents` have no box but show their content. */
export function ownBoxesOf(element: Element): DOMRect[] {
  if (getComputedStyle(element).display !== 'contents') return [...call(element, 'getClientRects')]
  const range = read(element, 'ownerDocument').createRange()
  range.selectNodeContents(element)
  return [...range.getClientRects()]
}

/** Where the window of the element's frame begins in the window of the page. */
function frameOffsetOf(element: Element): Point {
  const offset = { x: 0, y: 0 }
  for (let frame = frameElementOf(element); frame; frame = frameElementOf(frame)) {
    const { left, top } = boxOf(frame)
    const { paddingLeft, paddingTop } = getComputedStyle(frame)
    offset.x += left + frame.clientLeft + (Number.parseFloat(paddingLeft) || 0)
    offset.y += top + frame.clientTop + (Number.parseFloat(paddingTop) || 0)
  }
  return offset
}

/** The frame that shows the element's document; undefined in the page itself. */
function frameElementOf(element: Element): Element | undefined {
  const view = read(element, 'ownerDocument').defaultView
  return view && view !== globalThis.window ? (view.frameElement ?? undefined) : undefined
}

/** A box of an element, in the window of the page. */
function inWindow({ x, y, width, height }: Box, element: Element): Box {
  const offset = frameOffsetOf(element)
  return { x: x + offset.x, y: y + offset.y, width, height }
}

/** The first box of an element in the window of the page. */
export const firstBoxOf = (element: Element): Box => inWindow(call(element, 'getClientRects')[0] ?? boxOf(element), element)

/** A box of an element, in CSS pixels of the page. */
export function onPage(box: Box, element: Element): Box {
  const { x, y, width, height } = inWindow(box, element)
  return { x: x + scrollX, y: y + scrollY, width, height }
}

/** The box around an element in CSS pixels of the page. */
export const pageBoxOf = (element: Element): Box => onPage(boxOf(element), element)

/** The boxes of an element in CSS pixels of the page. */
export const pageBoxesOf = (element: Element): Box[] => ownBoxesOf(element).map((box) => onPage(box, element))
