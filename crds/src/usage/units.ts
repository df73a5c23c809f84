import type { CaptureOptions } from '../options/catalog.ts'
import { isMoving, videoDefaults } from '../options/output/formats.ts'

/** Seconds of a video for one unit of quota. */
export const SECONDS_PER_UNIT = 10

/** Units of quota that a capture costs: 1 for a screenshot, 1 for each 10 seconds or less of a video. This is the only cost function. */
export function unitsOf({ options }: { options?: CaptureOptions | undefined }): number {
  if (!isMoving(options?.format)) return 1
  return Math.ceil((options.videoDuration ?? videoDefaults.videoDuration) / SECONDS_PER_UNIT)
}
