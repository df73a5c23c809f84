import { classifyUrl, type EgressRules, isAllowedHost, toCanonicalHost } from '@tintype/crds/address-rules'
import type { CaptureOptions } from '@tintype/crds/capture-options/catalogue'
import { PrivateOptions } from '@tintype/crds/capture-options/private'
import { MAX_URL_LENGTH, TargetUrl } from '@tintype/crds/target-url'
import type { Problem } from '../../errors.ts'
import { isObject } from '../common/read-body.ts'

/** What is wrong with an address. `url_not_allowed` alone is not a slip of the pen: it answers with a code of its own. */
export interface TargetProblem {
  code: 'too_big' | 'invalid_url' | 'unsupported_scheme' | 'host_required' | 'credentials_in_url' | 'url_not_allowed'
  message: string
}

export type Target = { url: string } | { problem: TargetProblem }

const problem = (code: TargetProblem['code'], message: string): Target => ({ problem: { code, message } })

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

/**
 * Judges an address to capture by what it says itself: names are not resolved here. What it resolves to is the runner's
 * egress guard's to check.
 */
export function evaluateTarget(text: string, rules: EgressRules): Target {
  if (text.length > MAX_URL_LENGTH) return problem('too_big', `the url must be at most ${MAX_URL_LENGTH} characters long`)
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? []
  if (scheme === undefined) return problem('invalid_url', 'the url must begin with http:// or https://')
  if (!/^https?$/i.test(scheme)) return problem('unsupported_scheme', 'the url must be http or https')
  if (CONTROL.test(text)) return problem('invalid_url', 'the url holds control characters')
  const authority = /^\/\/([^/?#\\]*)/.exec(rest)?.[1] ?? ''
  if (authority.includes('@'))
    return problem('credentials_in_url', 'the url must not hold a user name or password: it is stored and shown as it is')
  if (authority === '' || authority.startsWith(':')) return problem('host_required', 'the url must name a host')
  // Browsers read the scheme in any case; the API server's schema does not.
  const url = `${scheme.toLowerCase()}:${rest}`
  if (!URL.canParse(url) || !TargetUrl.safeParse(url).success) return problem('invalid_url', 'the url is not a legal address')
  const decision = classifyTarget(url, rules)
  return decision.allowed ? { url } : problem('url_not_allowed', decision.reason)
}

/** No allow-list of names opens loopback, so `localhost` is refused even where every name is left to the runner. */
function classifyTarget(url: string, rules: EgressRules) {
  const host = toCanonicalHost(new URL(url).hostname) ?? ''
  const isLoopbackName = isAllowedHost(host, { allowedHosts: ['localhost', '*.localhost'] })
  return classifyUrl(url, isLoopbackName ? { ...rules, allowedHosts: [] } : rules)
}

// `https://user:password@host/`: no object, record or log holds such an address. The credentials become private options, and the
// rest is the address.

const AUTHORITY = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#\\]*)@/i

/** An address, and what it said before its host. */
export interface SplitAddress {
  text: string
  credentials?: PrivateOptions
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone percent sign stands for itself, as in browsers.
    return text
  }
}

/** Takes user name and password out of an address. The last `@` before the path ends them, as browsers read it. */
export function splitCredentials(text: string): SplitAddress {
  const [whole, scheme = '', userinfo = ''] = AUTHORITY.exec(text) ?? []
  if (whole === undefined) return { text }
  const rest = scheme + text.slice(whole.length)
  const [user = '', ...password] = userinfo.split(':')
  if (userinfo === '' || userinfo === ':') return { text: rest }
  return { text: rest, credentials: { basicAuthUsername: decode(user), basicAuthPassword: decode(password.join(':')) } }
}

/** What is wrong with the credentials of an address. */
export function findCredentialProblems(credentials: PrivateOptions | undefined, path: string): Problem[] {
  if (credentials === undefined || PrivateOptions.safeParse(credentials).success) return []
  return [{ path, code: 'too_big', message: 'user name and password in the url must be at most 1024 characters long each' }]
}

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
