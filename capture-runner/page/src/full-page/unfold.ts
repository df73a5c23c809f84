import type { PageFunctions, ScrollContainer } from '../../../src/page/functions.ts'
import { findFirstVisible, hiddenIn } from '../shared/boxes.ts'
import { isHtml, queryAll, read, scrollingElement, setStyle } from '../shared/dom.ts'
import { recall, remember } from '../shared/state.ts'
import { containerOf, findMatches, frameDocumentOf } from '../shared/tree.ts'
import { findLock, unfix } from './locks.ts'
import { loadEagerly, notifyOfScroll, type ScrollTargets } from './scroll.ts'
import {
  findFilling,
  findLargest,
  findMoved,
  findScrollers,
  hiddenAt,
  isFrame,
  mayHideScroller,
  NAMED_SHARE,
  partsOfFrame,
} from './scrollers.ts'

/** Share of a part's height that each position is below the last one, and the number of positions. */
const PASS_SHARE = 0.3
const MAX_POSITIONS = 50

export const unfold: PageFunctions['unfold'] = ({ container, unlocks, pins, eager, keepsWidth }) => {
  if (unlocks) unlock()
  if (eager) loadEagerly()
  if (pins) pinWindowHeights(document)
  if (container === undefined) return 'skipped'
  const before = recall('tintypeUnfolded')
  const panel = before && isUnfolded(before.panel) ? before.panel : findPanel(container)
  if (!panel) return typeof container !== 'object' && mayHideScroller() ? 'closed' : 'absent'
  if (isFrame(panel)) growFrame(panel as HTMLIFrameElement)
  else if (panel === before?.panel) fit(panel)
  else expand(panel, keepsWidth)
  const known = panel === before?.panel ? before.height : 0
  const height = read(panel, 'offsetHeight')
  remember('tintypeUnfolded', { panel, height: Math.max(height, known) })
  const inner = frameDocumentOf(panel)
  notifyOfScroll([panel, inner, inner?.defaultView])
  return known > 0 && height > known ? 'grown' : 'found'
}

/** Gives up height that content needed only until it appeared: it may move up meanwhile. */
function fit(panel: HTMLElement): void {
  const before = Number.parseFloat(read(panel, 'style').minHeight)
  setStyle(panel, { 'min-height': '0' })
  setStyle(panel, { 'min-height': `${Math.min(before, wholeHeightOf(panel))}px` })
}

const wholeHeightOf = (panel: HTMLElement): number =>
  read(panel, 'scrollHeight') + read(panel, 'offsetHeight') - read(panel, 'clientHeight')

/** A page that draws itself again removes what was set. */
const isUnfolded = (panel: HTMLElement): boolean => panel.isConnected && (isFrame(panel) || getComputedStyle(panel).overflowY === 'visible')

export const readExtent: PageFunctions['readExtent'] = () => ({
  width: innerWidth,
  height: innerHeight,
  scrollHeight: Math.max(scrollingElement()?.scrollHeight ?? 0, innerHeight + hiddenInParts()),
})

/** Height of the content that is not in view in the part that hides most. */
const hiddenInParts = (): number =>
  Math.max(
    0,
    ...findScrollers().flatMap(({ share, hidden }) => (share >= NAMED_SHARE && hidden < Number.POSITIVE_INFINITY ? [hidden] : [])),
  )

/** Elements as tall as the window keep their height. */
function pinWindowHeights({ body, defaultView }: Document): void {
  const height = defaultView?.innerHeight ?? 0
  for (const element of body ? queryAll(body, '*') : []) {
    if (isHtml(element) && Math.abs(read(element, 'offsetHeight') - height) < 1) {
      setStyle(element, { height: `${height}px`, 'min-height': '0', 'max-height': `${height}px` })
    }
  }
}

/** Most parts that are locked one in the other. */
const MAX_LOCKS = 5

/** Shows what the page hides because of a dialog, if that is not open any more. */
export const unlock: PageFunctions['unlock'] = () => {
  for (let locks = 0; locks < MAX_LOCKS; locks++) {
    const lock = findLock()
    if (!lock?.isSure || lock.cover) return
    unfix(lock.element)
    setStyle(lock.element, { height: 'auto', 'max-height': 'none' })
    release(lock.element)
    releaseAround(lock.element)
  }
}

function findPanel(container: ScrollContainer): HTMLElement | undefined {
  if (typeof container === 'object')
    return (findFirstVisible(container.selector) ?? findMatches(container.selector)[0]) as HTMLElement | undefined
  return ((container === 'filling' ? findFilling() : findLargest())?.element ?? findMoved()) as HTMLElement | undefined
}

/** Removes the constraints on the panel: heights, clipped overflow, fixed ancestors. Content may be added to it later. */
function expand(panel: HTMLElement, keepsWidth: boolean): void {
  passThrough(panel, [panel])
  const whole = `${wholeHeightOf(panel)}px`
  if (keepsWidth && panel !== read(panel, 'ownerDocument').body) keepWidth(panel)
  setStyle(panel, { height: 'auto', 'min-height': whole, 'max-height': 'none' })
  release(panel)
  releaseAround(panel)
}

/** Scrolls through a part and back, for scripts that show content where it comes into view. Ends at the top. */
function passThrough(scroller: Element, targets: ScrollTargets): void {
  const [height, end] = [read(scroller, 'clientHeight'), read(scroller, 'scrollHeight')]
  const step = Math.max(height * PASS_SHARE, end / MAX_POSITIONS, 1)
  for (let top = step; top < end; top += step) scrollPart(scroller, top, targets)
  scrollPart(scroller, 0, targets)
}

function scrollPart(scroller: Element, top: number, targets: ScrollTargets): void {
  Reflect.apply(Element.prototype.scrollTo, scroller, [{ top, behavior: 'instant' }])
  notifyOfScroll(targets)
}

/** Makes a frame as tall as its document. */
function growFrame(frame: HTMLIFrameElement): void {
  const inner = frameDocumentOf(frame)
  const root = inner?.scrollingElement ?? inner?.documentElement
  if (!inner || !root) return
  if (!recall('tintypeUnfolded')) {
    passThrough(root, [inner, inner.defaultView])
    pinWindowHeights(inner)
    keepWidth(frame)
    setStyle(frame, { 'max-height': 'none' })
    releaseAround(frame)
  }
  if (root.scrollHeight <= frame.clientHeight) releaseInner(inner)
  setStyle(frame, { height: `${root.scrollHeight + frame.offsetHeight - frame.clientHeight}px` })
}

/** Lets the document of a frame grow if a part of it scrolls. */
function releaseInner(inner: Document): void {
  const areaOf = (element: Element) => read(element, 'clientHeight') * read(element, 'clientWidth')
  const parts = partsOfFrame(inner, 0.5).filter((part) => hiddenAt(part) > 1)
  const [panel] = parts.sort((a, b) => areaOf(b) - areaOf(a))
  if (!panel) return
  if (isFrame(panel)) growFrame(panel as HTMLIFrameElement)
  else expand(panel, true)
}

const keepWidth = (element: HTMLElement): void =>
  setStyle(element, { 'box-sizing': 'border-box', width: `${read(element, 'offsetWidth')}px`, flex: 'none' })

/** Lets the panel grow downwards, and all that contains it with it. */
function releaseAround(panel: HTMLElement): void {
  growDownwards(panel)
  for (let outer = containerOf(panel); outer; outer = containerOf(outer)) {
    setStyle(outer, { height: 'auto', 'max-height': 'none' })
    release(outer)
    growDownwards(outer)
  }
}

function growDownwards(element: Element): void {
  const { position } = getComputedStyle(element)
  if (position === 'fixed') setStyle(element, { position: 'absolute', bottom: 'auto' })
  if (position === 'absolute') setStyle(element, { bottom: 'auto' })
}

/** Shows all of the content below. What is cut at the sides stays cut. */
function release(element: Element): void {
  const { overflowX, contain } = getComputedStyle(element)
  if (hiddenIn(element, 'Width') > 0) (recall('tintypeSideways') ?? remember('tintypeSideways', new WeakSet())).add(element)
  setStyle(element, { 'overflow-x': overflowX === 'visible' ? 'visible' : 'clip', 'overflow-y': 'visible' })
  if (contain !== 'none') setStyle(element, { contain: 'none' })
}
