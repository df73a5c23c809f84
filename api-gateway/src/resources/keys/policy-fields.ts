import { HOST_PATTERN, MAX_HOST_PATTERN_LENGTH, MAX_HOST_PATTERNS } from '@tintype/crds/addresses/host-patterns'
import type { LinkPolicySpec } from '@tintype/crds/kinds/api-key'
import { type CapturePolicySpec, MAX_POLICY_BYTES, MAX_POLICY_OPTIONS, policyBytesOf } from '@tintype/crds/kinds/capture-policy'
import { applyMergePatch } from '@tintype/crds/schema/merge-patch'
import { withAsciiForm } from '@tintype/crds/text/ascii-form'
import { renameKeys, toCamelCase, toSnakeCase } from '@tintype/crds/text/words'
import { z } from 'zod'
import { invalid, type Problem } from '../../common/errors.ts'
import { findDuplicateProblems } from '../../http/body.ts'
import { name } from '../../http/fields.ts'
import { unknownName } from '../../http/problems.ts'
import { captureOptionFields, recordOptions } from '../screenshots/options/options-body.ts'

// The limits that the owner of a key sets for its links and its captures. The API has snake_case names of fields and options, and the ApiKey has
// camelCase names.

const HOST_FORM = 'must be a host name in lower case, such as example.com, or *.example.com for its subdomains'

const listOf = (item: z.ZodString, most: number) => z.array(item).max(most).meta({ uniqueItems: true }).nullable().optional()
const hosts = listOf(z.string().max(MAX_HOST_PATTERN_LENGTH).regex(HOST_PATTERN, withAsciiForm(HOST_FORM)), MAX_HOST_PATTERNS)
const options = listOf(z.string().max(64), MAX_POLICY_OPTIONS)
const flag = z.boolean().nullable().optional()
const shownList = z.array(z.string()).nullable()
const shownFlag = z.boolean().nullable()

const LINK_TEXTS = {
  allowed_hosts: 'Hosts of pages that links may capture; *.example.com stands for all subdomains. Null: all. An empty list: none.',
  allowed_options: 'Names of options that links may have. Null: all that links support. An empty list: none.',
  allow_own_markup:
    'Whether links may have markup of their own: html, markdown, styles, style_urls, pdf_header_template and pdf_footer_template. Null: only if allowed_hosts is null.',
}

/** The field `link_policy` of a body. */
export const LinkPolicyBody = name(
  'LinkPolicyRequest',
  z
    .strictObject({
      allowed_hosts: hosts.describe(LINK_TEXTS.allowed_hosts),
      allowed_options: options.describe(LINK_TEXTS.allowed_options),
      allow_own_markup: flag.describe(LINK_TEXTS.allow_own_markup),
    })
    .describe('Limits of the signed links of the key.'),
)

/** The field `link_policy` of a record. */
export const LinkPolicyRecord = name(
  'LinkPolicy',
  z
    .object({
      allowed_hosts: shownList.describe(LINK_TEXTS.allowed_hosts),
      allowed_options: shownList.describe(LINK_TEXTS.allowed_options),
      allow_own_markup: shownFlag.describe(LINK_TEXTS.allow_own_markup),
    })
    .describe('Limits of the signed links of a key.'),
)

const CAPTURE_TEXTS = {
  allowed_hosts:
    'Hosts of the page and its frames, after redirects too; *.example.com stands for all subdomains. Null: all. An empty list: none.',
  allowed_request_hosts:
    'Hosts of all requests of the page, such as images and scripts; also of URLs in options. Null: all. An empty list: none.',
  allowed_options: 'Names of options that captures may have. Null: all. An empty list: none.',
  allow_own_content:
    'Whether captures may have what can show anything under the name of an allowed host: own markup such as html and styles, scripts, an own proxy, and ignore_https_errors. Null: only if allowed_hosts is null.',
}

/** The field `capture_policy` of a body. */
export const CapturePolicyBody = name(
  'CapturePolicyRequest',
  z
    .strictObject({
      allowed_hosts: hosts.describe(CAPTURE_TEXTS.allowed_hosts),
      allowed_request_hosts: hosts.describe(CAPTURE_TEXTS.allowed_request_hosts),
      allowed_options: options.describe(CAPTURE_TEXTS.allowed_options),
      allow_own_content: flag.describe(CAPTURE_TEXTS.allow_own_content),
    })
    .describe('Limits of the captures of the key. They do not limit what the key reads.'),
)

/** The field `capture_policy` of a record. */
export const CapturePolicyRecord = name(
  'CapturePolicy',
  z
    .object({
      allowed_hosts: shownList.describe(CAPTURE_TEXTS.allowed_hosts),
      allowed_request_hosts: shownList.describe(CAPTURE_TEXTS.allowed_request_hosts),
      allowed_options: shownList.describe(CAPTURE_TEXTS.allowed_options),
      allow_own_content: shownFlag.describe(CAPTURE_TEXTS.allow_own_content),
    })
    .describe('Limits of the captures of a key.'),
)
type CapturePolicyRecord = z.infer<typeof CapturePolicyRecord>

type Body = Readonly<Record<string, readonly string[] | boolean | null | undefined>>

const optionNames = [...Object.keys(captureOptionFields), ...Object.keys(recordOptions)]
const OPTIONS = 'allowed_options'

/** Converts one kind of policy. `names` are the fields of its record. */
function policiesOf<Spec extends object, Record extends object>(field: string, names: readonly (keyof Record & string)[]) {
  const lists = (body: Body) => names.flatMap((name) => (Array.isArray(body[name]) ? [{ name, values: body[name] as string[] }] : []))
  /** Fields of the spec. Null removes a limit. */
  const toLimits = (body: Body): object => {
    const given = Object.entries(body).filter(([, value]) => value !== undefined)
    const named = given.map(([name, value]) => [name, name === OPTIONS && Array.isArray(value) ? value.map(toCamelCase) : value])
    return renameKeys(Object.fromEntries(named), toCamelCase)
  }
  /** The policy after a change. Undefined: no limits. */
  const toSpec = (body: object | null | undefined, stored: Spec | undefined = undefined): Spec | undefined => {
    const spec = body ? (applyMergePatch(stored ?? {}, toLimits(body as Body)) as Spec) : ({} as Spec)
    return Object.keys(spec).length > 0 ? spec : undefined
  }
  return {
    toSpec,
    /** Finds duplicates and unknown options. */
    findProblems: (body: object): Problem[] => [
      ...lists(body as Body).flatMap(({ name, values }) => findDuplicateProblems(`${field}.${name}`, values)),
      ...lists(body as Body).flatMap(({ name, values }) => (name === OPTIONS ? findUnknownOptions(`${field}.${name}`, values) : [])),
    ],
    /** The merge patch of the stored policy. */
    toPatch: (body: object | null, stored: Spec | undefined): object | null =>
      body && toSpec(body, stored) ? toLimits(body as Body) : null,
    /** The policy that replaces every earlier limit. */
    toWhole: <Given extends object>(body: Given): Given => ({ ...Object.fromEntries(names.map((name) => [name, null])), ...body }),
    /** The policy for a record. Null: no limits. */
    toRecord: (spec: Spec | undefined): Record | null => {
      const shown = renameKeys(spec ?? {}, toSnakeCase) as { [Name in string]?: string[] | boolean }
      if (names.every((name) => shown[name] === undefined)) return null
      const toShown = (name: string) => (name === OPTIONS ? (shown[name] as string[] | undefined)?.map(toSnakeCase) : shown[name])
      return Object.fromEntries(names.map((name) => [name, toShown(name) ?? null])) as Record
    },
  }
}

function findUnknownOptions(path: string, names: readonly string[]): Problem[] {
  return names.flatMap((option, index): Problem[] => {
    if (optionNames.includes(option)) return []
    const at = `${path}[${index}]`
    return [{ path: at, code: 'invalid_value', message: `${at}: ${unknownName('', option, { '': optionNames }).message}` }]
  })
}

export const linkPolicies = policiesOf<LinkPolicySpec, z.infer<typeof LinkPolicyRecord>>('link_policy', [
  'allowed_hosts',
  'allowed_options',
  'allow_own_markup',
])

const CAPTURE_FIELDS: (keyof CapturePolicyRecord)[] = ['allowed_hosts', 'allowed_request_hosts', 'allowed_options', 'allow_own_content']
export const capturePolicies = policiesOf<CapturePolicySpec, CapturePolicyRecord>('capture_policy', CAPTURE_FIELDS)

/** Captures carry the patterns, so all of them together are limited. @throws ApiError VALIDATION_ERROR */
export function assertPolicyLength(policy: CapturePolicySpec | undefined): void {
  if (policyBytesOf(policy ?? {}) <= MAX_POLICY_BYTES) return
  const message = `capture_policy: all hosts together must have at most ${MAX_POLICY_BYTES} characters. Use *.example.com for several hosts.`
  throw invalid([{ path: 'capture_policy', code: 'too_big', message }])
}
