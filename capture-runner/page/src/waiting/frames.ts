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

// Does not read the time of the document's timeline, which would move it to the page's clock.
export const readFrame: PageFunctions['readFrame'] = () => {
  const frame = recall('tintypeFrame')
  if (!frame) return 'none'
  return frame.startTime === null ? 'pending' : Number(frame.startTime)
}
