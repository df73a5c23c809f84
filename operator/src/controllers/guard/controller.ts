import { createHash } from 'node:crypto'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@tintype/crds/client/kinds'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import type { PoolReason } from '../../kube/condition-reasons.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'

// rbac: admissionregistration.k8s.io/validatingadmissionpolicies get
// rbac: admissionregistration.k8s.io/validatingadmissionpolicybindings get

/**
 * This controller observes the three admission policies of the release and their bindings. It compares them with the expected policies at
 * the start of each term, then every minute, or every five seconds while they differ. It writes nothing: the dispatcher reads the decision,
 * and RunnerPools report it in the condition Guarded.
 */

const CHECK_MILLISECONDS = 60_000
/** The controller checks all policies together, so its queue has only this key. */
const KEY = 'policy'
/** While nothing is dispatched, the check runs more often. */
const UNGUARDED_CHECK_MILLISECONDS = 5_000

interface GuardController {
  controller: Controller
  /** The last decision. Nothing is dispatched while the policies are not in force. */
  decision: () => GuardDecision
}

/** Creates the controller of one term. Call `start` on it. @param onChange called after the decision has changed */
export function createGuardController(
  deps: Pick<TermDeps, 'clients' | 'config' | 'log' | 'controllerMetrics'>,
  { onChange }: { onChange: () => void },
): GuardController {
  const { clients, config, log } = deps
  const expected = [config.admissionPolicy, config.trustedSpecPolicy, config.trustedStatusPolicy]
  // It is kept while the API server is unreachable: nothing can be claimed then either.
  let decision = UNKNOWN_GUARD
  const evaluate = async (policy: ExpectedPolicy): Promise<GuardDecision> =>
    evaluatePolicy(await clients.policies.find(policy.name), await clients.policyBindings.find(policy.name), policy)
  const reconcile = async (): Promise<Requeue> => {
    const before = decision
    decision = combine(await Promise.all(expected.map(evaluate)))
    if (before.reason !== decision.reason || before.message !== decision.message) {
      if (!decision.guarded) log.error({ reason: decision.reason, detail: decision.message }, 'dispatch blocked by admission policy check')
      onChange()
    }
    return { requeueAfterMilliseconds: decision.guarded ? CHECK_MILLISECONDS : UNGUARDED_CHECK_MILLISECONDS }
  }
  const controller = createController('guard', { workers: 1 }, reconcile, deps)
  controller.enqueue(KEY)
  return { controller, decision: () => decision }
}

/**
 * Result of the policy check: whether the API server restricts runners to their own claim, creators of objects to their own accounts, and the status to
 * the programs of the release.
 */
export interface GuardDecision {
  guarded: boolean
  reason: Extract<PoolReason, 'PolicyInForce' | 'PolicyMissing' | 'PolicyChanged' | 'PolicyUnknown'>
  message: string
}

/** The expected policy. */
interface ExpectedPolicy {
  name: string
  /** See {@link policyHash}; undefined: not compared. */
  hash: string | undefined
}

/**
 * SHA-256 of the rules of the policy: labels of its namespaces, operations and resources of each rule, then its match conditions, variables and
 * validations, in this order, trimmed, one per line. Defaults that the API server adds do not change it.
 */
export function policyHash({ spec }: ValidatingAdmissionPolicy): string {
  const { resourceRules: rules = [], namespaceSelector } = spec?.matchConstraints ?? {}
  const parts = [...(spec?.matchConditions ?? []), ...(spec?.variables ?? []), ...(spec?.validations ?? [])]
  const lines = [
    JSON.stringify(namespaceSelector?.matchLabels ?? {}),
    ...rules.map(({ operations, resources }) => `${operations?.join(',')} ${resources?.join(',')}`),
    ...parts.map(({ expression }) => expression.trim()),
  ]
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}

/** Evaluates the policy and its binding as the API server returns them. */
export function evaluatePolicy(
  policy: ValidatingAdmissionPolicy | undefined,
  binding: ValidatingAdmissionPolicyBinding | undefined,
  { name, hash }: ExpectedPolicy,
): GuardDecision {
  if (!policy || !binding) return missing(`${policy ? 'the binding' : 'the policy'} ${name} does not exist. Run helm upgrade to restore it`)
  if (policy.spec?.failurePolicy !== 'Fail') return changed(`the policy ${name} does not fail closed`)
  if (hash !== undefined && policyHash(policy) !== hash)
    return changed(`the rules of the policy ${name} differ from this release. Run helm upgrade to restore them`)
  if (isNarrowed(policy)) return changed(`the policy ${name} is limited to some objects`)
  if (binding.spec?.policyName !== name) return changed(`the binding ${name} binds another policy`)
  if (binding.spec.matchResources !== undefined) return changed(`the binding ${name} is limited to some resources`)
  if (!binding.spec.validationActions?.includes('Deny')) return changed(`the binding ${name} does not deny`)
  return { guarded: true, reason: 'PolicyInForce', message: `the policy ${name} is in force` }
}

/** No policy of the release excludes objects within its namespaces. */
function isNarrowed({ spec }: ValidatingAdmissionPolicy): boolean {
  const { namespaceSelector, objectSelector, excludeResourceRules = [] } = spec?.matchConstraints ?? {}
  const terms = [namespaceSelector?.matchExpressions, Object.keys(objectSelector?.matchLabels ?? {}), objectSelector?.matchExpressions]
  return excludeResourceRules.length > 0 || terms.some((each = []) => each.length > 0)
}

/** Combines several decisions: the first that is not guarded, else one that lists all of them. */
export function combine(decisions: readonly GuardDecision[]): GuardDecision {
  const problem = decisions.find(({ guarded }) => !guarded)
  return problem ?? { guarded: true, reason: 'PolicyInForce', message: decisions.map(({ message }) => message).join(', ') }
}

/** The decision before the first check. */
const UNKNOWN_GUARD: GuardDecision = {
  guarded: false,
  reason: 'PolicyUnknown',
  message: 'the admission policies have not been checked yet',
}

const missing = (message: string): GuardDecision => ({ guarded: false, reason: 'PolicyMissing', message })
const changed = (message: string): GuardDecision => ({ guarded: false, reason: 'PolicyChanged', message })
