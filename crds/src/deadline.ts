import { type CaptureOptions, withDefaults } from './capture-options/catalogue.ts'

/** Milliseconds that taking and encoding the picture may need. */
const CAPTURE_MILLISECONDS = 30_000
/** Milliseconds for what surrounds it: a browser to prepare, the upload. */
const MARGIN_MILLISECONDS = 30_000
const MAX_MILLISECONDS = 900_000

/** Milliseconds that one attempt on one pod may take, from dispatch to the stored file. Every request that the options allow fits in it. */
export function attemptMilliseconds(options: CaptureOptions | undefined): number {
  const { timeout, delay, waitForSelector, click } = withDefaults(options)
  const selectors = [waitForSelector, click].filter((selector) => selector !== undefined).length
  const wanted = timeout + delay + selectors * timeout + CAPTURE_MILLISECONDS + MARGIN_MILLISECONDS
  return Math.min(wanted, MAX_MILLISECONDS)
}

/** Milliseconds that an upload address outlives its attempt. */
export const UPLOAD_GRACE_MILLISECONDS = 60_000
