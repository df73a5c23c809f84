import type { PageFunctions, ScrollerExtent } from '../../../src/page/functions.ts'
import { shareOfWindow } from '../shared/boxes.ts'
import { read, scrollingElement } from '../shared/dom.ts'
import { recall, remember } from '../shared/state.ts'
import { allElements, findRoots } from '../shared/tree.ts'

const extentOf = (scroller: Element | undefined): ScrollerExtent =>
  scroller
    ? { end: read(scroller, 'scrollHeight') - read(scroller, 'clientHeight'), windowHeight: read(scroller, 'clientHeight') }
    : { end: 0, windowHeight: innerHeight }

/** The window, or else the largest element that scrolls. */
export const findScroller: PageFunctions['findScroller'] = () => {
  const root = scrollingElement()
  const scrolls = (element: Element) => read(element, 'scrollHeight') > read(element, 'clientHeight') + 1
  const panels =
    root && scrolls(root)
      ? []
      : allElements(findRoots(false)).filter(
          (element) => scrolls(element) && read(element, 'clientHeight') > 0 && /auto|scroll/.test(getComputedStyle(element).overflowY),
        )
  const largest = panels.map((element) => ({ element, share: shareOfWindow(element) })).sort((a, b) => b.share - a.share)[0]
  const isLarge = largest !== undefined && largest.share > 1 / 4
  const scroller = isLarge ? largest.element : root
  return extentOf(scroller && remember('tintypeScroller', scroller))
}

export const scrollScroller: PageFunctions['scrollScroller'] = (top) => {
  const scroller = recall('tintypeScroller') ?? scrollingElement()
  if (scroller) scrollInstantly(scroller, top)
  return extentOf(scroller)
}

/** Regardless of the page's scroll-behavior. */
function scrollInstantly(element: Element, top: number): void {
  const scrollTo: (options: ScrollToOptions) => void = read(element, 'scrollTo')
  scrollTo.call(element, { top, left: 0, behavior: 'instant' })
}
