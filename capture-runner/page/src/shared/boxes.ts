import type { Box } from '../../../src/page/functions.ts'
import { boxOf, call, queryAll, read, scrollingElement } from './dom.ts'
import type { Area } from './shapes.ts'
import { recall } from './state.ts'
import { containerOf, findMatches, partsOf } from './tree.ts'

/** The boxes of an element in its own frame, also outside of the window. Elements with `display: contents` have no box but show their content. */
export function ownBoxesOf(element: Element): DOMRect[] {
  if (!isRendered(element)) return []
  return isBoxless(element) ? [...partsOf(element)].flatMap(boxesOfNode) : [...call(element, 'getClientRects')]
}

export const isBoxless = (element: Element): boolean => getComputedStyle(element).display === 'contents'

function boxesOfNode(node: Node): DOMRect[] {
  if (node.nodeType === Node.ELEMENT_NODE) return ownBoxesOf(node as Element)
  return node.nodeType === Node.TEXT_NODE && node.textContent?.trim() ? boxesOfText(node) : []
}

export function boxesOfText(text: Node): DOMRect[] {
  const range = (text.ownerDocument ?? document).createRange()
  range.selectNodeContents(text)
  return [...range.getClientRects()]
}

/** False for content that the browser leaves out, such as that of a closed `<details>`. If a script asks for its boxes, it has some. */
function isRendered(element: Element): boolean {
  if (!isBoxless(element)) return call(element, 'checkVisibility')
  const outer = containerOf(element)
  return outer === undefined || ([...partsOf(outer)].includes(element) && isRendered(outer))
}

/** True if the element shows a box that is not hidden. It may be outside of the window. */
export const isVisible = (element: Element): boolean => getComputedStyle(element).visibility === 'visible' && ownBoxesOf(element).length > 0

/** True for an element with a box that is neither hidden nor transparent. */
export const isInSight = (element: Element): boolean =>
  call(element, 'checkVisibility', { opacityProperty: true, visibilityProperty: true })

/** The visible matches of a selector. */
export const findVisible = (selector: string): Element[] => findMatches(selector).filter(isVisible)

/** The first visible match. Searches the other trees only if the document has none. */
export const findFirstVisible = (selector: string): Element | undefined =>
  queryAll(document, selector).find(isVisible) ?? findVisible(selector)[0]

/** Share of the window that an element covers. */
export const shareOfWindow = (element: Element): number => shareOfArea(boxOf(element))

/** Share of the window that an area in it covers. */
export function shareOfArea({ left, top, right, bottom }: Area): number {
  const width = Math.min(right, innerWidth) - Math.max(left, 0)
  const height = Math.min(bottom, innerHeight) - Math.max(top, 0)
  return width > 0 && height > 0 ? (width * height) / (innerWidth * innerHeight) : 0
}

/** The frame that shows the element's document; undefined in the page itself. */
function frameElementOf(element: Element): Element | undefined {
  const view = read(element, 'ownerDocument').defaultView
  return view && view !== globalThis.window ? (view.frameElement ?? undefined) : undefined
}

/** A box of an element, in the window of the page. Frames may be scaled. */
export function inWindow({ x, y, width, height }: Box, element: Element): Box {
  const box = { x, y, width, height }
  for (let frame = frameElementOf(element); frame; frame = frameElementOf(frame)) {
    const outer = boxOf(frame)
    const { paddingLeft, paddingTop } = getComputedStyle(frame)
    const [scaleX, scaleY] = scaleOf(frame)
    box.x = outer.left + (frame.clientLeft + (Number.parseFloat(paddingLeft) || 0) + box.x) * scaleX
    box.y = outer.top + (frame.clientTop + (Number.parseFloat(paddingTop) || 0) + box.y) * scaleY
    box.width *= scaleX
    box.height *= scaleY
  }
  return box
}

/** How much transforms enlarge an element. 1 for an element without a layout box of its own. */
export function scaleOf(element: Element): [x: number, y: number] {
  const { width, height } = boxOf(element)
  const [own, tall] = [read(element as HTMLElement, 'offsetWidth'), read(element as HTMLElement, 'offsetHeight')]
  return [own > 0 ? width / own : 1, tall > 0 ? height / tall : 1]
}

/** Distance from the left end of the page to a window that is not scrolled. Above 0 for a page that is read from the right. */
export function pageStart(): number {
  const root = scrollingElement()
  const hidden = root ? read(root, 'scrollWidth') - read(root, 'clientWidth') : 0
  if (!root || hidden <= 0) return 0
  const { direction, writingMode } = getComputedStyle(document.body ?? root)
  const isFromRight = writingMode.startsWith('horizontal') ? direction === 'rtl' : writingMode.endsWith('-rl')
  return isFromRight ? hidden : 0
}

/** A box of an element, in CSS pixels of the page. */
export function onPage(box: Box, element: Element): Box {
  const { x, y, width, height } = inWindow(box, element)
  return { x: x + pageStart() + scrollX, y: y + scrollY, width, height }
}

/** The elements below an element as they are shown: with those of shadow roots, and at the places of their slots. */
export function flatElements(root: Element, found: Element[] = []): Element[] {
  for (const node of partsOf(root)) {
    if (node.nodeType !== Node.ELEMENT_NODE) continue
    found.push(node as Element)
    flatElements(node as Element, found)
  }
  return found
}

const SCROLLS = /auto|scroll|overlay/
/** Values of `overflow` with which only scripts scroll. */
export const CLIPS = /hidden|clip/

/** Width or height of the content that an element with such an overflow shows only after scrolling, in CSS pixels. */
export function hiddenIn(element: Element, side: 'Width' | 'Height', ofOverflow = SCROLLS): number {
  const size = read(element, `client${side}`)
  const hidden = size === 0 ? 0 : read(element, `scroll${side}`) - size
  if (hidden <= 1 || element === document.documentElement) return 0
  const overflow = side === 'Width' ? 'overflowX' : 'overflowY'
  const style = getComputedStyle(element)
  const isUnfolded = side === 'Width' && recall('tintypeSideways')?.has(element)
  if (!isUnfolded && !ofOverflow.test(style[overflow])) return 0
  // The overflow of the body is that of the window, unless the root element has its own.
  const isWindow = element === document.body && getComputedStyle(document.documentElement)[overflow] === 'visible'
  // A slideshow shows one of its pictures at a time.
  const isSlideshow = side === 'Width' && /^(x|inline|both) mandatory/.test(style.scrollSnapType)
  return isWindow || isSlideshow ? 0 : hidden
}
