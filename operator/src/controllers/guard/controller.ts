// rbac: admissionregistration.k8s.io/validatingadmissionpolicies get
// rbac: admissionregistration.k8s.io/validatingadmissionpolicybindings get

/**
 * This controller observes the three admission policies of the release and their bindings. It compares them with the expected policies at
 * the start of each term, then every minute, or every five seconds while they differ. It writes nothing: the dispatcher reads the decision,
 * and RunnerPools report it in the condition Guarded.
 */

import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'
import { combine, type ExpectedPolicy, evaluatePolicy, type GuardDecision, UNKNOWN_GUARD } from './decision.ts'

const CHECK_MILLISECONDS = 60_000
/** The controller checks all policies together, so its queue has only this key. */
const KEY = 'policy'
/** While nothing is dispatched, the check runs more often. */
const UNGUARDED_CHECK_MILLISECONDS = 5_000

export interface GuardController {
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
