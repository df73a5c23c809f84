import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf } from '../shared/dom.ts'

export const restInMarquees: PageFunctions['restInMarquees'] = (...roots: ShadowRoot[]) => {
  for (const root of roots) {
    const isSliding = attributeOf(root.host, 'behavior')?.toLowerCase() === 'slide'
    for (const animation of root.getAnimations()) {
      const end = animation.effect?.getComputedTiming().endTime
      animation.pause()
      if (typeof end === 'number') animation.currentTime = isSliding ? end : end / 2
    }
  }
}
