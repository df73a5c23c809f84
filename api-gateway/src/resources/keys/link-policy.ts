import { LINK_HOST, type LinkPolicySpec, MAX_LINK_HOST_LENGTH, MAX_LINK_HOSTS, MAX_LINK_OPTIONS } from '@tintype/crds/kinds/api-key'
import { toCamelCase, toSnakeCase } from '@tintype/crds/text/snake-case'
import { z } from 'zod'
import type { Problem } from '../../common/errors.ts'
import { name } from '../../http/named-schemas.ts'
import { unknownName } from '../../http/problems.ts'
import { findDuplicateProblems } from '../../http/read-body.ts'
import { captureOptionFields, recordOptions } from '../screenshots/options/options-body.ts'

// The limits that the owner of a key sets for its links. The API has snake_case names of options, and the ApiKey has camelCase names.

const hosts = z
  .array(
    z
      .string()
      .max(MAX_LINK_HOST_LENGTH)
      .regex(LINK_HOST, { error: 'must be a host name in lower case, such as example.com, or *.example.com for its subdomains' }),
  )
  .max(MAX_LINK_HOSTS)
  .meta({ uniqueItems: true })
const options = z.array(z.string().max(64)).max(MAX_LINK_OPTIONS).meta({ uniqueItems: true })

const HOSTS_TEXT = 'Hosts of pages that links may capture; *.example.com stands for all subdomains. Null: all. An empty list: none.'
const MARKUP_TEXT =
  'Whether links may have markup of their own: html, markdown, styles, style_urls, pdf_header_template and pdf_footer_template. Null: only if allowed_hosts is null.'
const OPTIONS_TEXT = 'Names of options that links may have. Null: all that links support. An empty list: none.'

/** The field `link_policy` of a body. */
export const LinkPolicyBody = name(
  'LinkPolicyRequest',
  z
    .strictObject({
      allowed_hosts: hosts.nullable().optional().describe(HOSTS_TEXT),
      allowed_options: options.nullable().optional().describe(OPTIONS_TEXT),
      allow_own_markup: z.boolean().nullable().optional().describe(MARKUP_TEXT),
    })
    .describe('Limits of the signed links of the key. It replaces the earlier limits as a whole.'),
)
export type LinkPolicyBody = z.infer<typeof LinkPolicyBody>

/** The field `link_policy` of a record. */
export const LinkPolicyRecord = name(
  'LinkPolicy',
  z
    .object({
      allowed_hosts: z.array(z.string()).nullable().describe(HOSTS_TEXT),
      allowed_options: z.array(z.string()).nullable().describe(OPTIONS_TEXT),
      allow_own_markup: z.boolean().nullable().describe(MARKUP_TEXT),
    })
    .describe('Limits of the signed links of a key.'),
)
export type LinkPolicyRecord = z.infer<typeof LinkPolicyRecord>

const optionNames = [...Object.keys(captureOptionFields), ...Object.keys(recordOptions)]

/** Finds duplicates and unknown options. */
export function findLinkPolicyProblems({ allowed_hosts, allowed_options }: LinkPolicyBody): Problem[] {
  const unknown = (allowed_options ?? []).flatMap((option, index): Problem[] => {
    if (optionNames.includes(option)) return []
    const path = `link_policy.allowed_options[${index}]`
    return [{ path, code: 'invalid_value', message: `${path}: ${unknownName('', option, { '': optionNames }).message}` }]
  })
  return [
    ...findDuplicateProblems('link_policy.allowed_hosts', allowed_hosts ?? []),
    ...findDuplicateProblems('link_policy.allowed_options', allowed_options ?? []),
    ...unknown,
  ]
}

/** The policy of a new key. Undefined: no limits. */
export function toLinkPolicySpec(policy: LinkPolicyBody | null | undefined): LinkPolicySpec | undefined {
  const { allowed_hosts, allowed_options, allow_own_markup } = policy ?? {}
  const spec: LinkPolicySpec = {
    ...(allowed_hosts ? { allowedHosts: allowed_hosts } : {}),
    ...(allowed_options ? { allowedOptions: allowed_options.map(toCamelCase) } : {}),
    ...(typeof allow_own_markup === 'boolean' ? { allowOwnMarkup: allow_own_markup } : {}),
  }
  return Object.keys(spec).length > 0 ? spec : undefined
}

/** The merge patch that replaces the policy of a key. Null removes a limit. */
export function toLinkPolicyPatch(policy: LinkPolicyBody | null): Record<string, unknown> | null {
  const spec = toLinkPolicySpec(policy)
  if (spec === undefined) return null
  return { allowedHosts: null, allowedOptions: null, allowOwnMarkup: null, ...spec }
}

/** The policy for a record. Null: no limits. */
export function toLinkPolicyRecord({ allowedHosts, allowedOptions, allowOwnMarkup }: LinkPolicySpec = {}): LinkPolicyRecord | null {
  if (!allowedHosts && !allowedOptions && allowOwnMarkup === undefined) return null
  return {
    allowed_hosts: allowedHosts ?? null,
    allowed_options: allowedOptions?.map(toSnakeCase) ?? null,
    allow_own_markup: allowOwnMarkup ?? null,
  }
}
