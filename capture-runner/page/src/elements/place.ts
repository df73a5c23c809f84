import type { PageFunctions, Point } from '../../../src/page/functions.ts'
import { firstBoxOf } from '../shared/boxes.ts'
import { call } from '../shared/dom.ts'
import { recall, remember } from '../shared/state.ts'
import { findFirstVisible, findVisible } from '../shared/tree.ts'

function show(element: Element | undefined, block: ScrollLogicalPosition): void {
  if (element) call(element, 'scrollIntoView', { block, inline: 'nearest', behavior: 'instant' })
}

function middleOf(element: Element): Point {
  show(element, 'nearest')
  const { x, y, width, height } = firstBoxOf(element)
  return { x: x + width / 2, y: y + height / 2 }
}

export const showMiddle: PageFunctions['showMiddle'] = (selector) => {
  const element = findFirstVisible(selector)
  return element ? middleOf(element) : null
}

export const showNextMiddle: PageFunctions['showNextMiddle'] = (selector) => {
  const clicked = recall('tintypeClicked') ?? remember('tintypeClicked', new WeakSet())
  const element = findVisible(selector).find((one) => !clicked.has(one))
  if (!element) return null
  clicked.add(element)
  return middleOf(element)
}

export const scrollToMiddle: PageFunctions['scrollToMiddle'] = (selector) => show(findFirstVisible(selector), 'center')

export const scrollToTop: PageFunctions['scrollToTop'] = (selector, adjustTop) => {
  show(findFirstVisible(selector), 'start')
  scrollBy({ top: adjustTop, left: 0, behavior: 'instant' })
}

export const scrollToPosition: PageFunctions['scrollToPosition'] = (x, y) => scrollTo({ left: x, top: y, behavior: 'instant' })
