import type { EgressRules } from '@tintype/crds/address-rules'
import type { CaptureOptions } from '@tintype/crds/capture-options/catalogue'
import type { PrivateOptions } from '@tintype/crds/capture-options/private'
import type { Problem } from '../errors.ts'
import { isObject } from './options-body.ts'
import { evaluateTarget } from './target.ts'
import { splitCredentials } from './url-credentials.ts'

// `http://user:password@proxy/`, as other services write it: user and password become private options, and no object or record holds them.

/** A body whose proxy holds no user and password, and what it held. */
export interface SplitProxy {
  body: unknown
  credentials: PrivateOptions
}

/** Takes user and password out of `options.proxy`. */
export function splitProxy(body: unknown): SplitProxy {
  if (!isObject(body) || !isObject(body.options) || typeof body.options.proxy !== 'string') return { body, credentials: {} }
  const { text, credentials } = splitCredentials(body.options.proxy)
  return {
    body: { ...body, options: { ...body.options, proxy: text } },
    credentials: credentials
      ? { proxyUsername: credentials.basicAuthUsername ?? '', proxyPassword: credentials.basicAuthPassword ?? '' }
      : {},
  }
}

/** What is wrong with the addresses of a proxy and of a store, as far as their words tell: the same rules as for a page. */
export function findProxyUrlProblems({ proxy, storageEndpoint }: CaptureOptions, rules: EgressRules): Problem[] {
  const given = { 'options.proxy': proxy, 'options.storage_endpoint': storageEndpoint }
  return Object.entries(given).flatMap(([path, address]) => {
    const target = evaluateTarget(address?.replace(/^[a-z0-9]+:/, 'http:') ?? 'http://example.com/', rules)
    return 'url' in target ? [] : [{ path, ...target.problem }]
  })
}
