import type { FoldReason } from '../../../src/page/functions.ts'
import { CLIPS, flatElements, hiddenIn, isInSight, shareOfWindow } from '../shared/boxes.ts'
import { attributeOf, boxOf, call, isHtml, nameOf, queryAll, read, scrollingElement } from '../shared/dom.ts'
import { isReplaced, paintsItself } from '../shared/painted.ts'
import { allElements, containerOf, findRoots, frameDocumentOf, shadowRootOf } from '../shared/tree.ts'

// Finds the parts of a page that scroll instead of the page (ADR 72), and tells which of them can be shown whole.

/** An element or a frame whose content is taller than its box. */
export interface Scroller {
  element: HTMLElement
  /** Share of the window that it covers. */
  share: number
  /** Height of its content that is not in view, in CSS pixels. */
  hidden: number
  /** Why it must stay as it is. */
  reason?: FoldReason
}

/** The page itself scrolls if more than this share of the window is below it. Shells are often a header taller than the window. */
export const ROOT_SHARE = 0.25
/** Share of the window that a part must cover to be unfolded without being asked for. */
export const FILLING_SHARE = 0.5
/** Share of the window from which a part that stays as it is needs a warning. */
export const NAMED_SHARE = 0.25
/** A second part of this share of the largest one is a pane of its own. */
const PANE_SHARE = 0.45
/** An editor covers this share of the part that scrolls it. */
const EDITOR_SHARE = 0.5
/** Where to look for a closed root, as shares of the window. A part that fills most of the window is there. */
const ACROSS = [0.3, 0.5, 0.7]
/** Elements to look at in one part. Lists that draw only some rows have few. */
const MAX_ELEMENTS = 20_000

export const DIALOGS = 'dialog, [role=dialog], [role=alertdialog], [aria-modal=true], [popover]'
const EDITORS = 'textarea, [contenteditable]:not([contenteditable=false]), [role=textbox], .CodeMirror, .monaco-editor, .ace_editor'

export const isFrame = (element: Element): boolean => /^(iframe|frame|object|embed)$/.test(nameOf(element))

/** Height of the page below the window. */
export const hiddenByRoot = (): number => (scrollingElement()?.scrollHeight ?? 0) - innerHeight

/** Height of the page that a full page shows. */
export const pageHeight = (): number => innerHeight + Math.max(0, hiddenByRoot())

/** True if the page itself scrolls, so that a full page shows its content. */
export const isPageScrolling = (): boolean => hiddenByRoot() > innerHeight * ROOT_SHARE

/** All parts that scroll, the largest first. */
export function findScrollers(): Scroller[] {
  const found: Scroller[] = []
  for (const element of allElements(findRoots(false))) {
    const hidden = hiddenAt(element)
    if (hidden <= 1) continue
    const share = shareOfWindow(element)
    if (share === 0 || !isInSight(element)) continue
    found.push({ element: element as HTMLElement, share, hidden })
  }
  found.sort((a, b) => b.share - a.share || b.hidden - a.hidden)
  return found
}

/** Also in a frame inside it. For a frame of another origin, its content is unknown, but nobody can scroll it if it lets the pointer through. */
function hiddenInFrame(frame: Element): number {
  const inner = frameDocumentOf(frame)
  if (!inner) {
    const isEmpty = (attributeOf(frame, 'src') ?? attributeOf(frame, 'data') ?? '') === ''
    return isEmpty || getComputedStyle(frame).pointerEvents === 'none' ? 0 : Number.POSITIVE_INFINITY
  }
  const root = inner.scrollingElement ?? inner.documentElement
  if (!root) return 0
  const below = root.scrollHeight - frame.clientHeight
  return below > 1 ? below : Math.max(0, ...partsOfFrame(inner).map(hiddenAt))
}

/** The elements of a frame's document that cover this share of it. */
export function partsOfFrame({ body, defaultView }: Document, share = NAMED_SHARE): HTMLElement[] {
  const area = defaultView ? defaultView.innerWidth * defaultView.innerHeight * share : Number.POSITIVE_INFINITY
  const isLarge = (element: HTMLElement) => read(element, 'offsetWidth') * read(element, 'offsetHeight') >= area
  return body ? [body, ...queryAll(body, '*')].filter((element) => isHtml(element)).filter(isLarge) : []
}

/** Height of an element's content that is not in view, in CSS pixels. */
export const hiddenAt = (element: Element): number => (isFrame(element) ? hiddenInFrame(element) : hiddenIn(element, 'Height'))

/** True if a part as tall as the window hides more than a window. In a page that scrolls by less, it is a shell below a large header. */
const isShell = ({ element, hidden }: Scroller): boolean => hidden > innerHeight && read(element, 'offsetHeight') === innerHeight

/** The part to unfold, if the page does not scroll and one part fills most of the window. */
export function findFilling(): Scroller | undefined {
  const isScrolling = isPageScrolling()
  if (isScrolling && hiddenByRoot() >= innerHeight) return undefined
  const [largest, ...others] = findScrollers().filter(({ hidden }) => hidden > hiddenByRoot())
  if (!largest || largest.share < FILLING_SHARE || (isScrolling && !isShell(largest))) return undefined
  const inside = others.find(({ element, share }) => share >= FILLING_SHARE && contains(largest.element, element))
  const chosen = inside && inside.hidden > largest.hidden ? inside : largest
  return reasonToKeep(chosen) || hasPane(chosen, others) ? undefined : chosen
}

/** Tolerated difference between a part and the window, and between the heights that both hide, as a share. */
const SAME_SIZE = 0.1

export const isAsTallAsPage = (height: number): boolean => Math.abs(height / pageHeight() - 1) <= SAME_SIZE

/** The part that shows a page that scrolls, if it is fixed to the window, and scripts move its content as far as the page is scrolled. */
export function findMoved(): Element | undefined {
  if (!isPageScrolling()) return undefined
  let element = topAt(innerWidth / 2, innerHeight / 2)
  while (element && getComputedStyle(element).position !== 'fixed') element = containerOf(element)
  if (!element || shareOfWindow(element) < 1 - SAME_SIZE) return undefined
  return Math.abs(hiddenIn(element, 'Height', CLIPS) / hiddenByRoot() - 1) <= SAME_SIZE ? element : undefined
}

/** The largest part that can be unfolded. */
export const findLargest = (): Scroller | undefined => findScrollers().find((scroller) => !reasonToKeep(scroller))

/** True if an element in the middle of a page that does not scroll may have a closed root that is not known, in which a part may scroll. */
export function mayHideScroller(): boolean {
  return !isPageScrolling() && ACROSS.some((x) => isBehindClosedRoot(topAt(x * innerWidth, innerHeight / 2)))
}

function isBehindClosedRoot(top: Element | undefined): boolean {
  if (isEmptyHost(top)) return true
  for (let element = top; element; element = containerOf(element)) if (isUnknownComponent(element)) return true
  return false
}

/** The frame of another origin in a frame of the page's own; the frame itself if it is of another one. */
export function foreignIn(frame: Element): Element {
  const inner = frameDocumentOf(frame)
  const next = inner && partsOfFrame(inner).find((part) => hiddenAt(part) === Number.POSITIVE_INFINITY)
  return next ? foreignIn(next) : frame
}

/** A part that fills most of the window and clips text below it. Scripts may move it instead of scrolling. */
export const findClipped = (): Element | undefined =>
  allElements(findRoots(false)).find(
    (element) =>
      element !== document.documentElement &&
      hiddenIn(element, 'Height', CLIPS) > innerHeight * ROOT_SHARE &&
      shareOfWindow(element) >= FILLING_SHARE &&
      isInSight(element) &&
      flatElements(element).some((inner) => hasText(inner) && isBelow(inner, element)),
  )

/** True if an element is below a part's lower edge, and not in a drawer that begins there. */
function isBelow(inner: Element, part: Element): boolean {
  const { bottom } = boxOf(part)
  if (boxOf(inner).top < bottom) return false
  for (let outer: Element | undefined = inner; outer && outer !== part; outer = containerOf(outer)) {
    if (/absolute|fixed/.test(getComputedStyle(outer).position) && boxOf(outer).top >= bottom) return false
  }
  return true
}

export const hasPane = (chosen: Scroller, others: readonly Scroller[]): boolean =>
  others.some(
    ({ element, share }) =>
      share >= chosen.share * PANE_SHARE &&
      !contains(chosen.element, element) &&
      !contains(element, chosen.element) &&
      element !== chosen.element,
  )

export function contains(outer: Element, inner: Element): boolean {
  for (let element: Element | undefined = inner; element; element = containerOf(element)) if (element === outer) return true
  return false
}

export function reasonToKeep({ element, share, hidden }: Scroller): FoldReason | undefined {
  for (let outer: Element | undefined = element; outer; outer = containerOf(outer)) {
    if (call(outer, 'matches', DIALOGS)) return 'dialog'
    if (call(outer, 'matches', EDITORS)) return 'editor'
  }
  if (isFrame(element)) return hidden === Number.POSITIVE_INFINITY ? 'frame' : undefined
  const inside = flatElements(element)
  if (inside.some((part) => call(part, 'matches', EDITORS) && shareOfWindow(part) >= share * EDITOR_SHARE)) return 'editor'
  return inside.length <= MAX_ELEMENTS && drawsOnlyRows(element, inside) ? 'rows' : undefined
}

/** True for a list that creates only the rows in view: most of its height has no content. */
export function drawsOnlyRows(scroller: Element, inside: readonly Element[] = flatElements(scroller)): boolean {
  if (hasText(scroller)) return false
  let [top, bottom] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const element of inside) {
    const box = boxOf(element)
    if (box.width === 0 || box.height === 0 || (box.top >= top && box.bottom <= bottom) || !hasContent(element)) continue
    top = Math.min(top, box.top)
    bottom = Math.max(bottom, box.bottom)
  }
  const empty = scroller.scrollHeight - Math.max(0, bottom - top)
  return empty > scroller.clientHeight / 2 && empty > scroller.scrollHeight / 5
}

/** True if the element shows text or paints something. Boxes around other elements do not count, because they may be as tall as the list. */
function hasContent(element: Element): boolean {
  if (isReplaced(element) || hasText(element)) return true
  const isAround = read(element, 'firstElementChild') !== null || shadowRootOf(element) !== undefined
  return !isAround && paintsItself(getComputedStyle(element))
}

export const hasText = (element: Element): boolean =>
  [...read(element, 'childNodes')].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '')

/** A name for messages, such as `main#content`. */
export function labelOf(element: Element): string {
  const id = attributeOf(element, 'id')
  const name = id || attributeOf(element, 'class')?.trim().split(/\s+/, 1)[0]
  return name ? `${nameOf(element)}${id ? '#' : '.'}${name.replace(/[^\w-]/g, '').slice(0, 40)}` : nameOf(element)
}

// Elements that may have a closed shadow root, which scripts cannot find.

/** Elements that authors give shadow roots, besides custom elements. */
const HOST = /^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$/

/** The topmost element at a point, in shadow roots too. */
export function topAt(x: number, y: number): Element | undefined {
  let top: Element | undefined
  for (let root: DocumentOrShadowRoot | undefined = document; root; ) {
    const inner: Element | null = root.elementFromPoint(x, y)
    if (!inner || inner === top) break
    top = inner
    root = shadowRootOf(inner)
  }
  return top
}

const isEmptyHost = (element: Element | undefined): boolean =>
  element !== undefined && HOST.test(nameOf(element)) && !shadowRootOf(element) && !call(element, 'hasChildNodes')

/** True for a custom element without a shadow root that is known. */
const isUnknownComponent = (element: Element): boolean => nameOf(element).includes('-') && !shadowRootOf(element)
