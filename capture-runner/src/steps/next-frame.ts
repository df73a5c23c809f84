import { pause } from '../race.ts'
import type { Work } from './step.ts'

/**
 * Waits until the browser has drawn a frame of the page, or for so many milliseconds. It uses no frame callback, which would count as a script of the
 * page. The page's scripts must be on and its clock must run: promises wait for both.
 */
export async function nextFrame({ tab, signal }: Work, milliseconds: number): Promise<void> {
  // The page may go away meanwhile.
  const frame = tab.look(FRAME, signal, true).catch(() => signal.throwIfAborted())
  await Promise.race([frame, pause(milliseconds, signal)])
}

/** Fulfilled by the browser itself when a frame begins the animation, which has no target. */
const FRAME = `(() => {
  const animation = new Animation(new KeyframeEffect(null, null, 1))
  animation.play()
  return animation.ready
})()`
