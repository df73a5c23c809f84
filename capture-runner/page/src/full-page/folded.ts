import type { FoldedPart, FoldReason, PageFunctions } from '../../../src/page/functions.ts'
import { CLIPS, flatElements, hiddenIn, isInSight, shareOfWindow } from '../shared/boxes.ts'
import { boxOf, call, isHtml, nameOf, queryAll, read } from '../shared/dom.ts'
import { isReplaced, shownAreasOf } from '../shared/painted.ts'
import { allElements, containerOf, findRoots, frameDocumentOf, holdersOf } from '../shared/tree.ts'
import { findLock, type Lock, mayFill, PLACES } from './locks.ts'
import {
  drawsOnlyRows,
  FILLING_SHARE,
  findClipped,
  findScrollers,
  foreignIn,
  hasPane,
  hasText,
  hiddenAt,
  isFrame,
  isPageScrolling,
  labelOf,
  NAMED_SHARE,
  pageHeight,
  reasonToKeep,
  type Scroller,
} from './scrollers.ts'

// Names what a full page does not show, or shows blurred.

export const findFolded: PageFunctions['findFolded'] = () => {
  const lock = findLock()
  const large = lock ? toLocked(lock) : isPageScrolling() ? undefined : findLarge()
  const { blurred, veil } = lock?.cover ? {} : findBlur()
  const panels = findPanels().filter(({ element }) => !large || shareOfWindow(element) < NAMED_SHARE)
  return [
    ...(large ? [large] : []),
    ...(blurred ? [toFolded(blurred, 'blurred')] : []),
    ...(veil ? [{ ...toFolded(veil.element, 'blurring'), part: labelOf(veil.element) + (veil.pseudoElement ?? '') }] : []),
    ...panels.map(({ element, isRows }) => toFolded(element, isRows ? 'panel-rows' : 'panel')),
  ]
}

/** What is open above the page hides the rest of the page, otherwise the part hides its own. */
function toLocked({ element, cover, isSure, hidden }: Lock): FoldedPart {
  const height = cover ? pageHeight() : Math.min(read(element, 'clientHeight'), pageHeight())
  const part = { ...toFolded(element, isSure ? 'locked' : 'hiding'), height, whole: height + hidden }
  return cover ? { ...part, cover: labelOf(cover) } : part
}

/** The part that scrolls instead of the page, or one that clips text. */
function findLarge(): FoldedPart | undefined {
  const [largest, ...others] = findScrollers().filter(({ element, share }) => share >= NAMED_SHARE && isShown(element))
  const clipped = largest ? undefined : findClipped()
  if (!largest) return clipped && toFolded(clipped, 'clipped')
  const reason = reasonToKeep(largest) ?? (hasPane(largest, others) ? 'panes' : 'other')
  // A warning about a smaller part says how much of it is hidden.
  if (largest.share < FILLING_SHARE && /rows|other/.test(reason)) return undefined
  return toFolded(reason === 'frame' ? foreignIn(largest.element) : largest.element, reason)
}

function toFolded(element: Element, reason: FoldReason): FoldedPart {
  const height = read(element, 'clientHeight')
  const hidden = hiddenAt(element) || hiddenIn(element, 'Height', CLIPS)
  return { part: labelOf(element), reason, width: read(element, 'clientWidth'), height, whole: height + Math.min(hidden, 1e9) }
}

const LEAST_BLUR = 2

const isBlur = (filter: string): boolean =>
  filter !== 'none' && Number.parseFloat(/blur\(([\d.]+)px/.exec(filter)?.[1] ?? '0') >= LEAST_BLUR

/** The part with text that is blurred, or else the layer that blurs text below it. */
function findBlur(): { blurred?: Element | undefined; veil?: Layer | undefined } {
  const blurred: Element[] = []
  const layers: Layer[] = []
  const all = allElements(findRoots(false))
  for (const element of all) {
    const style = getComputedStyle(element)
    if (isBlur(style.filter) && isInSight(element) && [element, ...flatElements(element)].some(hasText)) blurred.push(element)
    if (mayFill(element) && isBlur(style.backdropFilter) && isInSight(element) && shareOfWindow(element) >= FILLING_SHARE)
      layers.push({ element })
  }
  const area = blurred
    .flatMap((element) => shownAreasOf(element))
    .reduce((sum, { left, top, right, bottom }) => sum + (right - left) * (bottom - top), 0)
  if (area >= innerWidth * innerHeight * FILLING_SHARE) return { blurred: blurred[0] }
  const inView = PLACES.flatMap(([x, y]) => document.elementsFromPoint(x * innerWidth, y * innerHeight))
  for (const element of new Set([...all.slice(0, MAX_HOSTS), ...inView]))
    for (const pseudoElement of ['::before', '::after'])
      if (isLayerOf(element, getComputedStyle(element, pseudoElement))) layers.push({ element, pseudoElement })
  return { veil: layers.find(blursText) }
}

/** An element, or a pseudo-element of it. */
interface Layer {
  element: Element
  pseudoElement?: string
}

/** Elements that are asked for their pseudo-elements, besides those in view. */
const MAX_HOSTS = 1_000

/** True for the style of a pseudo-element that blurs half of the window. It has no box that could be asked for. */
function isLayerOf(host: Element, { backdropFilter, content, visibility, opacity, width, height }: CSSStyleDeclaration): boolean {
  if (!isBlur(backdropFilter) || content === 'none' || visibility !== 'visible' || opacity === '0' || !isInSight(host)) return false
  const [wide, tall] = [Math.min(innerWidth, Number.parseFloat(width)), Math.min(innerHeight, Number.parseFloat(height))]
  return wide * tall >= innerWidth * innerHeight * FILLING_SHARE
}

/** True if text is below the layer in the window. A layer that lets the pointer through is found only if it does not. */
function blursText({ element, ...pseudo }: Layer): boolean {
  const solid = call(element, 'animate', { pointerEvents: ['auto', 'auto'] }, { ...pseudo, fill: 'both' })
  solid.pause()
  const isAbove = PLACES.some(([x, y]) => {
    const stack = document.elementsFromPoint(x * innerWidth, y * innerHeight)
    const at = stack.indexOf(element)
    return at >= 0 && stack.slice(at + 1).some((one) => hasText(one) && !call(one, 'matches', 'html, body'))
  })
  solid.cancel()
  return isAbove
}

// Finds the parts of a page with a scroll bar of their own that hide most of their content from a full page: tables, conversations, terms. Fixed parts are
// left out, and so is what hides little text. Of links, menus, code samples and editors, only those count that are as large as a quarter of the window.

/** Elements whose text is no reason for a warning in a smaller part: links, code, and what a reader chooses from. */
const MINOR = 'a, button, label, option, select, pre, code, [role=menu], [role=listbox], [role=tree], [role=tablist]'
/** Elements in which short texts are headings of links. */
const MENUS = 'nav, [role=navigation]'
/** A part has at least this height and shows this area of the page, in CSS pixels. It hides at least this height, and this share of what it shows. */
const LEAST_HEIGHT = 40
const LEAST_AREA = 200 * 100
const LEAST_HIDDEN = 200
const LEAST_SHARE = 1 / 3
/** Characters of text, or pictures, that it hides. A picture has at least this width and height. */
const LEAST_TEXT = 400
/** Characters for which a shorter line counts: ten rows of a list are as much as a paragraph. */
const LINE_TEXT = 40
const LEAST_PICTURES = 4
const PICTURE_PIXELS = 40
/** A list that draws only the rows in view fills this share of its box with them. */
const FILLED_SHARE = 0.7
const MAX_ELEMENTS = 20_000

/** A part, the height of its content that is not in view, and whether it draws only the rows in view. */
interface Panel extends Pick<Scroller, 'element' | 'hidden'> {
  isRows: boolean
}

/** The parts that hide most of their content, the one that hides most first. Parts in other ones do not count. */
function findPanels(): Panel[] {
  const found: Panel[] = []
  const isScrolling = isPageScrolling()
  for (const element of allElements(findRoots(false)) as HTMLElement[]) {
    // Most elements of a large page are left out by the first number.
    const height = read(element, 'clientHeight')
    if (height < LEAST_HEIGHT || (!isFrame(element) && read(element, 'scrollHeight') - height <= 1)) continue
    const hidden = hiddenAt(element)
    // In a page that does not scroll, a large part is what the page is about, and each line of it counts.
    const isMain = !isScrolling && shareOfWindow(element) >= NAMED_SHARE
    if (hidden < (isMain ? 2 : Math.max(LEAST_HIDDEN, height * LEAST_SHARE)) || hidden === Number.POSITIVE_INFINITY) continue
    if (found.some((outer) => call(outer.element, 'contains', element)) || !isShown(element)) continue
    const share = (read(element, 'clientWidth') * height) / (innerWidth * innerHeight)
    const isLarge = share >= NAMED_SHARE
    if (isBeside(element, isLarge)) continue
    const reason = reasonToKeep({ element, share, hidden })
    // The text of a field is in no element.
    const isField = call(element, 'matches', 'textarea')
    const isRows = reason === 'rows' || (reason === 'editor' && !isField && drawsOnlyRows(element))
    const isNoted = reason === 'rows' ? fillsBox(element) : reason === 'editor' ? isLarge : hidesContent(element, isMain, isLarge)
    if (isNoted) found.push({ element, hidden, isRows })
  }
  return found.sort((one, other) => other.hidden - one.hidden)
}

/** True for a part that is in the picture, and not in a box that clips it. */
function isShown(element: Element): boolean {
  if (!isInSight(element)) return false
  const sizes = shownAreasOf(element).map(
    ({ left, top, right, bottom }) => Math.max(0, Math.min(right, innerWidth) - left) * (bottom - top),
  )
  return Math.max(0, ...sizes) >= LEAST_AREA
}

/** True for a small menu or code sample, and for a part above the page: one that is fixed to the window and does not fill it. */
function isBeside(element: Element, isLarge: boolean): boolean {
  for (const outer of holdersOf(element)) {
    if (!isLarge && call(outer, 'matches', MINOR)) return true
    if (getComputedStyle(outer).position === 'fixed' && shareOfWindow(outer) < FILLING_SHARE) return true
  }
  return false
}

function hidesContent(element: Element, isMain: boolean, isLarge: boolean): boolean {
  const inner = frameDocumentOf(element)
  const inside = inner ? queryAll(inner, 'body, body *') : [element, ...flatElements(element)]
  if (inside.length > MAX_ELEMENTS) return true
  const box = boxOf(element)
  const [start, end] = inner ? [0, box.height] : [box.top, box.bottom]
  const minor = new Set<Element>()
  const isMenu = call(element, 'closest', MENUS) !== null
  let [text, pictures] = [0, 0]
  for (const one of inside) {
    // Outer elements come first.
    const outer = containerOf(one)
    const isMinor = !isLarge && one !== element && ((outer && minor.has(outer)) || call(one, 'matches', MINOR))
    if (isMinor) minor.add(one)
    const { top, bottom, width, height } = boxOf(one)
    if (height === 0 || width === 0) continue
    const isPicture = isReplaced(one) && Math.min(width, height) >= PICTURE_PIXELS && (top >= end || bottom <= start)
    if (isPicture) pictures++
    const own = isMinor ? 0 : lengthOf(one)
    if (own === 0) continue
    const whole = one === element ? read(one, 'scrollHeight') : height
    const shown = one === element ? box.height : Math.max(0, Math.min(bottom, end) - Math.max(top, start))
    const isLine = own < LINE_TEXT && !isMenu && getComputedStyle(one).display !== 'inline'
    text += (isLine ? LINE_TEXT : own) * (1 - Math.min(1, shown / whole))
  }
  return text >= (isMain ? 1 : LEAST_TEXT) || pictures >= (isMain ? 1 : LEAST_PICTURES)
}

const lengthOf = (element: Element): number =>
  isHtml(element) && !/^(script|style|template)$/.test(nameOf(element))
    ? [...read(element, 'childNodes')].reduce(
        (sum, node) => sum + (node.nodeType === Node.TEXT_NODE ? (node.textContent ?? '').trim().length : 0),
        0,
      )
    : 0

/** True if the rows in view fill the part. */
function fillsBox(element: Element): boolean {
  const box = boxOf(element)
  const rows = flatElements(element)
    .filter((inner) => lengthOf(inner) > 0)
    .map(boxOf)
    .filter(({ height, top, bottom }) => height > 0 && bottom > box.top && top < box.bottom)
  const end = Math.max(...rows.map(({ bottom }) => Math.min(bottom, box.bottom)))
  return rows.length > 0 && end - Math.min(...rows.map(({ top }) => Math.max(top, box.top))) >= box.height * FILLED_SHARE
}
