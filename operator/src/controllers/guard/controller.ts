// rbac: admissionregistration.k8s.io/validatingadmissionpolicies get
// rbac: admissionregistration.k8s.io/validatingadmissionpolicybindings get

import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@tintype/crds/client/core-resources'
import type { Resource } from '@tintype/crds/client/resource'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { combine, type ExpectedPolicy, evaluatePolicy, type GuardDecision, UNKNOWN_GUARD } from './decision.ts'

export interface GuardOptions {
  policies: Pick<Resource<ValidatingAdmissionPolicy>, 'find'>
  bindings: Pick<Resource<ValidatingAdmissionPolicyBinding>, 'find'>
  expected: readonly ExpectedPolicy[]
  onChange: (decision: GuardDecision) => void
}

const CHECK_MILLISECONDS = 60_000
/** While nothing is dispatched, the check runs more often. */
const UNGUARDED_CHECK_MILLISECONDS = 5_000

/**
 * Checks the admission policies of the release at the start of each term and every minute. Nothing is dispatched while they are not in
 * force.
 */
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
