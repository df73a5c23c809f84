import { createHmac } from 'node:crypto'
import { type CaptureOptions, withDefaults } from '@tintype/crds/capture-options/catalogue'
import type { PrivateOptions } from '@tintype/crds/capture-options/private'
import type { KeyRing } from '@tintype/crds/download-link'
import { canonical } from '../translate/common/canonical-json.ts'

/** What a picture depends on, as far as a request says it. */
export interface PictureRequest {
  account: string
  url: string
  options?: CaptureOptions | undefined
  privateOptions?: PrivateOptions | undefined
  /** The client's own `cache_key`. */
  cacheKey?: string | undefined
}

/** Options that say how long a capture may take and how often it is tried: a picture that came in time is the same for all of them. */
const WITHOUT_INFLUENCE: readonly (keyof CaptureOptions)[] = ['jobTimeout', 'captureTimeout', 'retries', 'retryDelay']

/** With best_attempt the page's time decides how much of it is in the picture. */
const influencing = (options: CaptureOptions): CaptureOptions => {
  const idle = options.bestAttempt ? WITHOUT_INFLUENCE : [...WITHOUT_INFLUENCE, 'timeout']
  return Object.fromEntries(Object.entries(options).filter(([name]) => !idle.includes(name as keyof CaptureOptions)))
}

/**
 * A request as the name of its picture: the same for two that differ in nothing that a picture shows, however they are written. Keyed by the
 * release's secret, for private options are in it, and whoever reads the bucket must not be able to try weak ones.
 */
export function cacheHash(
  { account, url, options, privateOptions = {}, cacheKey = '' }: PictureRequest,
  { current, keys }: KeyRing,
): string {
  const secret = keys[current]
  if (secret === undefined) throw new Error(`the key ring has no key ${current}`)
  const content = canonical([account, url, influencing(withDefaults(options)), privateOptions, cacheKey])
  return createHmac('sha256', Buffer.from(secret, 'base64'))
    .update(`cache\n${JSON.stringify(content)}`)
    .digest('hex')
}
