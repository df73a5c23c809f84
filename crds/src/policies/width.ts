import { isAddressLiteral } from '../addresses/address-rules.ts'
import type { CapturePolicySpec } from '../kinds/capture-policy.ts'

// Compares and combines capture policies. A policy that is absent limits nothing.

type Policy = CapturePolicySpec | undefined
/** The fields of a policy, in the order in which they are compared. */
export type PolicyField = keyof CapturePolicySpec

const WILDCARD = '*.'

/** True if a pattern matches every host that another one matches. `*.example.com` matches neither `example.com` nor an address. */
const covers = (wide: string, narrow: string): boolean =>
  wide === narrow || (wide.startsWith(WILDCARD) && narrow.replace(/^\*/, '').endsWith(wide.slice(1)) && !isAddressLiteral(narrow))

/** True if a list of patterns allows everything that another list allows. An absent list allows everything. */
function coversHosts(wide: readonly string[] | undefined, narrow: readonly string[] | undefined): boolean {
  if (wide === undefined) return true
  return narrow?.every((pattern) => wide.some((one) => covers(one, pattern))) ?? false
}

/**
 * Whether a policy allows content that is not of the page, such as html or scripts. Without a choice of its own, a policy that limits hosts
 * refuses it, because it could show anything under the name of an allowed host.
 */
export const allowsOwnContent = ({ allowOwnContent, allowedHosts }: CapturePolicySpec): boolean =>
  allowOwnContent ?? allowedHosts === undefined

/**
 * The first field in which a policy allows less than another one. Undefined: it is at least as wide. The fields are compared one by one, and
 * each pattern of a list must be within one pattern of the other list.
 */
export function findNarrowerField(policy: Policy, other: Policy): PolicyField | undefined {
  const [own, wanted] = [policy ?? {}, other ?? {}]
  if (!coversHosts(own.allowedHosts, wanted.allowedHosts)) return 'allowedHosts'
  if (!coversHosts(own.allowedRequestHosts, wanted.allowedRequestHosts)) return 'allowedRequestHosts'
  const areOptionsCovered =
    own.allowedOptions === undefined || (wanted.allowedOptions?.every((name) => own.allowedOptions?.includes(name)) ?? false)
  if (!areOptionsCovered) return 'allowedOptions'
  return allowsOwnContent(wanted) && !allowsOwnContent(own) ? 'allowOwnContent' : undefined
}

/** True if a policy allows everything that another one allows. */
export const isAtLeastAsWide = (policy: Policy, other: Policy): boolean => findNarrowerField(policy, other) === undefined

/** The hosts that two lists allow. Undefined: both allow all. Two patterns have hosts in common only if one of them is within the other. */
export function intersectHosts(one: readonly string[] | undefined, other: readonly string[] | undefined): string[] | undefined {
  if (one === undefined || other === undefined) return (one ?? other)?.slice()
  const within = (list: readonly string[], outer: readonly string[]) =>
    list.filter((pattern) => outer.some((wide) => covers(wide, pattern)))
  return [...new Set([...within(one, other), ...within(other, one)])]
}
