import { captureMillisecondsOf, stabilityRealMillisecondsOf } from '../options/capture-time.ts'
import { type CaptureOptions, type EffectiveOptions, withDefaults } from '../options/catalog.ts'

/** Milliseconds for the preparation of the browser and the upload. */
const MARGIN_MILLISECONDS = 30_000
/** For a copy to another store, with its retries. */
const COPY_MILLISECONDS = 60_000
const MAX_MILLISECONDS = 900_000

/**
 * Maximum milliseconds of one attempt on one pod, from dispatch to the stored file. It covers the sum of the other time limits, unless
 * `jobTimeout` is set. Retries within the attempt (`retries`) use the remaining time.
 * @param isWatched whether later runs of a schedule are compared with the picture
 */
export function attemptMilliseconds(options: CaptureOptions | undefined, isWatched = false): number {
  const effective = withDefaults(options)
  const { timeout, delay, jobTimeout, storageBucket } = effective
  if (jobTimeout !== undefined) return jobTimeout
  const copyMilliseconds = storageBucket === undefined ? 0 : COPY_MILLISECONDS
  const isCompared = isWatched || effective.compareTo !== undefined
  const stability = effective.stabilityTimeout > 0 ? stabilityRealMillisecondsOf(isCompared) : 0
  const steps = timeout + delay + waitMilliseconds(effective) + stability + captureMillisecondsOf(effective) + copyMilliseconds
  return Math.min(steps + MARGIN_MILLISECONDS, MAX_MILLISECONDS)
}

/** Milliseconds for the waits for elements and expressions. */
function waitMilliseconds(options: EffectiveOptions): number {
  const { waitForSelector, waitForSelectorGone, waitForFunction, click, hover, scrollIntoView, selector, timeout } = options
  const all = [waitForSelector, waitForSelectorGone, waitForFunction, click, hover, scrollIntoView, selector]
  const awaited = all.filter((what) => what !== undefined)
  return awaited.length * (options.waitForSelectorTimeout ?? timeout) + scrollMilliseconds(options)
}

/** Milliseconds for one scroll, without the pause after it. */
const SCROLL_MILLISECONDS = 300

function scrollMilliseconds(options: EffectiveOptions): number {
  const { fullPageScroll, fullPageScrollBy, fullPageMaxScrolls, fullPageMaxHeight, viewportHeight, fullPageScrollDelay } = options
  if (!fullPageScroll) return 0
  const scrolls = fullPageMaxScrolls ?? Math.ceil(fullPageMaxHeight / (fullPageScrollBy ?? Math.max(100, viewportHeight)))
  return scrolls * (fullPageScrollDelay + SCROLL_MILLISECONDS)
}

/** Milliseconds that an upload URL stays valid after its attempt. */
export const UPLOAD_GRACE_MILLISECONDS = 60_000
