import { z } from 'zod'
import { framesOf, type VideoLength } from '../output/video.ts'
import { option, type PictureRule, pictureOption } from '../rules/option-rules.ts'
import { selector } from './texts.ts'

export { selector }

export const WaitState = z.enum(['load', 'domcontentloaded', 'networkidle', 'commit'])
export type WaitState = z.infer<typeof WaitState>

const milliseconds = (least: number, most: number, what: string) => z.int().min(least).max(most).describe(what)

const TIMEOUT_CHANGES_PICTURE: PictureRule = {
  when: 'with `best_attempt`, or if the capture waits for networkidle or, without `wait_for_selector_timeout`, for images',
  // When these waits time out, the picture is taken with a warning, even without best_attempt. A longer network_idle_timeout does not extend timeout.
  holds: ({ bestAttempt, waitUntil, scriptsWaitUntil, waitForImages, waitForSelectorTimeout }) =>
    bestAttempt === true ||
    [waitUntil, scriptsWaitUntil].flat().includes('networkidle') ||
    (waitForSelectorTimeout === undefined && waitForImages === true),
}

/** Waits, time limits and retries. */
export const waitingOptions = {
  delay: pictureOption(milliseconds(0, 60000, 'Milliseconds to wait before the picture is taken, 0 to 60000. Default: 0.')),
  timeout: option(
    { links: 'yes', picture: TIMEOUT_CHANGES_PICTURE },
    milliseconds(1000, 180000, 'Maximum time for the page to load in milliseconds, 1000 to 180000. Default: 30000.'),
  ),
  waitForSelector: pictureOption(selector('CSS selector of an element to wait for before the picture is taken. Default: none.')),
  waitUntil: pictureOption(
    z
      .array(WaitState)
      .min(1)
      .max(4)
      .describe('States to wait for within timeout: load, domcontentloaded, networkidle, commit. All must be reached. Default: load.'),
  ),
  jobTimeout: option(
    { links: 'yes', picture: 'no' },
    milliseconds(
      5000,
      600000,
      'Maximum time for a whole attempt in milliseconds, 5000 to 600000. Default: the sum of the other time limits.',
    ),
  ),
  captureTimeout: option(
    { links: 'yes', picture: 'no' },
    milliseconds(
      1000,
      600000,
      'Maximum time for taking the picture or recording the video, and for comparing it, in milliseconds, 1000 to 600000. Default: 30000, with full_page 2 more for each pixel of full_page_max_height, at most 120000; for a video 200 more for each frame, and in proportion more above 1920 × 1080, at most 600000.',
    ),
  ),
  waitForSelectorState: pictureOption(
    z
      .enum(['visible', 'attached'])
      .describe('State that wait_for_selector waits for: visible, or attached for any element in the DOM. Default: visible.'),
  ),
  waitForSelectorTimeout: pictureOption(
    milliseconds(0, 120000, 'Maximum wait in milliseconds for each selector, expression, click and hover, 0 to 120000. Default: timeout.'),
  ),
  waitForSelectorCount: pictureOption(
    z.int().min(1).max(1000).describe('Number of elements that wait_for_selector must match, 1 to 1000. Default: 1.'),
  ),
  waitForSelectorGone: pictureOption(
    selector('CSS selector that must match no visible element before the picture is taken. Default: none.'),
  ),
  waitForFunction: option(
    { links: 'no', picture: 'yes' },
    z
      .string()
      .min(1)
      .max(8192)
      .describe('JavaScript expression that must become true before the picture is taken, at most 8192 characters. Default: none.'),
  ),
  waitForFontsTimeout: pictureOption(
    milliseconds(
      0,
      30000,
      'Maximum wait in milliseconds for fonts and images in the picture after all other waits, 0 to 30000; 0 disables it. Default: 3000.',
    ),
  ),
  waitForImages: pictureOption(
    z
      .boolean()
      .describe(
        'Waits until the images in the picture are loaded, at most wait_for_selector_timeout: also backgrounds, posters, images in components, and images added meanwhile. Default: false.',
      ),
  ),
  stabilityTimeout: pictureOption(
    milliseconds(
      0,
      10000,
      'Maximum wait in milliseconds for animations, timers and late requests to end, 0 to 10000; 0 disables it. The page’s time runs faster than real time; the wait ends when either reaches the maximum. While the page gains content or receives data, it takes up to 8 seconds, with compare_to 15. With full_page, content that appears on scroll is shown too. Endless animations show the same phase in each picture. Default: 2000.',
    ),
  ),
  networkIdleTime: pictureOption(
    milliseconds(100, 10000, 'Milliseconds without a request after which networkidle is reached, 100 to 10000. Default: 500.'),
  ),
  networkIdleMaxConnections: pictureOption(
    z.int().min(0).max(10).describe('Maximum number of open requests for networkidle, 0 to 10. Default: 0.'),
  ),
  networkIdleTimeout: pictureOption(
    milliseconds(
      0,
      180000,
      'Maximum wait for networkidle in milliseconds, 0 to 180000; after it, the picture is taken with a warning. Default: timeout.',
    ),
  ),
  domIdleTime: pictureOption(
    milliseconds(0, 10000, 'Milliseconds without a DOM change before the picture is taken, 0 to 10000. Default: 0.'),
  ),
  bestAttempt: pictureOption(
    z.boolean().describe('Takes the picture with a warning if a wait times out, instead of failing the capture. Default: false.'),
  ),
  retries: option(
    { links: 'yes', picture: 'no' },
    z.int().min(0).max(5).describe('Maximum number of retries after a transient failure, 0 to 5. Default: 1.'),
  ),
  retryDelay: option(
    { links: 'yes', picture: 'no' },
    milliseconds(0, 60000, 'Milliseconds to wait before each retry, 0 to 60000. Default: 1000.'),
  ),
  blankPageAction: pictureOption(
    z
      .enum(['accept', 'retry', 'fail'])
      .describe(
        'How to handle a picture that shows nearly one color: accept keeps it, retry retries once and then keeps it with a warning, fail retries once and then fails. Default: retry.',
      ),
  ),
}

export const waitingDefaults = {
  delay: 0,
  timeout: 30000,
  waitUntil: ['load'] as WaitState[],
  waitForSelectorState: 'visible' as 'visible' | 'attached',
  waitForSelectorCount: 1,
  waitForFontsTimeout: 3000,
  waitForImages: false,
  stabilityTimeout: 2000,
  networkIdleTime: 500,
  networkIdleMaxConnections: 0,
  domIdleTime: 0,
  bestAttempt: false,
  retries: 1,
  retryDelay: 1000,
  blankPageAction: 'retry' as 'accept' | 'retry' | 'fail',
}

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
export function captureMillisecondsOf(options: CaptureTimeOptions): number {
  const { captureTimeout, fullPage, fullPageMaxHeight } = options
  if (captureTimeout !== undefined) return captureTimeout
  const frames = framesOf(options)
  if (frames > 0) return Math.min(CAPTURE_MILLISECONDS + frameMilliseconds(options) * frames, MAX_RECORDING_MILLISECONDS)
  const more = fullPage ? MILLISECONDS_PER_PIXEL * fullPageMaxHeight : 0
  return Math.min(CAPTURE_MILLISECONDS + more, MAX_CAPTURE_MILLISECONDS)
}

/** The options that decide how long a capture may take, with their defaults. */
interface CaptureTimeOptions extends VideoLength {
  captureTimeout?: number | undefined
  fullPage: boolean
  fullPageMaxHeight: number
  viewportWidth: number
  viewportHeight: number
  deviceScaleFactor: number
}

function frameMilliseconds({ viewportWidth, viewportHeight, deviceScaleFactor }: CaptureTimeOptions): number {
  const pixels = viewportWidth * viewportHeight * deviceScaleFactor ** 2
  return MILLISECONDS_PER_FRAME * Math.max(1, Math.round(pixels / USUAL_FRAME_PIXELS))
}
