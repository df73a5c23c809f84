import t from 'tap'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../../../crds/client/kinds.ts'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { combine, createGuardController, evaluatePolicy, policyHash } from '../../../../../operator/src/controllers/guard/controller.ts'
import { createClients } from '../../../../../operator/src/kube/clients.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

t.test('guard compares every policy of the release and its binding', async (t) => {
  const read: string[] = []
  const http = {
    namespace: 'tintype',
    request: async ({ path }: { path: string }) => {
      read.push(path.split('/').slice(-2).join('/'))
      throw new KubeError({ status: 404, reason: 'NotFound', message: 'not found' })
    },
  }
  const names = ['runner-status', 'trusted-spec', 'trusted-status'] as const
  const [admissionPolicy, trustedSpecPolicy, trustedStatusPolicy] = names.map((name) => ({ name, hash: undefined }))
  const config = { admissionPolicy, trustedSpecPolicy, trustedStatusPolicy }
  const { promise, resolve } = Promise.withResolvers<void>()
  const guard = createGuardController(
    { clients: createClients(http as never, {} as never), config, log: silent, controllerMetrics: undefined } as never,
    { onChange: resolve },
  )
  guard.controller.start()
  await promise
  await guard.controller.stop()
  t.match(guard.decision(), { guarded: false, reason: 'PolicyMissing' })
  const kinds = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']
  t.strictSame(read.sort(), kinds.flatMap((kind) => names.map((name) => `${kind}/${name}`)).sort())
})

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

/** A policy that matches less than that of the release. */
const narrowed = (matchConstraints: object) => aPolicy({ matchConstraints: { resourceRules: [rule], ...matchConstraints } })

type Case = [
  what: string,
  policy: ValidatingAdmissionPolicy | undefined,
  binding: ValidatingAdmissionPolicyBinding | undefined,
  reason: string,
]
const cases: Case[] = [
  ['accepts the policy and binding of this release', aPolicy(), aBinding(), 'PolicyInForce'],
  ['reports a missing policy', undefined, aBinding(), 'PolicyMissing'],
  ['reports a missing binding', aPolicy(), undefined, 'PolicyMissing'],
]
const changedPolicies: Record<string, ValidatingAdmissionPolicy> = {
  'a policy that fails open': aPolicy({ failurePolicy: 'Ignore' }),
  'other rules': aPolicy({ validations: [{ expression: 'true' }] }),
  'a policy that omits deletions': narrowed({ resourceRules: [{ ...rule, operations: ['CREATE'] }] }),
  'a policy for another namespace': narrowed({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } }),
  'a policy for some namespaces': narrowed({ namespaceSelector: { matchExpressions: [{ key: 'guarded', operator: 'Exists' }] } }),
  'a policy for some objects': narrowed({ objectSelector: { matchLabels: { guarded: 'yes' } } }),
  'a policy that excludes resources': narrowed({ excludeResourceRules: [rule] }),
}
const changedBindings: Record<string, ValidatingAdmissionPolicyBinding> = {
  'a binding of another policy': aBinding({ policyName: 'other' }),
  'a binding that only warns': aBinding({ validationActions: ['Warn'] }),
  'a binding that omits namespaces': aBinding({ matchResources: { namespaceSelector: { matchLabels: { guarded: 'yes' } } } }),
}
for (const [what, policy] of Object.entries(changedPolicies)) cases.push([`rejects ${what}`, policy, aBinding(), 'PolicyChanged'])
for (const [what, binding] of Object.entries(changedBindings)) cases.push([`rejects ${what}`, aPolicy(), binding, 'PolicyChanged'])

for (const [what, policy, binding, reason] of cases) {
  t.test(`evaluatePolicy ${what}`, async (t) => {
    const decision = evaluatePolicy(policy, binding, { name: NAME, hash })
    t.strictSame([decision.reason, decision.guarded], [reason, reason === 'PolicyInForce'])
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
