import t, { type Test } from 'tap'
import { type Secret, secrets, webhooks } from '../../../../../crds/client/kinds.ts'
import { mergePatch } from '../../../../../crds/client/resource.ts'
import { seal, toSealingKey } from '../../../../../crds/src/crypto/sealed.ts'
import type { Webhook, WebhookSpec } from '../../../../../crds/src/kinds/webhook.ts'
import { toRules } from '../../../../../operator/src/controllers/delivery/http/network.ts'
import { createWebhookController } from '../../../../../operator/src/controllers/webhook/controller.ts'
import {
  buildSigningSecret,
  evaluateSecret,
  readSigningSecret,
  sealedForWebhook,
} from '../../../../../operator/src/controllers/webhook/signing-secret.ts'
import { ACCOUNT_INDEX } from '../../../../../operator/src/kube/reflectors.ts'
import { startControllers } from '../../../../../operator/src/runtime/deps.ts'
import { eventually } from '../../../../support/eventually.ts'
import { at, aWebhook } from '../../../../support/fakes/builders.ts'
import { invalid } from '../../../../support/fakes/memory-cluster.ts'
import { startOperator } from '../../../../support/fakes/operator-stage.ts'

/** The webhook controller of a leader. */
async function start(t: Test) {
  const stage = await startOperator(t)
  stage.reflectors.webhooks.lister.addIndex(ACCOUNT_INDEX, () => 'default')
  const context = { rules: toRules(stage.deps.config.webhook), circuitBreakers: { isOpen: () => false } }
  stage.lead((term) => startControllers([createWebhookController({ ...term, ...context })]))
  const hook = () => stage.cluster.get(webhooks, 'hook')
  const add = async (given: Parameters<typeof aWebhook>[0] = {}) => {
    stage.cluster.put(webhooks, aWebhook({ status: {}, ...given }))
    await stage.settle()
  }
  const change = async (patch: Record<string, unknown>, subresource?: 'status') => {
    await stage.cluster.client(webhooks).patch('hook', mergePatch(patch), subresource ? { subresource } : {})
    await stage.settle()
  }
  return { ...stage, hook, add, change }
}
const readyOf = ({ hook }: Awaited<ReturnType<typeof start>>) => {
  const { status, reason } = hook()?.status?.conditions?.find(({ type }) => type === 'Ready') ?? {}
  return `${status} ${reason}`
}

t.test('a webhook gets a Secret before its status names it', async (t) => {
  const stage = await start(t)
  await stage.add()
  t.strictSame(stage.cluster.writes.slice(0, 2), ['create secrets', 'patch webhooks/hook/status'])
  t.match(stage.cluster.get(secrets, 'hook-signing-secret'), { type: 'tintype.dev/signing-secret', data: { 'signing-secret': /.+/ } })
  t.match(stage.hook()?.status, { activeSince: at(0).toISOString(), signingSecretName: 'hook-signing-secret' })
  t.equal(readyOf(stage), 'True Active')
})

t.test('a webhook with a private URL, or with the sealed secret of another one, is inactive with the reason', async (t) => {
  const stage = await start(t)
  const url = 'https://hooks.example.com/'
  const sealed = await seal('whsec_x', sealedForWebhook(aWebhook({ name: 'victim' })), toSealingKey(stage.deps.keys.openingKeys[0]!))
  for (const [spec, reason] of [
    [{ url: 'https://10.0.0.1/' }, 'AddressRefused'],
    [{ url: 'https://kubernetes.default.svc/' }, 'AddressRefused'],
    [{ url, signingSecrets: [{ sealed }] }, 'SecretUnreadable'],
  ] as [Partial<WebhookSpec>, string][]) {
    await stage.add({ spec })
    await eventually(reason, async () => readyOf(stage) === `False ${reason}`)
    t.equal(stage.hook()?.status?.activeSince, undefined)
  }
})

t.test('a webhook whose old name is too long for a Secret names the reason, instead of failing for ever', async (t) => {
  const stage = await start(t)
  const name = 'o'.repeat(245)
  await stage.add({ name })
  t.match(stage.cluster.get(webhooks, name)?.status?.conditions, [{ type: 'Ready', status: 'False', reason: 'InvalidName' }])
  t.notOk(stage.cluster.writes.includes('create secrets'))
})

t.test('a Secret that appears at the same moment is read in the next reconcile, not overwritten', async (t) => {
  const stage = await start(t)
  const foreign = { metadata: { name: 'hook-signing-secret' }, type: 'Opaque', data: {} } as Secret
  stage.cluster.fault = ({ verb, resource }) => {
    if (verb === 'create' && resource === 'secrets') stage.cluster.put(secrets, foreign)
    return undefined
  }
  await stage.add()
  t.equal(stage.hook()?.status?.conditions, undefined, 'nothing is written before')
  await stage.passTo(1)
  t.equal(readyOf(stage), 'False SecretConflict')
  t.equal(stage.cluster.get(secrets, 'hook-signing-secret')?.type, 'Opaque')
})

t.test('a Secret that the API server rejects is not tried again before the webhook changes', async (t) => {
  const stage = await start(t)
  stage.cluster.fault = ({ resource, verb }) => (resource === 'secrets' && verb === 'create' ? invalid('metadata.name') : undefined)
  await stage.add()
  const writes = stage.cluster.writes.length
  stage.cluster.fault = () => undefined
  await stage.passTo(500)
  t.equal(stage.cluster.writes.length, writes)
  await stage.change({ metadata: { annotations: { note: 'x' } } })
  t.equal(readyOf(stage), 'True Active')
})

t.test('the Secret of a deleted webhook is read again after two seconds, until it is gone', async (t) => {
  const stage = await start(t)
  const owner = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Webhook', name: 'hook', uid: 'another' }
  const data = { 'signing-secret': 'eHg=' }
  stage.cluster.put(secrets, {
    metadata: { name: 'hook-signing-secret', ownerReferences: [owner] },
    type: 'tintype.dev/signing-secret',
    data,
  } as Secret)
  await stage.add()
  stage.cluster.remove(secrets, 'hook-signing-secret')
  await stage.passTo(1.999)
  t.equal(readyOf(stage), 'False SecretLeftover')
  await stage.passTo(2)
  t.equal(readyOf(stage), 'True Active')
})

const DAYS = 5 * 86_400
const statistics = {
  ...{ total: 9, successful: 0, failed: 3, consecutiveFailures: 9, lastStatusCode: 503 },
  ...{ failingSince: at(0).toISOString(), lastFailureTime: at(DAYS).toISOString() },
}

t.test('an endpoint that fails for days is disabled with the reason in one write and an Event, until a person enables it', async (t) => {
  const stage = await start(t)
  await stage.add()
  await stage.passTo(DAYS)
  await stage.change({ status: { statistics } }, 'status')
  const [event, ...others] = stage.events
  t.match(event, /^Warning WebhookDisabled hook: The endpoint was disabled: every post since .* failed; the last response was 503\.$/)
  t.strictSame(others, [])
  t.equal(stage.cluster.writes.filter((write) => write === 'patch webhooks/hook').length, 1)
  const { 'tintype.dev/disabled-reason': reason, 'tintype.dev/updated-at': updatedAt } = stage.hook()?.metadata.annotations ?? {}
  t.match([stage.hook()?.spec.active, reason, updatedAt], [false, /^every post since/, at(DAYS).toISOString()])
  t.equal(readyOf(stage), 'False Disabled')
  t.match(stage.hook()?.status?.conditions, [{ message: /^Disabled: every post since/ }])
  await stage.change({ status: { statistics: null } }, 'status')
  await stage.change({ spec: { active: true } })
  t.strictSame(stage.hook()?.metadata.annotations?.['tintype.dev/disabled-reason'], undefined)
  t.equal(readyOf(stage), 'True Active')
})

t.test('a webhook that was deleted meanwhile gets no Event', async (t) => {
  const stage = await start(t)
  await stage.add({ status: { activeSince: at(0).toISOString() } })
  await stage.passTo(DAYS)
  stage.cluster.fault = ({ verb, subresource }) => {
    if (verb === 'patch' && subresource === undefined) stage.cluster.remove(webhooks, 'hook')
    return undefined
  }
  await stage.change({ status: { statistics } }, 'status')
  t.strictSame([stage.hook(), stage.events], [undefined, []])
})

t.test('an Event is recorded once when an endpoint begins to return 410', async (t) => {
  const stage = await start(t)
  await stage.add()
  for (const total of [1, 2])
    await stage.change(
      { status: { statistics: { ...statistics, failingSince: at(0).toISOString(), lastStatusCode: 410, total } } },
      'status',
    )
  t.match(stage.events, [/^Warning EndpointGone hook: .*Update spec.url/])
  t.equal(stage.events.length, 1)
})

t.test('an Event is recorded once when a webhook keeps a Secret without a label', async (t) => {
  const stage = await start(t)
  const data = { 'signing-secret': 'eHg=' }
  stage.cluster.put(secrets, { metadata: { name: 'hook-signing-secret' }, type: 'tintype.dev/signing-secret', data } as Secret)
  await stage.add({ status: { activeSince: at(0).toISOString(), signingSecretName: 'hook-signing-secret' } })
  await stage.passTo(100)
  t.match(stage.events, [/^Warning SecretLabelMissing hook: .*kubectl/])
  t.equal(stage.events.length, 1)
  t.equal(readyOf(stage), 'True Active')
})

const hook = aWebhook({ status: {} })
const made = buildSigningSecret(hook, 'whsec_abc') as Secret

t.test('buildSigningSecret creates a Secret that is owned by its webhook', async (t) => {
  t.match(made, {
    metadata: {
      name: 'hook-signing-secret',
      labels: { 'tintype.dev/account': 'default' },
      ownerReferences: [{ kind: 'Webhook', name: 'hook', uid: hook.metadata.uid, controller: true }],
    },
    type: 'tintype.dev/signing-secret',
  })
  t.equal(readSigningSecret(made, hook), 'whsec_abc')
})

/** A Secret that a user created for the webhook. */
const prepared = (labels?: Record<string, string>, uid = 'secret-1'): Secret => ({
  ...made,
  metadata: { name: 'hook-signing-secret', uid, ...(labels ? { labels } : {}) },
})

const cases: { name: string; secret: Secret | undefined; is: ReturnType<typeof evaluateSecret> }[] = [
  { name: 'its own', secret: made, is: 'usable' },
  { name: 'one that a user created with the label of the account', secret: prepared({ 'tintype.dev/account': 'default' }), is: 'usable' },
  { name: 'one without a label', secret: prepared(), is: 'unlabeled' },
  { name: 'one with the label of another account', secret: prepared({ 'tintype.dev/account': 'acme' }), is: 'unlabeled' },
  { name: 'none', secret: undefined, is: 'missing' },
  { name: 'one of another type', secret: { ...made, type: 'Opaque' }, is: 'foreign' },
  { name: 'one without a text', secret: { ...made, data: {} }, is: 'foreign' },
  { name: 'that of a deleted webhook', secret: buildSigningSecret(aWebhook(), 'whsec_old') as Secret, is: 'leftover' },
]
const signingSecretName = 'hook-signing-secret'
const acme = { accountName: 'acme' }
const keptBy: [name: string, webhook: Webhook, is: ReturnType<typeof evaluateSecret>, secret?: Secret][] = [
  ['a webhook of an earlier version that signed with it', aWebhook({ status: { signingSecretName } }), 'kept'],
  ['a webhook that keeps it', aWebhook({ status: { unlabeledSecret: 'secret-1 default' } }), 'kept'],
  ['a new webhook', aWebhook({ status: {} }), 'unlabeled'],
  ['a webhook that signed with a sealed secret', aWebhook({ status: { activeSince: 'then' } }), 'unlabeled'],
  ['a webhook that signed with a Secret of its own', aWebhook({ status: { signingSecretName, unlabeledSecret: '' } }), 'unlabeled'],
  [
    'a webhook that keeps another Secret of the name',
    aWebhook({ status: { signingSecretName, unlabeledSecret: 'secret-0 default' } }),
    'unlabeled',
  ],
  [
    'a webhook that was moved to another account',
    aWebhook({ spec: acme, status: { signingSecretName, unlabeledSecret: 'secret-1 default' } }),
    'unlabeled',
  ],
  [
    'a webhook of an earlier version, if its label names another account',
    aWebhook({ status: { signingSecretName } }),
    'unlabeled',
    prepared({ 'tintype.dev/account': 'acme' }),
  ],
]
for (const [name, webhook, is, secret = prepared()] of keptBy) {
  t.test(`a webhook signs with a prepared Secret of another team: without the label, it is ${is} for ${name}`, async (t) => {
    t.equal(evaluateSecret(secret, webhook), is)
    t.equal(readSigningSecret(secret, webhook), is === 'kept' ? 'whsec_abc' : undefined)
  })
}

for (const { name, secret, is } of cases) {
  t.test(`evaluateSecret reports ${name} as ${is}`, async (t) => {
    t.equal(evaluateSecret(secret, hook), is)
    if (secret && is !== 'usable') t.equal(readSigningSecret(secret, hook), undefined)
  })
}
