import type { PageFunctions } from '../../../src/page/functions.ts'
import { boxOf } from '../shared/dom.ts'
import { findMatches, findRoots } from '../shared/tree.ts'

export const findMovingAreas: PageFunctions['findMovingAreas'] = () => {
  const found = findMatches('img, video, svg:has([repeatCount=indefinite], [repeatDur]), marquee', findRoots(false))
  for (const { effect } of document.getAnimations()) {
    if (effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY && effect instanceof KeyframeEffect && effect.target)
      found.push(effect.target)
  }
  return found.map((element) => {
    const { left, top, right, bottom } = boxOf(element)
    return { left: left / innerWidth, top: top / innerHeight, right: right / innerWidth, bottom: bottom / innerHeight }
  })
}
