import { createHmac } from 'node:crypto'
import type { KeyRing } from '@tintype/crds/crypto/download-link'
import { type CaptureOptions, withDefaults } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { canonical } from '@tintype/crds/text/canonical-json'

/** The parts of a request that the picture depends on. */
export interface PictureRequest {
  account: string
  url: string
  options?: CaptureOptions | undefined
  privateOptions?: PrivateOptions | undefined
  /** The client's own `cache_key`. */
  cacheKey?: string | undefined
}

/** Options for time limits and retries. They do not change the picture of a successful capture. */
const IRRELEVANT_OPTIONS: readonly (keyof CaptureOptions)[] = ['jobTimeout', 'captureTimeout', 'retries', 'retryDelay']

/** With best_attempt the timeout changes what is in the picture. */
const toRelevantOptions = (options: CaptureOptions): CaptureOptions => {
  const irrelevant = options.bestAttempt ? IRRELEVANT_OPTIONS : [...IRRELEVANT_OPTIONS, 'timeout']
  return Object.fromEntries(Object.entries(options).filter(([name]) => !irrelevant.includes(name as keyof CaptureOptions)))
}

/**
 * The cache key of a request: equal for requests that must produce the same picture. It is an HMAC because private options are part of it, and
 * someone with read access to the bucket must not be able to guess them.
 */
export function cacheHash(
  { account, url, options, privateOptions = {}, cacheKey = '' }: PictureRequest,
  { current, keys }: KeyRing,
): string {
  const secret = keys[current]
  if (secret === undefined) throw new Error(`the key ring has no key ${current}`)
  const content = canonical([account, url, toRelevantOptions(withDefaults(options)), privateOptions, cacheKey])
  return createHmac('sha256', Buffer.from(secret, 'base64'))
    .update(`cache\n${JSON.stringify(content)}`)
    .digest('hex')
}
