import { createHash } from 'node:crypto'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@tintype/crds/client/core-resources'
import type { PoolReason } from '../kube/condition-reasons.ts'

/** Whether runners are held to their own claim, and makers of objects to their own accounts, by the API server. */
export interface GuardDecision {
  guarded: boolean
  reason: Extract<PoolReason, 'PolicyInForce' | 'PolicyMissing' | 'PolicyChanged' | 'PolicyUnknown'>
  message: string
}

/** What the policy must be. */
export interface ExpectedPolicy {
  name: string
  /** See {@link policyHash}; undefined: not compared. */
  hash: string | undefined
}

/**
 * SHA-256 of all that the policy says: operations and resources of each rule, then its match conditions, variables and validations, in this
 * order, trimmed, one a line. What the API server fills in does not change it.
 */
export function policyHash({ spec }: ValidatingAdmissionPolicy): string {
  const rules = spec?.matchConstraints?.resourceRules ?? []
  const parts = [...(spec?.matchConditions ?? []), ...(spec?.variables ?? []), ...(spec?.validations ?? [])]
  const lines = [
    ...rules.map(({ operations, resources }) => `${operations?.join(',')} ${resources?.join(',')}`),
    ...parts.map(({ expression }) => expression.trim()),
  ]
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}

/** Judges the policy and the binding as the API server has them. */
export function evaluatePolicy(
  policy: ValidatingAdmissionPolicy | undefined,
  binding: ValidatingAdmissionPolicyBinding | undefined,
  { name, hash }: ExpectedPolicy,
): GuardDecision {
  if (!policy || !binding) return missing(`${policy ? 'the binding' : 'the policy'} ${name} is not there: helm upgrade puts it back`)
  if (policy.spec?.failurePolicy !== 'Fail') return changed(`the policy ${name} does not fail closed`)
  if (hash !== undefined && policyHash(policy) !== hash)
    return changed(`the rules of the policy ${name} are not those of this release: helm upgrade puts them back`)
  if (binding.spec?.policyName !== name) return changed(`the binding ${name} binds another policy`)
  if (binding.spec.matchResources !== undefined) return changed(`the binding ${name} leaves something out`)
  if (!binding.spec.validationActions?.includes('Deny')) return changed(`the binding ${name} does not deny`)
  return { guarded: true, reason: 'PolicyInForce', message: `the policy ${name} is in force` }
}

/** One decision of several: the first that is not in force, else that all are. */
export function combine(decisions: readonly GuardDecision[]): GuardDecision {
  const fault = decisions.find(({ guarded }) => !guarded)
  return fault ?? { guarded: true, reason: 'PolicyInForce', message: decisions.map(({ message }) => message).join(', ') }
}

/** Before the API server has been asked. */
export const UNKNOWN_GUARD: GuardDecision = { guarded: false, reason: 'PolicyUnknown', message: 'the API server has not been asked yet' }

const missing = (message: string): GuardDecision => ({ guarded: false, reason: 'PolicyMissing', message })
const changed = (message: string): GuardDecision => ({ guarded: false, reason: 'PolicyChanged', message })
