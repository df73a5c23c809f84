import { read } from './dom.ts'
import { recall } from './state.ts'
import { partsOf } from './tree.ts'

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
