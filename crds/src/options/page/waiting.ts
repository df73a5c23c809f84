import { z } from 'zod'
import { choice, declare, type Facts, filled, group, integer, off, PICTURE } from '../rules/declare.ts'
import type { PictureRule } from '../rules/option-rules.ts'
import { selector } from './texts.ts'

export const WaitState = z.enum(['load', 'domcontentloaded', 'networkidle', 'commit'])
export type WaitState = z.infer<typeof WaitState>

const TIMEOUT_CHANGES_PICTURE: PictureRule = {
  when: 'with `best_attempt`, or if the capture waits for networkidle or, without `wait_for_selector_timeout`, for images',
  // When these waits time out, the picture is taken with a warning, even without best_attempt. A longer network_idle_timeout does not extend timeout.
  holds: ({ bestAttempt, waitUntil, scriptsWaitUntil, waitForImages, waitForSelectorTimeout }) =>
    bestAttempt === true ||
    [waitUntil, scriptsWaitUntil].flat().includes('networkidle') ||
    (waitForSelectorTimeout === undefined && waitForImages === true),
}

/** Waits, time limits and retries. */
export const waitingGroup = group('Waiting, limits and retries', PICTURE, {
  delay: integer(0, 60000, { default: 0 })('Milliseconds to wait before the picture is taken.'),
  timeout: integer(1000, 180000, { default: 30000, picture: TIMEOUT_CHANGES_PICTURE })(
    'Maximum time for the page to load in milliseconds.',
  ),
  waitForSelector: selector({ example: '#content' })('CSS selector of an element to wait for before the picture is taken.'),
  waitUntil: declare(z.array(WaitState).min(1).max(4), { default: ['load'], example: ['networkidle'] } satisfies Facts<WaitState[]>)(
    'States to wait for within timeout: load, domcontentloaded, networkidle, commit. All must be reached.',
  ),
  jobTimeout: integer(5000, 600000, { absent: 'the sum of the other time limits', picture: 'no' })(
    'Maximum time for a whole attempt in milliseconds.',
  ),
  captureTimeout: integer(1000, 600000, {
    absent:
      '30000, with full_page 2 more for each pixel of full_page_max_height, at most 120000; for a video 200 more for each frame, and in proportion more above 1920 × 1080, at most 600000',
    picture: 'no',
  })('Maximum time for taking the picture or recording the video, and for comparing it, in milliseconds.'),
  waitForSelectorState: choice(['visible', 'attached'], { default: 'visible' })(
    'State that wait_for_selector waits for: visible, or attached for any element in the DOM.',
  ),
  waitForSelectorTimeout: integer(0, 120000, { absent: 'timeout' })(
    'Maximum wait in milliseconds for each selector, expression, click and hover.',
  ),
  waitForSelectorCount: integer(1, 1000, { default: 1 })('Number of elements that wait_for_selector must match.'),
  waitForSelectorGone: selector({ example: '.spinner' })('CSS selector that must match no visible element before the picture is taken.'),
  waitForFunction: filled(8192, { links: 'no', policy: 'scripts', example: 'window.charts?.ready' })(
    'JavaScript expression that must become true before the picture is taken.',
  ),
  waitForFontsTimeout: integer(0, 30000, { default: 3000 })(
    'Maximum wait in milliseconds for fonts and images in the picture after all other waits; 0 disables it.',
  ),
  waitForImages: off(
    'Waits until the images in the picture are loaded, at most wait_for_selector_timeout: also backgrounds, posters, images in components, and images added meanwhile.',
  ),
  stabilityTimeout: integer(0, 10000, { default: 2000 })(
    'Maximum wait in milliseconds for animations, timers and late requests to end; 0 disables it. The page’s time runs faster than real time; the wait ends when either reaches the maximum. While the page gains content or receives data, it takes up to 8 seconds, with compare_to 15. With full_page, content that appears on scroll is shown too. Endless animations show the same phase in each picture.',
  ),
  networkIdleTime: integer(100, 10000, { default: 500 })('Milliseconds without a request after which networkidle is reached.'),
  networkIdleMaxConnections: integer(0, 10, { default: 0 })('Maximum number of open requests for networkidle.'),
  networkIdleTimeout: integer(0, 180000, { absent: 'timeout' })(
    'Maximum wait for networkidle in milliseconds; after it, the picture is taken with a warning.',
  ),
  domIdleTime: integer(0, 10000, { default: 0 })('Milliseconds without a DOM change before the picture is taken.'),
  bestAttempt: off('Takes the picture with a warning if a wait times out, instead of failing the capture.'),
  retries: integer(0, 5, { default: 1, picture: 'no' })('Maximum number of retries after a transient failure.'),
  retryDelay: integer(0, 60000, { default: 1000, picture: 'no' })('Milliseconds to wait before each retry.'),
  blankPageAction: choice(['accept', 'retry', 'fail'], { default: 'retry' })(
    'How to handle a picture that shows nearly one color: accept keeps it, retry retries once and then keeps it with a warning, fail retries once and then fails.',
  ),
})
