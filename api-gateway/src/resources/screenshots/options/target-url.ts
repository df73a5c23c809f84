import { classifyUrl, type EgressRules, isAllowedHost, toCanonicalHost } from '@tintype/crds/addresses/address-rules'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { PrivateOptions } from '@tintype/crds/options/private'
import { MAX_URL_LENGTH, TargetUrl } from '@tintype/crds/schema/fields'
import { z } from 'zod'
import type { Problem } from '../../../common/errors.ts'
import { isObject } from '../../../http/body.ts'

/** Schema of a URL to capture, for the OpenAPI document. {@link evaluateTarget} checks the URL, so that each problem gets one clear message. */
export const documentedUrl = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .meta({ format: 'uri' })
  .describe(
    'URL of the page: public, http or https, at most 8192 characters. User name and password in it are used for basic authentication and are never shown.',
  )

/** A problem with a URL. `url_not_allowed` has its own error code. */
export interface TargetProblem {
  code: 'too_big' | 'invalid_url' | 'unsupported_scheme' | 'host_required' | 'credentials_in_url' | 'url_not_allowed'
  message: string
}

export type Target = { url: string } | { problem: TargetProblem }

const problem = (code: TargetProblem['code'], message: string): Target => ({ problem: { code, message } })

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const CONTROL = /[\u0000-\u001f\u007f]/

/** Evaluates a URL to capture, without DNS. The runner's egress proxy checks the resolved addresses. */
export function evaluateTarget(text: string, rules: EgressRules): Target {
  if (text.length > MAX_URL_LENGTH) return problem('too_big', `the url must be at most ${MAX_URL_LENGTH} characters long`)
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? []
  if (scheme === undefined) return problem('invalid_url', 'the url must start with http:// or https://')
  if (!/^https?$/i.test(scheme)) return problem('unsupported_scheme', 'the url must be http or https')
  if (CONTROL.test(text)) return problem('invalid_url', 'the url must not contain control characters')
  const authority = /^\/\/([^/?#\\]*)/.exec(rest)?.[1] ?? ''
  if (authority.includes('@'))
    return problem('credentials_in_url', 'the url must not contain a user name or password, because it is stored and shown unchanged')
  if (authority === '' || authority.startsWith(':')) return problem('host_required', 'the url must contain a host')
  // Browsers accept the scheme in upper case; the CRD schema does not.
  const url = `${scheme.toLowerCase()}:${rest}`
  if (!URL.canParse(url) || !TargetUrl.safeParse(url).success) return problem('invalid_url', 'the url is invalid')
  const decision = classifyTarget(url, rules)
  return decision.allowed ? { url } : problem('url_not_allowed', decision.reason)
}

/** `localhost` is always rejected, because no list of allowed names can open loopback. */
function classifyTarget(url: string, rules: EgressRules) {
  const host = toCanonicalHost(new URL(url).hostname) ?? ''
  const isLoopbackName = isAllowedHost(host, { allowedHosts: ['localhost', '*.localhost'] })
  return classifyUrl(url, isLoopbackName ? { ...rules, allowedHosts: [] } : rules)
}

// Splits `https://user:password@host/`: the credentials become private options, so that no object, record or log contains them.

const AUTHORITY = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#\\]*)@/i

/** A URL to capture, and the credentials that it contained. */
export interface EvaluatedUrl {
  url: string
  credentials?: PrivateOptions
  /** Problem of the URL, whose `url` is empty then, or of its credentials. */
  problem?: Problem
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A single percent sign is literal, as in browsers.
    return text
  }
}

/** Removes user name and password from a URL. They end at the last `@` before the path, as in browsers. */
function splitCredentials(text: string): { text: string; credentials?: PrivateOptions } {
  const [whole, scheme = '', userinfo = ''] = AUTHORITY.exec(text) ?? []
  if (whole === undefined) return { text }
  const rest = scheme + text.slice(whole.length)
  const [user = '', ...password] = userinfo.split(':')
  if (userinfo === '' || userinfo === ':') return { text: rest }
  return { text: rest, credentials: { basicAuthUsername: decode(user), basicAuthPassword: decode(password.join(':')) } }
}

/** Separates a URL of a page from its credentials, and checks both. @param path the field of the request that contains it */
export function evaluateUrl(given: string, path: string, rules: EgressRules): EvaluatedUrl {
  const { text, credentials } = splitCredentials(given)
  const target = evaluateTarget(text, rules)
  if (!('url' in target)) return { url: '', problem: { path, ...target.problem } }
  if (!credentials) return target
  const issue = PrivateOptions.safeParse(credentials).error?.issues[0]
  if (issue === undefined) return { ...target, credentials }
  const isFormat = issue.code === 'invalid_format'
  const tooLong = 'user name and password in the url must be at most 1024 characters long each'
  const message = isFormat ? `the user name in the url ${issue.message}` : tooLong
  return { ...target, credentials, problem: { path, code: isFormat ? 'invalid_format' : 'too_big', message } }
}

// Splits `http://user:password@proxy/`, the form of other services, in the same way.

/** Removes user name and password from `options.proxy` of a body. */
export function splitProxy(body: unknown): { body: unknown; credentials: PrivateOptions } {
  if (!isObject(body) || !isObject(body.options) || typeof body.options.proxy !== 'string') return { body, credentials: {} }
  const { text, credentials } = splitCredentials(body.options.proxy)
  return {
    body: { ...body, options: { ...body.options, proxy: text } },
    credentials: credentials
      ? { proxyUsername: credentials.basicAuthUsername ?? '', proxyPassword: credentials.basicAuthPassword ?? '' }
      : {},
  }
}

/** Checks the URLs of a proxy and of a custom object store, with the same egress rules as for pages, and the credentials of the proxy. */
export function findProxyProblems({ proxy, storageEndpoint }: CaptureOptions, credentials: PrivateOptions, rules: EgressRules): Problem[] {
  const given = { 'options.proxy': proxy, 'options.storage_endpoint': storageEndpoint }
  const ofUrls = Object.entries(given).flatMap(([path, url]) => {
    const target = evaluateTarget(url?.replace(/^[a-z0-9]+:/, 'http:') ?? 'http://example.com/', rules)
    return 'url' in target ? [] : [{ path, ...target.problem }]
  })
  if (PrivateOptions.safeParse(credentials).success) return ofUrls
  const message = 'user name and password in options.proxy must be at most 256 characters long each'
  return [...ofUrls, { path: 'options.proxy', code: 'too_big', message }]
}
