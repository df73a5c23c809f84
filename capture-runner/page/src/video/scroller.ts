import type { PageFunctions, ScrollerExtent } from '../../../src/page/functions.ts'
import { scrollingElement } from '../shared/scrolling.ts'
import { recall, remember } from '../shared/state.ts'

const extentOf = (scroller: Element): ScrollerExtent => ({
  end: scroller.scrollHeight - scroller.clientHeight,
  windowHeight: scroller.clientHeight,
})

/** The window, or else the largest element that scrolls. */
export const findScroller: PageFunctions['findScroller'] = () => {
  const root = scrollingElement()
  const scrolls = (element: Element) => element.scrollHeight > element.clientHeight + 1
  const panels = scrolls(root)
    ? []
    : [...document.querySelectorAll('*')].filter(
        (element) => scrolls(element) && element.clientHeight > 0 && /auto|scroll/.test(getComputedStyle(element).overflowY),
      )
  const largest = panels.map((element) => ({ element, area: areaInWindow(element) })).sort((a, b) => b.area - a.area)[0]
  const isLarge = largest !== undefined && largest.area > (innerWidth * innerHeight) / 4
  return extentOf(remember('tintypeScroller', isLarge ? largest.element : root))
}

function areaInWindow(element: Element): number {
  const { left, top, right, bottom } = element.getBoundingClientRect()
  return Math.max(0, Math.min(right, innerWidth) - Math.max(left, 0)) * Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0))
}

export const scrollScroller: PageFunctions['scrollScroller'] = (top) => {
  const scroller = recall('tintypeScroller') ?? scrollingElement()
  scroller.scrollTo({ top, left: 0, behavior: 'instant' })
  return extentOf(scroller)
}
