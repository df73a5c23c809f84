import { optionsByName } from '@tintype/crds/options/groups'
import { isRefusedInLinks, type LinkRule } from '@tintype/crds/options/rules/declare'
import type { Limits } from '@tintype/crds/policies/refusals'
import { renameKeys, toCamelCase } from '@tintype/crds/text/words'
import { ApiError, type Problem } from '../../common/errors.ts'
import { assertOptionsWithin } from '../keys/capture-limits.ts'

// What a link may ask for: what each option declares, and what the policies of its key allow.

/** Refuses options that the link must not have. @throws ApiError OPTION_NOT_ALLOWED that lists them */
export function assertLinkOptions(options: Readonly<Record<string, unknown>>, limits: readonly Limits[]): void {
  const refused = Object.entries(options).flatMap(([name, value]): Problem[] => {
    const rule: LinkRule = optionsByName.get(toCamelCase(name))?.facts.links ?? 'no'
    if (!isRefusedInLinks(rule, value)) return []
    return [{ path: name, code: 'not_allowed', message: `${name} cannot be used in a link. Use POST /screenshots.` }]
  })
  if (refused.length > 0) throw new ApiError('OPTION_NOT_ALLOWED', refused.map(({ message }) => message).join('; '), { details: refused })
  assertOptionsWithin(renameKeys(options, toCamelCase), limits)
}
