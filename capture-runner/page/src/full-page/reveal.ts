import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, boxOf, call, isHtml, nameOf, parentOf, queryAll, read, scrollingElement, setStyle } from '../shared/dom.ts'
import { isDrawn } from '../shared/shapes.ts'
import { type PinnedHeights, recall, remember, type Sized } from '../shared/state.ts'

const HEIGHT = 'data-tintype-height'
/** Properties by which scripts make the page itself taller. */
const ROOT_HEIGHTS = ['height', 'min-height'] as const
/** More than the space that the browser leaves below an image in a line of text. */
const LINE_PIXELS = 16

/** Pins elements as tall as the window before a script can see another window. */
export const prepareReveal: PageFunctions['prepareReveal'] = (maxElements) => {
  const all = queryAll(document, '*').slice(0, maxElements)
  const before = recall('tintypeHeights')
  if (before) return prepareNew(all, before)
  for (const element of all) showSkipped(element)
  const windowHeight = innerHeight
  const pinned = new Map<Sized, number>()
  const pin = createPin(pinned, windowHeight)
  const heights = new Map(all.filter(isPart).map((element) => [element, heightOf(element)]))
  const pageHeight = scrollingElement()?.scrollHeight ?? 0
  remember('tintypeHeights', {
    heights,
    pin,
    pinned,
    windowHeight,
    pageHeight,
    contentEnd: findContentEnd(all),
    roots: rootHeights(),
    count: all.length,
  })
  if (pageHeight > windowHeight) for (const [element, height] of heights) if (height === windowHeight) pin(element, height)
  return pageHeight
}

/**
 * For elements that have arrived since. Returns the page's height. The window may be taller than the page, and its own scroll height then says nothing.
 */
function prepareNew(all: readonly Element[], state: PinnedHeights): number {
  const { heights, pinned, pin, windowHeight } = state
  const isTall = innerHeight > windowHeight
  for (const element of all) if (!heights.has(element as Sized)) showSkipped(element)
  for (const element of all.filter(isPart)) {
    const offsetHeight = heightOf(element)
    const known = heights.get(element) ?? 0
    // In the tall window, an element as tall as the window has a height in its units, or its content fills the window.
    const height = isTall && offsetHeight === innerHeight ? Math.max(known, windowHeight) : offsetHeight
    if (height !== offsetHeight) pin(element, height)
    else if (isTall && known > 0 && (leastHeightOf(element) > known || isStretched(element, known, windowHeight))) pin(element, known, true)
    else if (pinned.has(element)) freeGrown(element, state)
    else heights.set(element, height)
  }
  const contentEnd = findContentEnd(all)
  state.pageHeight = isTall ? state.pageHeight + Math.max(0, contentEnd - state.contentEnd) : (scrollingElement()?.scrollHeight ?? 0)
  state.contentEnd = contentEnd
  state.count = all.length
  return state.pageHeight
}

/** A height that a script has set as the least one, such as that of the window. */
const leastHeightOf = (element: Sized): number => Number.parseFloat(read(element, 'style').minHeight)

/** Whether a script made a part that scrolls taller than the window, as it does with the height of the tall one. */
function isStretched(element: Sized, known: number, windowHeight: number): boolean {
  const { height } = read(element, 'style')
  const isTaller = height.endsWith('px') && Number.parseFloat(height) > Math.max(known, windowHeight)
  return isTaller && /auto|scroll/.test(getComputedStyle(element).overflowY)
}

/** True for elements with a height of their own: those of HTML, and drawings, but not their parts. */
const isPart = (element: Element): element is Sized =>
  element !== document.documentElement && element !== document.body && (isHtml(element) || (nameOf(element) === 'svg' && !isDrawn(element)))

/** Height of an element with its borders, without transforms. */
function heightOf(element: Sized): number {
  if (isHtml(element)) return read(element, 'offsetHeight')
  const { borderTopWidth, borderBottomWidth } = getComputedStyle(element)
  return read(element, 'clientHeight') + Number.parseFloat(borderTopWidth) + Number.parseFloat(borderBottomWidth)
}

/** The inline heights of the root element and the body. */
const rootHeights = (): PinnedHeights['roots'] =>
  [document.documentElement, document.body].filter(isStyled).flatMap((element) =>
    ROOT_HEIGHTS.map((property) => {
      const style = read(element, 'style')
      return { style, property, value: style.getPropertyValue(property), priority: style.getPropertyPriority(property) }
    }),
  )

/** False for elements of XML, which have no style. */
const isStyled = (element: HTMLElement | null): element is HTMLElement => element !== null && read(element, 'style') !== undefined

/** An element that got more content than its pinned height has room for may grow. */
function freeGrown(element: Sized, { pin, heights }: PinnedHeights): void {
  if (read(element, 'scrollHeight') <= read(element, 'clientHeight') + LINE_PIXELS || getComputedStyle(element).overflowY !== 'visible')
    return
  pin(element, heights.get(element) ?? heightOf(element), true)
}

/** Where the content ends, in CSS pixels of the page. Fixed elements, and what other elements cut off, do not count. */
function findContentEnd(all: readonly Element[]): number {
  let end = 0
  // The last elements are usually the lowest, and then the styles of few are needed.
  for (const element of all.toReversed()) {
    if (element === document.documentElement || element === document.body) continue
    const { bottom, width, height } = boxOf(element)
    if (width > 0 && height > 0 && bottom > end) end = Math.max(end, shownUntil(element, bottom))
  }
  return end + scrollY
}

function shownUntil(element: Element, bottom: number): number {
  if (getComputedStyle(element).position === 'fixed') return 0
  let end = bottom
  for (let outer = parentOf(element); outer && outer !== document.body; outer = parentOf(outer)) {
    const { position, overflowY } = getComputedStyle(outer)
    if (position === 'fixed') return 0
    if (overflowY !== 'visible') end = Math.min(end, boxOf(outer).bottom)
  }
  return end
}

/** Makes content visible that the browser skips, and lets fixed backgrounds scroll. */
function showSkipped(element: Element): void {
  const { contentVisibility, backgroundAttachment } = getComputedStyle(element)
  if (contentVisibility === 'auto') setStyle(element, { 'content-visibility': 'visible' })
  if (backgroundAttachment.includes('fixed')) setStyle(element, { 'background-attachment': 'scroll' })
}

/** Pins by rules of a style sheet, so that removing an attribute unpins an element. The first one adds the sheet: all styles are computed again then. */
function createPin(pinned: Map<Sized, number>, windowHeight: number): PinnedHeights['pin'] {
  const sheet = new CSSStyleSheet()
  return (element, height, isGrowing = height > windowHeight) => {
    const { boxSizing, paddingTop, paddingBottom, borderTopWidth, borderBottomWidth } = getComputedStyle(element)
    const sides = boxSizing === 'border-box' ? [] : [paddingTop, paddingBottom, borderTopWidth, borderBottomWidth]
    const own = `${Math.max(
      0,
      sides.reduce((rest, side) => rest - Number.parseFloat(side), height),
    )}px`
    const rule = isGrowing
      ? `height: auto !important; min-height: ${own} !important`
      : `height: ${own} !important; min-height: 0 !important; max-height: ${own} !important${widthOf(element)}`
    const number = sheet.cssRules.length
    if (number === 0) document.adoptedStyleSheets.push(sheet)
    call(element, 'setAttribute', HEIGHT, String(number))
    sheet.insertRule(`[${HEIGHT}="${number}"] { ${rule} }`, number)
    pinned.set(element, height)
  }
}

/** A canvas without a width of its own gets narrower with its height, if a script has made it as tall as the window. */
const widthOf = (element: Sized): string => (nameOf(element) === 'canvas' ? `; width: ${getComputedStyle(element).width} !important` : '')

/** In a document that has replaced the prepared one, nothing is pinned. */
export const pinHeights: PageFunctions['pinHeights'] = () => {
  const state = recall('tintypeHeights')
  if (!state) return 0
  const { heights, pin } = state
  const isOther = (element: Sized) => heightOf(element) !== heights.get(element)
  // Innermost elements come first, because they may be why others are taller. Each round costs a layout of the page, so it pins all that it can.
  let others = [...heights.keys()].filter((element) => heights.get(element) !== 0 && isOther(element))
  while (others.length > 0) {
    const outer = new Set(others.flatMap((element) => [...ancestorsOf(element)]))
    for (const element of others) if (!outer.has(element)) pin(element, heights.get(element) ?? 0)
    others = others.filter((element) => outer.has(element) && isOther(element))
  }
  dispatchEvent(new Event('scroll'))
  document.dispatchEvent(new Event('scroll', { bubbles: true }))
  const end = findContentEnd([...heights.keys()])
  // Spacing in units of the window has moved the content. That is no growth, unless elements have arrived.
  if (state.count === queryAll(document, '*').length) state.contentEnd = end
  return end
}

function* ancestorsOf(element: Element): Generator<Element> {
  for (let outer = parentOf(element); outer; outer = parentOf(outer)) yield outer
}

/** An element that a script shrank, or enlarged beyond its content for the tall window, is pinned again. The page itself needs no pin. */
export const unpinHeights: PageFunctions['unpinHeights'] = (isAll) => {
  const state = recall('tintypeHeights')
  if (!state) return
  const { heights, pin, pinned, windowHeight, roots } = state
  for (const { style, property, value, priority } of roots) style.setProperty(property, value, priority)
  const released = [...pinned]
    .filter(([, height]) => isAll || height > windowHeight)
    .map(([element, height]) => ({
      element,
      height,
      most: Math.max(height, heightOf(element), read(element, 'scrollHeight') + LINE_PIXELS),
      number: attributeOf(element, HEIGHT) ?? '',
    }))
  for (const { element } of released) call(element, 'removeAttribute', HEIGHT)
  if (isAll) return
  for (const [element, known] of heights) {
    if (known > 0 && !pinned.has(element) && isStretched(element, known, windowHeight)) pin(element, known, true)
  }
  const others = released.filter(({ element, height, most }) => {
    const offsetHeight = heightOf(element)
    return offsetHeight < height || offsetHeight > most
  })
  for (const { element, number } of others) call(element, 'setAttribute', HEIGHT, number)
}
