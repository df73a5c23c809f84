import { createHmac } from 'node:crypto'
import { currentSecret, type KeyRing } from '@tintype/crds/crypto/signatures'
import type { HostLists } from '@tintype/crds/kinds/capture-policy'
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
  /** Hosts to which the API key limits its captures. */
  policy?: HostLists | undefined
}

/** The lists without order. Absent without limits, so that the hashes of unlimited keys stay. */
function toHosts({ allowedHosts, allowedRequestHosts }: HostLists = {}): unknown[] {
  const lists = [allowedHosts, allowedRequestHosts].map((hosts) => (hosts ? [...new Set(hosts)].sort() : null))
  return lists.some((list) => list !== null) ? [lists] : []
}

type Options = Readonly<Record<string, unknown>>

function changesPicture(name: string, options: Options): boolean {
  const { picture: rule, isLater, default: usual } = optionsByName.get(name)?.facts ?? {}
  if (isLater && options[name] === usual) return false
  return typeof rule === 'object' ? rule.holds(options) : rule !== 'no'
}

const toRelevantOptions = (options: Options): Options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => changesPicture(name, options)))

/**
 * The cache key of a request: equal for requests that must produce the same picture. It is an HMAC because private options are part of it, and
 * someone with read access to the bucket must not be able to guess them. The hosts that the key allows are part of it, because redirects and frames
 * of the same page may be refused for one key and not for another.
 */
export function cacheHash({ account, url, options, privateOptions = {}, cacheKey = '', policy }: PictureRequest, ring: KeyRing): string {
  const relevant = [toRelevantOptions(withDefaults(options)), toRelevantOptions(privateOptions)]
  const content = canonical([account, url, ...relevant, cacheKey, ...toHosts(policy)])
  return createHmac('sha256', currentSecret(ring))
    .update(`cache\n${JSON.stringify(content)}`)
    .digest('hex')
}
