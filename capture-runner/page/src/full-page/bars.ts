import type { ElementQuery, PageFunctions } from '../../../src/page/functions.ts'
import { findQueried } from '../elements/regions.ts'
import { boxOf, call, isHtml, queryAll, read, setStyle } from '../shared/dom.ts'
import { isReplaced, paintedBoxesOf } from '../shared/painted.ts'
import { boxAround } from '../shared/shapes.ts'
import { allElements, containerOf, findRoots, holdersOf } from '../shared/tree.ts'

/** An element whose lower edge is below this share of the window, and its upper edge below the half, belongs to the bottom of the window. */
const LOW_SHARE = 0.85
/** A fixed element that covers this share of the window's height belongs to no side. */
const TALL_SHARE = 0.9
/** Elements in front of a `::backdrop`. */
const BACKDROPPED = ':modal, :popover-open, :fullscreen'

interface Positioned {
  element: Element
  style: CSSStyleDeclaration
}

export const moveBars: PageFunctions['moveBars'] = ({ up, down, kept }) => {
  // All are found before the first one moves, because they may contain each other.
  const found = { fixed: [] as Positioned[], sticky: [] as Positioned[] }
  const roots = findRoots(false)
  const isKept = keeping(kept)
  for (const element of allElements(roots)) {
    const style = getComputedStyle(element)
    const { position } = style
    if ((position === 'fixed' || position === 'sticky') && !isKept(element)) found[position].push({ element, style })
  }
  const layers = found.fixed.filter(isLayer)
  const fixed = found.fixed
    .filter((one) => isFixedToWindow(one.element) && !layers.includes(one))
    .map((one) => ({ ...one, pixels: belongsToBottom(one.element) ? down : -up }))
    .filter(({ pixels }) => pixels !== 0)
  const sticky = found.sticky.filter(({ element, style }) => (style.bottom !== 'auto' || up > 0) && sticksToWindow(element))
  const tops = fixed.map(({ element, style, pixels }) => Number.parseFloat(style.top) + pixels / element.currentCSSZoom)
  for (const [index, { element, style }] of fixed.entries()) {
    const { height } = style
    setStyle(element, { transition: 'none', height, top: `${tops[index]}px`, bottom: 'auto' })
  }
  for (const { element, style } of layers) {
    const zoom = element.currentCSSZoom
    const [top, height] = [Number.parseFloat(style.top) - up / zoom, Number.parseFloat(style.height) + (up + down) / zoom]
    setStyle(element, { transition: 'none', top: `${top}px`, bottom: 'auto', height: `${height}px`, 'max-height': 'none' })
  }
  if (roots.some((root) => queryAll(root, BACKDROPPED).length > 0)) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(`::backdrop { top: -${up}px !important; bottom: -${down}px !important }`)
    document.adoptedStyleSheets.push(sheet)
  }
  for (const { element } of sticky) setStyle(element, { transition: 'none', bottom: 'auto', ...(up > 0 ? { top: 'auto' } : {}) })
}

/** Whether an element holds a part that the picture shows. */
function keeping(kept: ElementQuery | undefined): (element: Element) => boolean {
  const holders = new Set((kept ? findQueried(kept) : []).flatMap((one) => [...holdersOf(one)]))
  return (element) => holders.has(element)
}

/** True for a layer as large as the window that a reader sees behind or above all of the page: one without content, or with a negative `z-index`. */
function isLayer({ element, style }: Positioned): boolean {
  if (isReplaced(element) || !isFixedToWindow(element)) return false
  const { width, height } = boxOf(element)
  if (Math.ceil(width) < innerWidth || Math.ceil(height) < innerHeight) return false
  return Number(style.zIndex) < 0 || !call(element, 'hasChildNodes')
}

/** False for an element that scrolls with a transformed ancestor, which is then its offset parent, and for one that is placed beside another one. */
function isFixedToWindow(element: Element): boolean {
  if (!isHtml(element) || getComputedStyle(element).getPropertyValue('position-area') !== 'none') return false
  const parent = read(element, 'offsetParent')
  // The offset parent is also where a zoom begins, which changes nothing else.
  return parent === null || (parent.currentCSSZoom !== element.currentCSSZoom && !isTransformed(parent))
}

function isTransformed(element: Element): boolean {
  for (let outer: Element | undefined = element; outer; outer = containerOf(outer)) {
    const { transform, filter, perspective } = getComputedStyle(outer)
    if ([transform, filter, perspective].some((value) => value !== 'none')) return true
  }
  return false
}

function belongsToBottom(element: Element): boolean {
  const style = call(element, 'computedStyleMap')
  const [top, bottom] = [String(style.get('top')), String(style.get('bottom'))]
  if (bottom !== 'auto' && top === 'auto') return true
  const own = boxOf(element)
  // Wrappers that fill the window and let clicks through, such as those of messages, are where their content is.
  const box = own.height >= TALL_SHARE * innerHeight ? boxAround([...paintedBoxesOf(element)]) : own
  return box !== undefined && box.top >= innerHeight / 2 && box.bottom >= LOW_SHARE * innerHeight
}

/** False for an element in a scroll box, to whose edge it sticks. */
function sticksToWindow(element: Element): boolean {
  for (
    let outer = containerOf(element);
    outer && outer !== document.body && outer !== document.documentElement;
    outer = containerOf(outer)
  ) {
    if (/auto|scroll|hidden/.test(getComputedStyle(outer).overflowY)) return false
  }
  return true
}

/** Also in shadow roots. The fixed elements of a frame stay in it, so they do not repeat. */
export const hideFixed: PageFunctions['hideFixed'] = (kept) => {
  const isKept = keeping(kept)
  for (const element of allElements(findRoots(false))) {
    if (element === document.documentElement || element === document.body || isKept(element)) continue
    if (/fixed|sticky/.test(getComputedStyle(element).position)) setStyle(element, { visibility: 'hidden' })
  }
}
