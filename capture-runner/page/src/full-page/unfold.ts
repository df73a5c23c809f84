import type { PageFunctions, ScrollContainer } from '../../../src/page/functions.ts'
import { isHtml, queryAll, read, scrollingElement, setStyle, write } from '../shared/dom.ts'
import { recall, remember } from '../shared/state.ts'
import { containerOf, findFirstVisible, findMatches, frameDocumentOf } from '../shared/tree.ts'
import { loadEagerly } from './lazy.ts'
import { findFilling, findFoldedPart, findLargest, isFrame } from './scrollers.ts'

export const unfold: PageFunctions['unfold'] = ({ container, pins, eager, keepsWidth }) => {
  if (eager) loadEagerly()
  if (pins) pinWindowHeights(document)
  if (container === undefined) return 'skipped'
  const before = recall('tintypeUnfolded')
  const panel = before && isUnfolded(before) ? before : findPanel(container)
  if (!panel) return 'absent'
  if (isFrame(panel)) growFrame(panel as HTMLIFrameElement)
  else if (panel !== before) expand(panel, keepsWidth)
  remember('tintypeUnfolded', panel)
  return 'found'
}

/** A page that draws itself again removes what was set. */
const isUnfolded = (panel: HTMLElement): boolean => panel.isConnected && (isFrame(panel) || getComputedStyle(panel).overflowY === 'visible')

export const findFolded: PageFunctions['findFolded'] = () => findFoldedPart()

export const readExtent: PageFunctions['readExtent'] = () => ({
  width: innerWidth,
  height: innerHeight,
  scrollHeight: scrollingElement()?.scrollHeight ?? 0,
})

/** Elements as tall as the window keep their height. */
function pinWindowHeights({ body, defaultView }: Document): void {
  const height = defaultView?.innerHeight ?? 0
  for (const element of body ? queryAll(body, '*') : []) {
    if (isHtml(element) && Math.abs(read(element, 'offsetHeight') - height) < 1) {
      setStyle(element, { height: `${height}px`, 'min-height': '0', 'max-height': `${height}px` })
    }
  }
}

function findPanel(container: ScrollContainer): HTMLElement | undefined {
  if (typeof container === 'object')
    return (findFirstVisible(container.selector) ?? findMatches(container.selector)[0]) as HTMLElement | undefined
  return (container === 'filling' ? findFilling() : findLargest())?.element
}

/** Removes the constraints on the panel: heights, clipped overflow, fixed ancestors. Content may be added to it later. */
function expand(panel: HTMLElement, keepsWidth: boolean): void {
  write(panel, 'scrollTop', 0)
  const whole = `${read(panel, 'scrollHeight') + read(panel, 'offsetHeight') - read(panel, 'clientHeight')}px`
  if (keepsWidth && panel !== read(panel, 'ownerDocument').body) keepWidth(panel)
  setStyle(panel, { height: 'auto', 'min-height': whole, 'max-height': 'none' })
  release(panel)
  releaseAround(panel)
}

/** Makes a frame as tall as its document. */
function growFrame(frame: HTMLIFrameElement): void {
  const inner = frameDocumentOf(frame)
  const root = inner?.scrollingElement ?? inner?.documentElement
  if (!inner || !root) return
  if (!recall('tintypeUnfolded')) {
    pinWindowHeights(inner)
    keepWidth(frame)
    setStyle(frame, { 'max-height': 'none' })
    releaseAround(frame)
  }
  if (root.scrollHeight <= frame.clientHeight) releaseInner(inner)
  setStyle(frame, { height: `${root.scrollHeight + frame.offsetHeight - frame.clientHeight}px` })
}

/** Lets the document of a frame grow if a part of it scrolls. */
function releaseInner({ body, documentElement }: Document): void {
  const scrolls = (element: HTMLElement) =>
    element.scrollHeight > element.clientHeight + 1 && /auto|scroll|overlay/.test(getComputedStyle(element).overflowY)
  const panels = [body, ...body.querySelectorAll<HTMLElement>('*')].filter(scrolls)
  const areaOf = ({ clientHeight, clientWidth }: Element) => clientHeight * clientWidth
  const [panel] = panels.sort((a, b) => areaOf(b) - areaOf(a))
  if (panel && areaOf(panel) >= areaOf(documentElement) / 2) expand(panel, true)
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
  setStyle(element, { 'overflow-x': overflowX === 'visible' ? 'visible' : 'clip', 'overflow-y': 'visible' })
  if (contain !== 'none') setStyle(element, { contain: 'none' })
}
