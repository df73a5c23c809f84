import { createHmac } from 'node:crypto'
import { currentSecret, type KeyRing } from '@tintype/crds/crypto/signatures'
import { type CaptureOptions, withDefaults } from '@tintype/crds/options/catalog'
import { optionsByName } from '@tintype/crds/options/groups'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { canonical } from '@tintype/crds/text/json'

/** The parts of a request that the picture depends on. */
export interface PictureRequest {
  account: string
  url: string
  options?: CaptureOptions | undefined
  privateOptions?: PrivateOptions | undefined
  /** The client's own `cache_key`. */
  cacheKey?: string | undefined
}

type Options = Readonly<Record<string, unknown>>

function changesPicture(name: string, options: Options): boolean {
  const rule = optionsByName.get(name)?.facts.picture
  return typeof rule === 'object' ? rule.holds(options) : rule !== 'no'
}

const toRelevantOptions = (options: Options): Options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => changesPicture(name, options)))

/**
 * The cache key of a request: equal for requests that must produce the same picture. It is an HMAC because private options are part of it, and
 * someone with read access to the bucket must not be able to guess them.
 */
export function cacheHash({ account, url, options, privateOptions = {}, cacheKey = '' }: PictureRequest, ring: KeyRing): string {
  const content = canonical([account, url, toRelevantOptions(withDefaults(options)), toRelevantOptions(privateOptions), cacheKey])
  return createHmac('sha256', currentSecret(ring))
    .update(`cache\n${JSON.stringify(content)}`)
    .digest('hex')
}
