import { classifyUrl, type EgressRules, isAllowedHost, toCanonicalHost } from '@tintype/crds/address-rules'
import { MAX_URL_LENGTH, TargetUrl } from '@tintype/crds/target-url'

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
