import { LINK_HOST, type LinkPolicySpec, MAX_LINK_HOST_LENGTH, MAX_LINK_HOSTS, MAX_LINK_OPTIONS } from '@tintype/crds/kinds/api-key'
import { applyMergePatch } from '@tintype/crds/schema/merge-patch'
import { withAsciiForm } from '@tintype/crds/text/ascii-form'
import { toCamelCase, toSnakeCase } from '@tintype/crds/text/words'
import { z } from 'zod'
import type { Problem } from '../../common/errors.ts'
import { definedOf } from '../../http/fields.ts'
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
      .regex(LINK_HOST, withAsciiForm('must be a host name in lower case, such as example.com, or *.example.com for its subdomains')),
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
    .describe('Limits of the signed links of the key.'),
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

/** Fields of the spec. Null removes a limit. */
function toLimits({ allowed_hosts: allowedHosts, allowed_options: names, allow_own_markup: allowOwnMarkup }: LinkPolicyBody) {
  return definedOf({ allowedHosts, allowedOptions: names === null ? null : names?.map(toCamelCase), allowOwnMarkup })
}

/** The policy of a new key. Undefined: no limits. */
export function toLinkPolicySpec(policy: LinkPolicyBody | null | undefined, stored: LinkPolicySpec = {}): LinkPolicySpec | undefined {
  const spec = policy ? (applyMergePatch(stored, toLimits(policy)) as LinkPolicySpec) : {}
  return Object.keys(spec).length > 0 ? spec : undefined
}

/** The merge patch of the stored policy. */
export const toLinkPolicyPatch = (policy: LinkPolicyBody | null, stored: LinkPolicySpec | undefined): object | null =>
  policy && toLinkPolicySpec(policy, stored) ? toLimits(policy) : null

/** The policy that replaces every earlier limit. */
export const toWholePolicy = (policy: LinkPolicyBody): LinkPolicyBody => ({
  allowed_hosts: null,
  allowed_options: null,
  allow_own_markup: null,
  ...policy,
})

/** The policy for a record. Null: no limits. */
export function toLinkPolicyRecord({ allowedHosts, allowedOptions, allowOwnMarkup }: LinkPolicySpec = {}): LinkPolicyRecord | null {
  if (!allowedHosts && !allowedOptions && allowOwnMarkup === undefined) return null
  return {
    allowed_hosts: allowedHosts ?? null,
    allowed_options: allowedOptions?.map(toSnakeCase) ?? null,
    allow_own_markup: allowOwnMarkup ?? null,
  }
}
