import { z } from 'zod'
import { selector } from './texts.ts'

export { selector }

export const WaitState = z.enum(['load', 'domcontentloaded', 'networkidle', 'commit'])
export type WaitState = z.infer<typeof WaitState>

const milliseconds = (least: number, most: number, what: string) => z.int().min(least).max(most).describe(what)

/** When the picture is taken, and what is waited for (spec 2.2). */
export const waitingOptions = {
  delay: milliseconds(0, 60000, 'Milliseconds to wait before the picture is taken, 0 to 60000. Default: 0.'),
  timeout: milliseconds(1000, 180000, 'Milliseconds that the page may take to load, 1000 to 180000. Default: 30000.'),
  waitForSelector: selector('CSS selector of an element to wait for before the picture is taken. Default: none.'),
  waitUntil: z
    .array(WaitState)
    .min(1)
    .max(4)
    .describe('States to wait for, all of them, within timeout: load, domcontentloaded, networkidle, commit. Default: load.'),
  jobTimeout: milliseconds(
    5000,
    600000,
    'Milliseconds that a whole attempt may take, 5000 to 600000. Default: what the other options may take together.',
  ),
  captureTimeout: milliseconds(
    1000,
    120000,
    'Milliseconds that taking the picture may take, 1000 to 120000. Default: 30000, with full_page 2 more for each pixel of full_page_max_height, at most 120000.',
  ),
  waitForSelectorState: z
    .enum(['visible', 'attached'])
    .describe('Whether wait_for_selector needs a visible element or only one that is there: visible or attached. Default: visible.'),
  waitForSelectorTimeout: milliseconds(
    0,
    120000,
    'Milliseconds that each selector and expression is waited for, and each element that is clicked or hovered over, 0 to 120000. Default: timeout.',
  ),
  waitForSelectorCount: z.int().min(1).max(1000).describe('Number of elements that wait_for_selector must match, 1 to 1000. Default: 1.'),
  waitForSelectorGone: selector('CSS selector whose last visible element must be gone before the picture is taken. Default: none.'),
  waitForFunction: z
    .string()
    .min(1)
    .max(8192)
    .describe('JavaScript expression that must become true before the picture is taken, at most 8192 characters. Default: none.'),
  waitForFontsTimeout: milliseconds(
    0,
    30000,
    'Milliseconds that fonts and images in the picture may take after all else, 0 to 30000; 0: they are not waited for. Default: 3000.',
  ),
  waitForImages: z
    .boolean()
    .describe('Waits for the images in the picture up to wait_for_selector_timeout, and until they are decoded. Default: false.'),
  stabilityTimeout: milliseconds(
    0,
    10000,
    'Milliseconds of page time in which animations, timers and late requests may end before the picture is taken, 0 to 10000; 0: they are not waited for. Page time runs ahead of real time; the wait takes at most 5 seconds. With fullPage, what appears on scroll is shown too. Default: 2000.',
  ),
  networkIdleTime: milliseconds(100, 10000, 'Milliseconds without a request that count as networkidle, 100 to 10000. Default: 500.'),
  networkIdleMaxConnections: z
    .int()
    .min(0)
    .max(10)
    .describe('Requests under way that still count as none for networkidle, 0 to 10. Default: 0.'),
  networkIdleTimeout: milliseconds(
    0,
    180000,
    'Milliseconds that networkidle is waited for; after them the picture is taken with a warning, 0 to 180000. Default: timeout.',
  ),
  domIdleTime: milliseconds(
    0,
    10000,
    'Milliseconds that the elements of the page must stay as they are before the picture is taken, 0 to 10000. Default: 0.',
  ),
  bestAttempt: z.boolean().describe('Takes the picture with a warning where a wait took too long, rather than fail. Default: false.'),
  retries: z.int().min(0).max(5).describe('Further attempts after a failure that may pass, 0 to 5. Default: 1.'),
  retryDelay: milliseconds(0, 60000, 'Milliseconds before each further attempt, 0 to 60000. Default: 1000.'),
  blankPageAction: z
    .enum(['accept', 'retry', 'fail'])
    .describe(
      'What is done about a picture of one color: accept it, retry it once more and then accept it with a warning, or retry and then fail. Default: retry.',
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

/** Milliseconds of real time that `stabilityTimeout` may take, whatever the page's own clock says. */
export const STABILITY_WALL_MILLISECONDS = 5_000

const CAPTURE_MILLISECONDS = 30_000
/** A page of 25,000 pixels takes two seconds on an idle processor, and ten times that where ten others want it. */
const MILLISECONDS_PER_PIXEL = 2
const MAX_CAPTURE_MILLISECONDS = 120_000

/** Milliseconds that taking the picture may take: as chosen, else by the height that it may have. */
export function captureMillisecondsOf(options: {
  captureTimeout?: number | undefined
  fullPage: boolean
  fullPageMaxHeight: number
}): number {
  const { captureTimeout, fullPage, fullPageMaxHeight } = options
  if (captureTimeout !== undefined) return captureTimeout
  const more = fullPage ? MILLISECONDS_PER_PIXEL * fullPageMaxHeight : 0
  return Math.min(CAPTURE_MILLISECONDS + more, MAX_CAPTURE_MILLISECONDS)
}
