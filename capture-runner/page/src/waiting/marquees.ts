import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, setStyle } from '../shared/dom.ts'

/** An animation would have a layer of its own, in which letters look different by where it was before. So the element is placed without one. */
export const restInMarquees: PageFunctions['restInMarquees'] = (...roots: ShadowRoot[]) => {
  let areAllAtRest = true
  for (const root of roots) {
    const mover = root.querySelector('div')
    if (mover?.style.willChange !== '') continue
    // Between two rounds, the last one and the next one are both there.
    const [animation, ...others] = root.getAnimations().reverse()
    for (const other of others) other.cancel()
    const end = animation?.effect?.getComputedTiming().endTime
    if (!animation || typeof end !== 'number') {
      areAllAtRest = false
      continue
    }
    animation.pause()
    animation.currentTime = attributeOf(root.host, 'behavior')?.toLowerCase() === 'slide' ? end : end / 2
    const { m41, m42 } = new DOMMatrix(getComputedStyle(mover).transform)
    animation.cancel()
    setStyle(mover, { transform: `translate(${Math.round(m41)}px, ${Math.round(m42)}px)`, 'will-change': 'auto' })
  }
  return areAllAtRest
}
