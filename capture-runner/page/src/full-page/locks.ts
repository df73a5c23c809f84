import { boxesOfText, CLIPS, flatElements, hiddenIn, isInSight, shareOfArea, shareOfWindow } from '../shared/boxes.ts'
import { attributeOf, boxOf, call, read, setStyle } from '../shared/dom.ts'
import { isReplaced, paintedBoxesOf } from '../shared/painted.ts'
import { boxAround } from '../shared/shapes.ts'
import { allElements, containerOf, findRoots } from '../shared/tree.ts'
import { contains, DIALOGS, FILLING_SHARE, hasText, hiddenByRoot, isAsTallAsPage, isPageScrolling, ROOT_SHARE, topAt } from './scrollers.ts'

// A page locks itself while a dialog is open: it clips or fixes its body, or a part that fills the window, or moves it up to where the reader was.
// Hiding the dialog leaves the lock.

/** Content that nobody can scroll to. */
export interface Lock {
  /** The root element, the body, or a part that fills the window. */
  element: HTMLElement
  /** Height of its content that nobody can scroll to, in CSS pixels. */
  hidden: number
  /** What is open above it; absent: nothing. */
  cover?: Element | undefined
  /** False for a part that says nowhere that it is locked: scripts may move its content, as in a slideshow. */
  isSure: boolean
}

/** Words in classes by which pages lock a part. On the root element or the body, words for what is open above the page count too. */
const LOCK_WORDS =
  /no-?_?scroll|scroll-?_?(lock|block|disable|prevent)|(disable|prevent|stop|block)-?_?scroll|(^|[^a-z])lock(ed)?([^a-z]|$)|frozen|freeze/i
const OPEN_WORDS = /modal|dialog|popup|overlay|lightbox|consent|cookie|cmp|didomi|sp-message|paywall|newsletter|age-?gate|blur/i
const LOCKED = '[inert], [aria-hidden=true], [data-scroll-locked], [data-scroll-lock], [data-locked]'
/** From this height, what is moved above the page is missed. */
const LEAST_ABOVE = 50
/** A part that is not marked as locked hides the page if it covers this share of the window. */
const WHOLE_SHARE = 0.7
const SHARES = [0.1, 0.3, 0.5, 0.7, 0.9]
/** Places in the window at which something may lie above the page, as shares of it. */
export const PLACES = /* @__PURE__ */ SHARES.flatMap((x) => SHARES.map((y) => [x, y] as const))
/** A layer covers the page if it is at this share of the places. */
const COVERED = 0.5
/** Share of the window that such a layer paints at least, and a dialog beside the middle. */
const LEAST_SHARE = 0.005
const DIALOG_SHARE = 0.05

/** The outermost lock of a page that shows little more than a window, or whose upper part is above its upper end. */
export function findLock(): Lock | undefined {
  const below = Math.max(0, hiddenByRoot())
  for (const element of allElements(findRoots(false)) as HTMLElement[]) {
    // Most elements of a large page are left out by the first number.
    if (!isPage(element) && !mayFill(element)) continue
    const above = hiddenAbove(element)
    const locked = below < innerHeight ? hiddenByLock(element) : 0
    const isMoved = locked <= below
    const hidden = isMoved ? above : Math.max(locked, above)
    // A reader could scroll by less than a quarter of the window before the page was moved.
    const least = isMoved && isPage(element) && movesUp(element) ? LEAST_ABOVE : innerHeight * ROOT_SHARE
    if (hidden <= least || !isFilling(element) || !isInSight(element)) continue
    const isSure = isPage(element) || isMarked(element) || boxOf(element).top < 0
    if (!isSure && shareOfWindow(element) < WHOLE_SHARE) continue
    if ((!isPage(element) && call(element, 'matches', DIALOGS)) || !hidesContent(element, isMoved)) continue
    return { element, hidden, cover: findCover(element), isSure }
  }
  return undefined
}

const isPage = (element: Element): boolean => element === document.documentElement || element === document.body

/** False for an element that is too low to cover half of the window. Quicker than its box. */
export const mayFill = (element: Element): boolean => read(element as HTMLElement, 'offsetHeight') >= innerHeight * FILLING_SHARE

/** The box of the page may be outside of the window, with its content in it. */
const isFilling = (element: Element): boolean => isPage(element) || shareOfWindow(element) >= FILLING_SHARE

/** Height of an element above the upper end of the page, unless it is in a box that cuts or places it: a slideshow, a menu or a dialog. */
function hiddenAbove(element: HTMLElement): number {
  const above = -boxOf(element).top - scrollY
  if (above <= 0) return 0
  for (let outer: Element | undefined = element; outer && !isPage(outer); outer = containerOf(outer)) {
    const { position, overflowY } = getComputedStyle(outer)
    // Libraries for smooth scrolling move what the page shows in a fixed layer.
    const isLayer = position === 'fixed' && isPageScrolling() && isAsTallAsPage(read(element, 'offsetHeight'))
    if (position === 'absolute' || (!isLayer && (position === 'fixed' || (outer !== element && overflowY !== 'visible')))) return 0
  }
  return above
}

/** Height of the content that an element hides because it clips it or is fixed. */
function hiddenByLock(element: HTMLElement): number {
  const clipped = hiddenIn(element, 'Height', CLIPS)
  if (clipped > 0 || read(element, 'offsetHeight') === 0) return clipped
  const parts = element === document.documentElement ? [element, document.body] : [element]
  const tall = Math.max(...parts.flatMap((part) => (part ? [read(part, 'offsetHeight'), read(part, 'scrollHeight')] : []))) - innerHeight
  return tall > 0 && getComputedStyle(element).position === 'fixed' && hiddenIn(element, 'Height') === 0 ? tall : 0
}

/** True if text or a picture of the element is outside of the window, or above the page, and not in a drawer or a decoration that begins there. */
function hidesContent(element: Element, isAbove: boolean): boolean {
  const { top, bottom } = boxOf(element)
  const [start, end] = isAbove ? [-scrollY, Number.POSITIVE_INFINITY] : [Math.max(top, 0), Math.min(bottom, innerHeight)]
  const isCut = (box: DOMRect) => box.height > 0 && box.width > 0 && (box.top >= end || box.bottom <= start)
  const isOutside = (inner: Element) => isCut(boxOf(inner))
  // Some lines of a text may be outside.
  const hasLinesOutside = (inner: Element) => {
    const box = boxOf(inner)
    return isCut(box) || ((box.top < start || box.bottom > end) && textsOf(inner).some((text) => boxesOfText(text).some(isCut)))
  }
  const isPlaced = (inner: Element) => isOutside(inner) && /absolute|fixed/.test(getComputedStyle(inner).position)
  const isDrawer = (inner: Element) => isAbove && movesUp(inner) && !isFilling(inner)
  return flatElements(element).some((inner) => {
    if (!(isReplaced(inner) ? isOutside(inner) : hasText(inner) && hasLinesOutside(inner))) return false
    for (let outer: Element | undefined = inner; outer && outer !== element; outer = containerOf(outer))
      if (isPlaced(outer) || isDrawer(outer)) return false
    return true
  })
}

const textsOf = (element: Element): Node[] => [...read(element, 'childNodes')].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)

/** True if the element's own style moves it up. */
function movesUp(element: Element): boolean {
  const { position, top, bottom, marginTop, transform, translate } = getComputedStyle(element)
  return (
    Number.parseFloat(marginTop) < 0 ||
    new DOMMatrix(transform).m42 < 0 ||
    translate.includes(' -') ||
    (position !== 'static' && (Number.parseFloat(top) < 0 || Number.parseFloat(bottom) > 0))
  )
}

/** True for a part of which the page says that it is locked, or that something is open above it. */
function isMarked(element: Element): boolean {
  const [root, body] = [document.documentElement, document.body]
  const classesOf = (one: Element) => attributeOf(one, 'class') ?? ''
  if ([element, body, root].some((one) => LOCK_WORDS.test(classesOf(one)) || call(one, 'matches', LOCKED))) return true
  return [body, root].some((one) => OPEN_WORDS.test(classesOf(one)))
}

/** What can be seen above the locked element: a dialog, or a layer over most or the middle of the window. */
function findCover(locked: Element): Element | undefined {
  const seen = new Map<Element, number>()
  const places = PLACES.map(([x, y]) => layerAt(x, y, locked))
  for (const layer of places) if (layer) seen.set(layer, (seen.get(layer) ?? 0) + 1)
  const middle = layerAt(0.5, 0.5, locked)
  return [...seen]
    .sort(([, one], [, other]) => other - one)
    .find(([layer, count]) => {
      const isAbove = layer === middle || count >= places.length * COVERED
      if (!isAbove && !call(layer, 'matches', DIALOGS)) return false
      return isInSight(layer) && paintedShare(layer) >= (isAbove ? LEAST_SHARE : DIALOG_SHARE)
    })?.[0]
}

function layerAt(x: number, y: number, locked: Element): Element | undefined {
  for (let element = topAt(x * innerWidth, y * innerHeight); element; element = containerOf(element)) {
    if (element === locked || contains(element, locked)) return undefined
    const { position, zIndex } = getComputedStyle(element)
    if (position === 'fixed' || (position === 'absolute' && Number(zIndex) >= 100) || call(element, 'matches', DIALOGS)) return element
  }
  return undefined
}

/** Share of the window that a layer paints. One that only blurs what lies below paints it. */
function paintedShare(layer: Element): number {
  const { backdropFilter } = getComputedStyle(layer)
  if (backdropFilter !== 'none' || call(layer, 'matches', ':modal')) return shareOfWindow(layer)
  const box = boxAround([...paintedBoxesOf(layer)])
  return box ? shareOfArea(box) : 0
}

/** Lets an element that is fixed or moved up flow with the page again. */
export function unfix(element: HTMLElement): void {
  if (getComputedStyle(element).position === 'fixed') setStyle(element, { position: 'relative', inset: 'auto' })
  if (hiddenAbove(element) === 0) return
  // What moves it may be a margin of an element in it.
  for (const part of [element, ...flatElements(element)] as HTMLElement[])
    if (hiddenAbove(part) > 0 && isFilling(part))
      setStyle(part, { transition: 'none', 'inset-block': 'auto', 'margin-top': '0', transform: 'none', translate: 'none' })
}
