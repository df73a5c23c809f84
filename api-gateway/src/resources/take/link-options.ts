import type { LinkPolicySpec } from '@tintype/crds/kinds/api-key'
import { isOfOptionGroup } from '@tintype/crds/options/policy'
import { privateOptionNames } from '@tintype/crds/options/private'
import { toCamelCase } from '@tintype/crds/text/snake-case'
import { ApiError, type Problem } from '../../common/errors.ts'

// What a link may ask for. Everyone who sees a page can read its links, so a link must not carry secrets, run code, use proxies or stores, call other
// servers, or force a new capture with each request.

const CALLBACKS = ['webhook_url', 'webhook_events']

/** True if no link may have this option with this value. The command line client leaves such options out. */
export const isRefusedInLinks = (name: string, value: unknown): boolean =>
  privateOptionNames.includes(toCamelCase(name)) ||
  isOfOptionGroup(toCamelCase(name), ['proxy', 'scripts', 'storage']) ||
  CALLBACKS.includes(name) ||
  name.startsWith('compare_') ||
  (name === 'cache' && value === false) ||
  (name === 'cache_refresh' && value === true)

/** Refuses options that links must not have. @throws ApiError OPTION_NOT_ALLOWED that lists them */
export function assertLinkOptions(options: Readonly<Record<string, unknown>>, { allowedOptions }: LinkPolicySpec): void {
  const refused = Object.entries(options).flatMap(([name, value]): Problem[] => {
    if (isRefusedInLinks(name, value)) {
      return [{ path: name, code: 'not_allowed', message: `${name} cannot be used in a link. Use POST /screenshots.` }]
    }
    if (allowedOptions === undefined || allowedOptions.includes(toCamelCase(name))) return []
    return [{ path: name, code: 'not_allowed', message: `the link policy of the key does not allow ${name}` }]
  })
  if (refused.length === 0) return
  throw new ApiError('OPTION_NOT_ALLOWED', refused.map(({ message }) => message).join('; '), { details: refused })
}

const WILDCARD = '*.'

/** True if a pattern of a link policy matches a host. `*.example.com` matches subdomains only. */
function matchesHost(host: string, pattern: string): boolean {
  const expected = pattern.toLowerCase()
  return expected.startsWith(WILDCARD) ? host.endsWith(expected.slice(1)) && host.length > expected.length - 1 : host === expected
}

/** True if the policy allows pages of this URL's host. It also decides about the final URL, after redirects. */
export function isHostAllowed(url: string, { allowedHosts }: LinkPolicySpec): boolean {
  if (allowedHosts === undefined) return true
  const host = URL.parse(url)?.hostname.replace(/\.$/, '') ?? ''
  return allowedHosts.some((pattern) => matchesHost(host, pattern))
}
