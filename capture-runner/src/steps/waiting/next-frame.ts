import { toCall } from '../../page/call.ts'
import { pause } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

/** Page time until the next frame of a page whose clock is held. */
const FRAME_MILLISECONDS = 16

/** Waits for the next frame of the page, at most `milliseconds`. Uses no frame callback, which would count as a script of the page. */
export async function nextFrame({ tab, clock, signal }: Work, milliseconds: number): Promise<void> {
  if (clock?.isHeld) return void (await clock.advance(FRAME_MILLISECONDS, false, signal))
  // The document may be replaced meanwhile.
  const frame = tab.evaluate(toCall('nextFrame'), signal, true).catch(() => signal.throwIfAborted())
  await Promise.race([frame, pause(milliseconds, signal)])
}
