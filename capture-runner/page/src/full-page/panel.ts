import type { PageFunctions } from '../../../src/page/functions.ts'
import { scrollingElement } from '../shared/scrolling.ts'

export const scrollsInside: PageFunctions['scrollsInside'] = (minShare) => {
  const root = scrollingElement() as Element | null
  if (!root || root.scrollHeight > innerHeight + 1) return false
  const isLarge = ({ clientWidth, clientHeight }: Element) => clientWidth * clientHeight >= minShare * innerWidth * innerHeight
  const scrolls = (element: Element) => {
    const { overflowY, visibility } = getComputedStyle(element)
    return /auto|scroll|overlay/.test(overflowY) && visibility === 'visible'
  }
  return [...document.querySelectorAll('body *')].some(
    (element) => element.scrollHeight > element.clientHeight + 1 && isLarge(element) && scrolls(element),
  )
}
