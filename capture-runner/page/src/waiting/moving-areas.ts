import type { PageFunctions } from '../../../src/page/functions.ts'

export const findMovingAreas: PageFunctions['findMovingAreas'] = () => {
  const found = [...document.querySelectorAll('img, video, svg:has(animate, animateTransform, animateMotion, set), marquee')]
  for (const { effect } of document.getAnimations()) {
    if (effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY && effect instanceof KeyframeEffect && effect.target)
      found.push(effect.target)
  }
  return found.map((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    return { left: left / innerWidth, top: top / innerHeight, right: right / innerWidth, bottom: bottom / innerHeight }
  })
}
