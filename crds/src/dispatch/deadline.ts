import { type CaptureOptions, type EffectiveOptions, withDefaults } from '../options/catalogue.ts'
import { captureMillisecondsOf, STABILITY_WALL_MILLISECONDS } from '../options/page/waiting.ts'

/** Milliseconds for what surrounds the capture: a browser to prepare, the upload. */
const MARGIN_MILLISECONDS = 30_000
/** For a copy in another store, with its repetitions. */
const COPY_MILLISECONDS = 60_000
const MAX_MILLISECONDS = 900_000

/**
 * Milliseconds that one attempt on one pod may take, from dispatch to the stored file. Every request that the options allow fits in it, unless
 * they bound the whole themselves. Repetitions (`retries`) have what is left of it.
 */
export function attemptMilliseconds(options: CaptureOptions | undefined): number {
  const effective = withDefaults(options)
  const { timeout, delay, jobTimeout, storageBucket } = effective
  if (jobTimeout !== undefined) return jobTimeout
  const copyMilliseconds = storageBucket === undefined ? 0 : COPY_MILLISECONDS
  const stability = effective.stabilityTimeout > 0 ? STABILITY_WALL_MILLISECONDS : 0
  const steps = timeout + delay + waitMilliseconds(effective) + stability + captureMillisecondsOf(effective) + copyMilliseconds
  return Math.min(steps + MARGIN_MILLISECONDS, MAX_MILLISECONDS)
}

/** For the elements and expressions that are waited for. */
function waitMilliseconds(options: EffectiveOptions): number {
  const { waitForSelector, waitForSelectorGone, waitForFunction, click, hover, scrollIntoView, selector, timeout } = options
  const all = [waitForSelector, waitForSelectorGone, waitForFunction, click, hover, scrollIntoView, selector]
  const awaited = all.filter((what) => what !== undefined)
  return awaited.length * (options.waitForSelectorTimeout ?? timeout) + scrollMilliseconds(options)
}

/** For one scroll besides its rest. */
const SCROLL_MILLISECONDS = 300

function scrollMilliseconds(options: EffectiveOptions): number {
  const { fullPageScroll, fullPageScrollBy, fullPageMaxScrolls, fullPageMaxHeight, viewportHeight, fullPageScrollDelay } = options
  if (!fullPageScroll) return 0
  const scrolls = fullPageMaxScrolls ?? Math.ceil(fullPageMaxHeight / (fullPageScrollBy ?? Math.max(100, viewportHeight)))
  return scrolls * (fullPageScrollDelay + SCROLL_MILLISECONDS)
}

/** Milliseconds that an upload address outlives its attempt. */
export const UPLOAD_GRACE_MILLISECONDS = 60_000
