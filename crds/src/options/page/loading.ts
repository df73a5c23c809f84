import { z } from 'zod'
import { choice, declare, type Facts, filled, group, integer, off, on, PICTURE, type PictureRule, SEPARATE } from '../rules/declare.ts'
import { httpUrl, pageTexts, selector, selectors, statusRanges, urlPatterns } from '../rules/texts.ts'

/** URL of a Screenshot whose page is in the options and has no base URL. */
export const MARKUP_URL = 'about:html'

const markup = (most: number, own: Facts<string>) =>
  declare(z.string().min(1).max(most), { links: 'own_markup', isLarge: true, ...own }, `1 to ${most} characters`)

/** Source of the page, if not its URL alone. */
export const sourceGroup = group('Source of the page', PICTURE, {
  html: markup(2_097_152, { example: '<h1>Invoice 1042</h1>' })(
    'The page as HTML, instead of url. The browser still loads its resources from the network.',
  ),
  markdown: markup(1_048_576, { example: '# Invoice 1042' })(
    'The page as Markdown, instead of url. It is rendered on a white background, with tables, task lists, and headings whose ids are those of GitHub. HTML in it is shown as text.',
  ),
  htmlBaseUrl: httpUrl({ example: 'https://example.com/invoices/' })('Base URL of html or markdown for relative links, http or https.'),
  referer: httpUrl({ example: 'https://www.google.com/' })('URL in the header Referer of the page’s request, http or https.'),
  offline: off('Blocks every request of html or markdown, so that only inline content is shown.'),
})

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

/** Conditions that fail a capture. */
export const failingGroup = group('Failure conditions', SEPARATE, {
  failOnStatus: statusRanges({ example: ['404', '500-599'] })('HTTP statuses of the page that fail the capture, such as 404 or 500-511.'),
  failIfContentContains: pageTexts(20, { example: ['Access denied'] })('Texts that fail the capture if the page shows one of them.'),
  failIfContentMissing: pageTexts(20, { example: ['Add to basket'] })(
    'Texts that fail the capture if one of them is missing from the page.',
  ),
  failIfSelectorPresent: selectors(20, { example: ['.captcha'] })('CSS selectors that fail the capture if an element matches one of them.'),
  failIfRequestFailed: urlPatterns(20, { example: ['*://*/app.js'] })(
    'URL patterns of requests whose failure fails the capture; * matches any text.',
  ),
  failOnScriptError: on(
    'Fails the capture if scripts throws an error; if false, the record has a warning. A syntax error always fails the capture.',
  ),
  failOnRedirect: choice(['never', 'cross_site', 'always'], { default: 'never' })(
    'Whether a redirect to another URL fails the capture: never, cross_site or always.',
  ),
  failOnPageError: off('Fails the capture if a script of the page throws an uncaught error.'),
  failOnBotChallenge: off('Fails the capture if the site shows a bot challenge.'),
})
