// rbac: admissionregistration.k8s.io/validatingadmissionpolicies get
// rbac: admissionregistration.k8s.io/validatingadmissionpolicybindings get

import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@tintype/crds/client/core-resources'
import type { Resource } from '@tintype/crds/client/resource'
import type { Requeue } from '../controller/controller.ts'
import { combine, type ExpectedPolicy, type GuardVerdict, judge, UNKNOWN_GUARD } from './verdict.ts'

export interface GuardOptions {
  policies: Pick<Resource<ValidatingAdmissionPolicy>, 'find'>
  bindings: Pick<Resource<ValidatingAdmissionPolicyBinding>, 'find'>
  expected: readonly ExpectedPolicy[]
  onChange: (verdict: GuardVerdict) => void
}

const CHECK_MILLISECONDS = 60_000
/** While nothing is dispatched it is looked at more often. */
const UNGUARDED_CHECK_MILLISECONDS = 5_000

/** Looks after the release's admission policies: at the start of each term and every minute. Nothing is dispatched without it. */
export class Guard {
  readonly #options: GuardOptions
  #verdict: GuardVerdict = UNKNOWN_GUARD

  constructor(options: GuardOptions) {
    this.#options = options
  }

  /** The last verdict. While the API server cannot be asked it stays: nothing can be claimed then either. */
  get verdict(): GuardVerdict {
    return this.#verdict
  }

  async reconcile(): Promise<Requeue> {
    const { policies, bindings, expected, onChange } = this.#options
    const verdicts = expected.map(async (each) => judge(...(await Promise.all([policies.find(each.name), bindings.find(each.name)])), each))
    const before = this.#verdict
    this.#verdict = combine(await Promise.all(verdicts))
    if (before.reason !== this.#verdict.reason || before.message !== this.#verdict.message) onChange(this.#verdict)
    return { requeueAfterMilliseconds: this.#verdict.guarded ? CHECK_MILLISECONDS : UNGUARDED_CHECK_MILLISECONDS }
  }
}
