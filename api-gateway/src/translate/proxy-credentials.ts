import type { EgressRules } from '@tintype/crds/address-rules'
import type { CaptureOptions } from '@tintype/crds/capture-options/catalogue'
import type { PrivateOptions } from '@tintype/crds/capture-options/private'
import type { Problem } from '../errors.ts'
import { isObject } from './options-body.ts'
import { judgeTarget } from './target.ts'
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

/** What is wrong with the proxy's address, as far as its words tell: the same rules as for a page. */
export function findProxyFaults({ proxy }: CaptureOptions, rules: EgressRules): Problem[] {
  if (proxy === undefined) return []
  const target = judgeTarget(proxy.replace(/^[a-z0-9]+:/, 'http:'), rules)
  return 'url' in target ? [] : [{ path: 'options.proxy', ...target.fault }]
}
