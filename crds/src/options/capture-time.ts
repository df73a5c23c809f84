import type { EffectiveOptions } from './catalog.ts'
import { framesOf } from './output/video.ts'

// How long parts of a capture may take.

const STABILITY_REAL_MILLISECONDS = 8_000
/** A picture that shows the middle of a movement would raise a false alarm, and comparisons are rarely urgent. */
const COMPARED_STABILITY_REAL_MILLISECONDS = 15_000

/**
 * Maximum milliseconds of real time for `stabilityTimeout`, which counts page time.
 * @param isCompared whether the picture is compared with an earlier or a later one
 */
export const stabilityRealMillisecondsOf = (isCompared: boolean): number =>
  isCompared ? COMPARED_STABILITY_REAL_MILLISECONDS : STABILITY_REAL_MILLISECONDS

const CAPTURE_MILLISECONDS = 30_000
/** A page of 25,000 pixels takes 2 s on an idle processor, and 20 s on one that ten captures share. */
const MILLISECONDS_PER_PIXEL = 2
const MAX_CAPTURE_MILLISECONDS = 120_000
/** A frame of 1920 × 1080 takes 80 ms on an idle processor. */
const MILLISECONDS_PER_FRAME = 200
const USUAL_FRAME_PIXELS = 1920 * 1080
const MAX_RECORDING_MILLISECONDS = 600_000

/** Maximum milliseconds for taking the picture: `captureTimeout`, or a limit that grows with the maximum height or the number of frames. */
export function captureMillisecondsOf(options: EffectiveOptions): number {
  const { captureTimeout, fullPage, fullPageMaxHeight } = options
  if (captureTimeout !== undefined) return captureTimeout
  const frames = framesOf(options)
  if (frames > 0) return Math.min(CAPTURE_MILLISECONDS + frameMilliseconds(options) * frames, MAX_RECORDING_MILLISECONDS)
  const more = fullPage ? MILLISECONDS_PER_PIXEL * fullPageMaxHeight : 0
  return Math.min(CAPTURE_MILLISECONDS + more, MAX_CAPTURE_MILLISECONDS)
}

function frameMilliseconds({ viewportWidth, viewportHeight, deviceScaleFactor }: EffectiveOptions): number {
  const pixels = viewportWidth * viewportHeight * deviceScaleFactor ** 2
  return MILLISECONDS_PER_FRAME * Math.max(1, Math.round(pixels / USUAL_FRAME_PIXELS))
}
