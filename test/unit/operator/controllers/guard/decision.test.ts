import t from 'tap'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../../../crds/client/core-resources.ts'
import { combine, evaluatePolicy, policyHash } from '../../../../../operator/src/controllers/guard/decision.ts'

const NAME = 'tintype-runner-status'

const rule = { apiGroups: ['tintype.dev'], apiVersions: ['*'], operations: ['CREATE', 'DELETE'], resources: ['webhooks'] }

const aPolicy = (spec: Partial<NonNullable<ValidatingAdmissionPolicy['spec']>> = {}): ValidatingAdmissionPolicy => ({
  metadata: { name: NAME },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'is-a-runner', expression: 'request.userInfo.username == "runner"' }],
    variables: [{ name: 'after', expression: ' object.status\n' }],
    validations: [{ expression: 'variables.after.phase == "Completed"' }],
    ...spec,
  },
})

const aBinding = (spec: Partial<NonNullable<ValidatingAdmissionPolicyBinding['spec']>> = {}): ValidatingAdmissionPolicyBinding => ({
  metadata: { name: NAME },
  spec: { policyName: NAME, validationActions: ['Deny'], ...spec },
})

const hash = policyHash(aPolicy())

const cases = [
  { name: 'accepts the policy and binding of this release', policy: aPolicy(), binding: aBinding(), reason: 'PolicyInForce' },
  { name: 'reports a missing policy', policy: undefined, binding: aBinding(), reason: 'PolicyMissing' },
  { name: 'reports a missing binding', policy: aPolicy(), binding: undefined, reason: 'PolicyMissing' },
  { name: 'rejects a policy that fails open', policy: aPolicy({ failurePolicy: 'Ignore' }), binding: aBinding(), reason: 'PolicyChanged' },
  { name: 'rejects other rules', policy: aPolicy({ validations: [{ expression: 'true' }] }), binding: aBinding(), reason: 'PolicyChanged' },
  {
    name: 'rejects a policy that omits deletions',
    policy: aPolicy({ matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE'] }] } }),
    binding: aBinding(),
    reason: 'PolicyChanged',
  },
  ...Object.entries({
    'rejects a policy for another namespace': { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } },
    'rejects a policy for some namespaces': { namespaceSelector: { matchExpressions: [{ key: 'guarded', operator: 'Exists' }] } },
    'rejects a policy for some objects': { objectSelector: { matchLabels: { guarded: 'yes' } } },
    'rejects a policy that excludes resources': { excludeResourceRules: [rule] },
  }).map(([name, narrowed]) => ({
    name,
    policy: aPolicy({ matchConstraints: { resourceRules: [rule], ...narrowed } }),
    binding: aBinding(),
    reason: 'PolicyChanged',
  })),
  { name: 'rejects a binding of another policy', policy: aPolicy(), binding: aBinding({ policyName: 'other' }), reason: 'PolicyChanged' },
  {
    name: 'rejects a binding that only warns',
    policy: aPolicy(),
    binding: aBinding({ validationActions: ['Warn'] }),
    reason: 'PolicyChanged',
  },
  {
    name: 'rejects a binding that omits namespaces',
    policy: aPolicy(),
    binding: aBinding({ matchResources: { namespaceSelector: { matchLabels: { guarded: 'yes' } } } }),
    reason: 'PolicyChanged',
  },
]
for (const { name, policy, binding, reason } of cases) {
  t.test(`evaluatePolicy ${name}`, async (t) => {
    const decision = evaluatePolicy(policy, binding, { name: NAME, hash })
    t.equal(decision.reason, reason)
    t.equal(decision.guarded, reason === 'PolicyInForce')
  })
}

t.test('evaluatePolicy does not compare rules when no hash is expected', async (t) => {
  t.ok(evaluatePolicy(aPolicy({ validations: [] }), aBinding(), { name: NAME, hash: undefined }).guarded)
})

t.test('policyHash ignores whitespace around expressions and defaults of the API server', async (t) => {
  const matchConstraints = {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    resourceRules: [{ ...rule, scope: '*' }],
  }
  const filled = aPolicy({ variables: [{ name: 'after', expression: 'object.status' }], matchConstraints })
  t.equal(policyHash(filled), hash)
  t.ok(evaluatePolicy(filled, aBinding(), { name: NAME, hash }).guarded)
})

t.test('combine is guarded only when every policy is in force, and names the one that is not', async (t) => {
  const well = evaluatePolicy(aPolicy(), aBinding(), { name: NAME, hash })
  const missing = evaluatePolicy(undefined, undefined, { name: 'tintype-trusted-spec', hash: undefined })
  t.match(combine([well, well]), { guarded: true, reason: 'PolicyInForce' })
  t.match(combine([well, missing]), { guarded: false, reason: 'PolicyMissing', message: /tintype-trusted-spec does not exist/ })
})
