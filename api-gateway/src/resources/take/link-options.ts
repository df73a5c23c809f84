import { matchesUrl } from '@tintype/crds/addresses/host-patterns'
import type { LinkPolicySpec } from '@tintype/crds/kinds/api-key'
import { optionsByName } from '@tintype/crds/options/groups'
import { MARKUP_URL } from '@tintype/crds/options/page/loading'
import { isRefusedInLinks, type LinkRule } from '@tintype/crds/options/rules/declare'
import { toCamelCase } from '@tintype/crds/text/words'
import { ApiError, type Problem } from '../../common/errors.ts'

// What a link may ask for: what each option declares, and what the link policy of its key allows.

/** Without a choice of its own, a policy that limits hosts refuses own markup, because it could show anything under the name of an allowed host. */
const allowsOwnMarkup = ({ allowOwnMarkup, allowedHosts }: LinkPolicySpec): boolean => allowOwnMarkup ?? allowedHosts === undefined

function findRefusal(name: string, value: unknown, policy: LinkPolicySpec): string | undefined {
  const option = toCamelCase(name)
  const rule: LinkRule = optionsByName.get(option)?.facts.links ?? 'no'
  if (isRefusedInLinks(rule, value)) return `${name} cannot be used in a link. Use POST /screenshots.`
  if (policy.allowedOptions?.includes(option) === false) return `the link policy of the key does not allow ${name}`
  if (rule !== 'own_markup' || allowsOwnMarkup(policy)) return undefined
  return `the link policy of the key does not allow ${name}, which is markup of the link’s own. Leave it out, or set allow_own_markup in link_policy`
}

/** Refuses options that the link must not have. @throws ApiError OPTION_NOT_ALLOWED that lists them */
export function assertLinkOptions(options: Readonly<Record<string, unknown>>, policy: LinkPolicySpec): void {
  const refused = Object.entries(options).flatMap(([name, value]): Problem[] => {
    const message = findRefusal(name, value, policy)
    return message === undefined ? [] : [{ path: name, code: 'not_allowed', message }]
  })
  if (refused.length === 0) return
  throw new ApiError('OPTION_NOT_ALLOWED', refused.map(({ message }) => message).join('; '), { details: refused })
}

/**
 * True if the policy allows pages of this URL's host. It also decides about the final URL, after redirects. Own markup without a base URL has no host;
 * {@link assertLinkOptions} decides about it.
 */
export function isHostAllowed(url: string, { allowedHosts }: LinkPolicySpec): boolean {
  if (allowedHosts === undefined || url === MARKUP_URL) return true
  return matchesUrl(url, allowedHosts)
}
