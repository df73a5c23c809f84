import type { PageFunctions } from '../../../src/page/functions.ts'
import { boxOf, call, isHtml, queryAll, read, setStyle } from '../shared/dom.ts'
import { isReplaced, paintedBoxesOf } from '../shared/painted.ts'
import { boxAround } from '../shared/shapes.ts'
import { allElements, containerOf, findRoots } from '../shared/tree.ts'

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

export const moveBarsDown: PageFunctions['moveBarsDown'] = (distance) => {
  // All are found before the first one moves, because they may contain each other.
  const found = { fixed: [] as Positioned[], sticky: [] as Positioned[] }
  const roots = findRoots(false)
  for (const element of allElements(roots)) {
    const style = getComputedStyle(element)
    const { position } = style
    if (position === 'fixed' || position === 'sticky') found[position].push({ element, style })
  }
  const layers = found.fixed.filter(isLayer)
  const fixed = found.fixed.filter((one) => isFixedToWindow(one.element) && !layers.includes(one) && belongsToBottom(one.element))
  const sticky = found.sticky.filter(({ element, style }) => style.bottom !== 'auto' && sticksToWindow(element))
  const tops = fixed.map(({ element, style }) => Number.parseFloat(style.top) + distance / element.currentCSSZoom)
  for (const [index, { element, style }] of fixed.entries()) {
    const { height } = style
    setStyle(element, { transition: 'none', height, top: `${tops[index]}px`, bottom: 'auto' })
  }
  for (const { element, style } of layers) {
    const [top, height] = [style.top, `${Number.parseFloat(style.height) + distance / element.currentCSSZoom}px`]
    setStyle(element, { transition: 'none', top, bottom: 'auto', height, 'max-height': 'none' })
  }
  if (roots.some((root) => queryAll(root, BACKDROPPED).length > 0)) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(`::backdrop { bottom: -${distance}px !important }`)
    document.adoptedStyleSheets.push(sheet)
  }
  for (const { element } of sticky) setStyle(element, { transition: 'none', bottom: 'auto' })
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
