// rbac: admissionregistration.k8s.io/validatingadmissionpolicies get
// rbac: admissionregistration.k8s.io/validatingadmissionpolicybindings get

/**
 * This controller observes the three admission policies of the release and their bindings. It compares them with the expected policies at
 * the start of each term, then every minute, or every five seconds while they differ. It writes nothing: the dispatcher reads the decision,
 * and RunnerPools report it in the condition Guarded.
 */

import {
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '@tintype/crds/client/core-resources'
import { Resource } from '@tintype/crds/client/resource'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'
import { combine, type ExpectedPolicy, evaluatePolicy, type GuardDecision, UNKNOWN_GUARD } from './decision.ts'

export interface GuardOptions {
  policies: Pick<Resource<ValidatingAdmissionPolicy>, 'find'>
  bindings: Pick<Resource<ValidatingAdmissionPolicyBinding>, 'find'>
  expected: readonly ExpectedPolicy[]
  onChange: (decision: GuardDecision) => void
}

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

/** Creates the controller of one term. Call `start` on it. */
export function createGuardController(
  { http, config, log, controllerMetrics }: Pick<TermDeps, 'http' | 'config' | 'log' | 'controllerMetrics'>,
  { onChange }: { onChange: () => void },
): GuardController {
  const guard = new Guard({
    policies: new Resource(http, validatingAdmissionPolicies),
    bindings: new Resource(http, validatingAdmissionPolicyBindings),
    expected: [config.admissionPolicy, config.trustedSpecPolicy, config.trustedStatusPolicy],
    onChange: (decision) => {
      if (!decision.guarded) log.error({ reason: decision.reason, detail: decision.message }, 'dispatch blocked by admission policy check')
      onChange()
    },
  })
  const controller = createController('guard', { workers: 1 }, () => guard.reconcile(), { log, controllerMetrics })
  controller.enqueue(KEY)
  return { controller, decision: () => guard.decision }
}

/** Compares the policies of the API server with the expected ones. */
export class Guard {
  readonly #options: GuardOptions
  #decision: GuardDecision = UNKNOWN_GUARD

  constructor(options: GuardOptions) {
    this.#options = options
  }

  /** The last decision. It is kept while the API server is unreachable: nothing can be claimed then either. */
  get decision(): GuardDecision {
    return this.#decision
  }

  async reconcile(): Promise<Requeue> {
    const { policies, bindings, expected, onChange } = this.#options
    const decisions = expected.map(async (each) =>
      evaluatePolicy(...(await Promise.all([policies.find(each.name), bindings.find(each.name)])), each),
    )
    const before = this.#decision
    this.#decision = combine(await Promise.all(decisions))
    if (before.reason !== this.#decision.reason || before.message !== this.#decision.message) onChange(this.#decision)
    return { requeueAfterMilliseconds: this.#decision.guarded ? CHECK_MILLISECONDS : UNGUARDED_CHECK_MILLISECONDS }
  }
}
