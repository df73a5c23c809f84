import { matchesUrl } from '../addresses/host-patterns.ts'
import type { LinkPolicySpec } from '../kinds/api-key.ts'
import type { CapturePolicySpec } from '../kinds/capture-policy.ts'
import { optionsByName } from '../options/groups.ts'
import { RECORD_OPTIONS, type RecordField } from '../options/output/delivery.ts'
import { MARKUP_URL } from '../options/page/loading.ts'
import { toCamelCase, toSnakeCase } from '../text/words.ts'
import { allowsOwnContent } from './width.ts'

// What a policy of an API key refuses before a capture: the host of its URL, and options by their names. The gateway asks for each request, and
// the operator for each run of a schedule.

/** Groups of the option policy whose options can show anything under the name of an allowed host. An own proxy answers for every host. */
const OWN_CONTENT_GROUPS: readonly (string | undefined)[] = ['scripts', 'proxy', 'ignoreHttpsErrors']

const isOwnMarkup = (option: string): boolean => optionsByName.get(option)?.facts.links === 'own_markup'
const isOwnContent = (option: string): boolean =>
  isOwnMarkup(option) || OWN_CONTENT_GROUPS.includes(optionsByName.get(option)?.facts.policy)

/** The limits of a policy, and how messages name it. */
export interface Limits {
  /** `the capture policy of key_…`. */
  owner: string
  /** Name of the policy in the REST API, and of its field that allows own content. */
  field: 'link_policy' | 'capture_policy'
  ownField: 'allow_own_markup' | 'allow_own_content'
  allowedHosts?: readonly string[] | undefined
  allowedOptions?: readonly string[] | undefined
  /** Whether it refuses an option of this name as content that is not of the page. */
  refusesContent: (option: string) => boolean
}

/** The limits of the links of a key. */
export const toLinkLimits = ({ allowedHosts, allowedOptions, allowOwnMarkup }: LinkPolicySpec = {}): Limits => ({
  ...{ owner: 'the link policy of the key', field: 'link_policy', ownField: 'allow_own_markup', allowedHosts, allowedOptions },
  refusesContent: (option) => isOwnMarkup(option) && !(allowOwnMarkup ?? allowedHosts === undefined),
})

/** The limits of the captures of a key. */
export const toCaptureLimits = (keyId: string, policy: CapturePolicySpec = {}): Limits => ({
  ...{ owner: `the capture policy of ${keyId}`, field: 'capture_policy', ownField: 'allow_own_content' },
  ...{ allowedHosts: policy.allowedHosts, allowedOptions: policy.allowedOptions },
  refusesContent: (option) => isOwnContent(option) && !allowsOwnContent(policy),
})

/** An option that a policy refuses. */
export interface OptionRefusal {
  /** The name in snake case. */
  name: string
  message: string
}

/** Finds the options that a policy refuses, by their names in camel case. An option that is false adds no content. */
export function findRefusedOptions(options: Readonly<Record<string, unknown>>, limits: Limits): OptionRefusal[] {
  const { owner, field, ownField, allowedOptions, refusesContent } = limits
  return Object.entries(options).flatMap(([option, value]): OptionRefusal[] => {
    if (value === undefined) return []
    const name = toSnakeCase(option)
    const refusal = `${owner} does not allow ${name}`
    if (allowedOptions?.includes(option) === false)
      return [{ name, message: `${refusal}. Leave it out, or add it to allowed_options of ${field}` }]
    if (value === false || !refusesContent(option)) return []
    return [{ name, message: `${refusal}, which is content of your own. Leave it out, or set ${ownField} of ${field}` }]
  })
}

/**
 * Why a policy refuses a URL; undefined: it allows it. It also decides about final URLs, after redirects. Own markup without a base URL has no
 * host; {@link findRefusedOptions} decides about it.
 * @param what names the URL in the message: `url`
 */
export function findRefusedUrl(url: string, { owner, field, allowedHosts }: Limits, what = 'url'): string | undefined {
  if (allowedHosts === undefined || url === MARKUP_URL || matchesUrl(url, allowedHosts)) return undefined
  return `${owner} does not allow the host ${URL.parse(url)?.host ?? ''} of the ${what}. Use another one, or add it to allowed_hosts of ${field}`
}

/** Options of the record by their names in camel case. Takes the fields of a Screenshot's spec. */
export const toRecordOptions = (spec: Partial<Record<RecordField, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(RECORD_OPTIONS).map(([name, field]) => [toCamelCase(name), spec[field]]))
