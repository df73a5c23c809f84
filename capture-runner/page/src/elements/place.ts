import type { PageFunctions, Point } from '../../../src/page/functions.ts'
import { findVisible } from '../shared/matches.ts'
import { recall, remember } from '../shared/state.ts'

function middleOf(element: Element): Point {
  element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
  const { x, y, width, height } = element.getClientRects()[0]!
  return { x: x + width / 2, y: y + height / 2 }
}

export const showMiddle: PageFunctions['showMiddle'] = (selector) => middleOf(findVisible(selector)[0]!)

export const showNextMiddle: PageFunctions['showNextMiddle'] = (selector) => {
  const clicked = recall('tintypeClicked') ?? remember('tintypeClicked', new WeakSet())
  const element = findVisible(selector).find((one) => !clicked.has(one))
  if (!element) return null
  clicked.add(element)
  return middleOf(element)
}

export const scrollToMiddle: PageFunctions['scrollToMiddle'] = (selector) =>
  findVisible(selector)[0]?.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' })

export const scrollToTop: PageFunctions['scrollToTop'] = (selector, adjustTop) => {
  findVisible(selector)[0]?.scrollIntoView({ block: 'start', inline: 'nearest', behavior: 'instant' })
  scrollBy({ top: adjustTop, left: 0, behavior: 'instant' })
}

export const scrollToPosition: PageFunctions['scrollToPosition'] = (x, y) => scrollTo({ left: x, top: y, behavior: 'instant' })
