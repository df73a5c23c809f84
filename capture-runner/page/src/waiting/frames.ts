import type { PageFunctions } from '../../../src/page/functions.ts'

// An animation without a target, which the browser starts with the next frame.
export const nextFrame: PageFunctions['nextFrame'] = async () => {
  const animation = new Animation(new KeyframeEffect(null, null, 1))
  animation.play()
  await animation.ready
}
