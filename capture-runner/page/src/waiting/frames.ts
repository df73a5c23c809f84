import type { PageFunctions } from '../../../src/page/functions.ts'
import { recall, remember } from '../shared/state.ts'

/** An animation without a target, which the browser starts with the next frame. */
function startAnimation(): Animation {
  const animation = new Animation(new KeyframeEffect(null, null, 1))
  animation.play()
  return animation
}

export const nextFrame: PageFunctions['nextFrame'] = async () => {
  await startAnimation().ready
}

export const requestFrame: PageFunctions['requestFrame'] = () => {
  remember('tintypeFrame', startAnimation())
}

export const isFramePending: PageFunctions['isFramePending'] = () => recall('tintypeFrame')?.pending ?? false

export const readFrameTime: PageFunctions['readFrameTime'] = () => Number(document.timeline.currentTime)
