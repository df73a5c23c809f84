import type { PageFunctions, WindowShare } from '../../../src/page/functions.ts'
import { boxOf } from '../shared/dom.ts'
import { findMatches, findRoots } from '../shared/tree.ts'
import { isEndless } from './endless.ts'

export const findMovingAreas: PageFunctions['findMovingAreas'] = () => {
  const roots = findRoots(false)
  const found = findMatches('img, video, svg:has([repeatCount=indefinite], [repeatDur]), marquee', roots)
  const endless = roots.flatMap((root) => root.getAnimations()).filter(isEndless)
  found.push(...endless.map(({ effect }) => effect.target))
  return found.map(toShare)
}

export const findAreas: PageFunctions['findAreas'] = (selectors) =>
  selectors.flatMap((selector) => findMatches(selector, findRoots(false)).map(toShare))

/** The part of the window that an element covers. */
function toShare(element: Element): WindowShare {
  const { left, top, right, bottom } = boxOf(element)
  return { left: left / innerWidth, top: top / innerHeight, right: right / innerWidth, bottom: bottom / innerHeight }
}
