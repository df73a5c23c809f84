import t from 'tap'
import type { Webhook, WebhookSpec, WebhookStatus } from '../../../../../crds/src/kinds/webhook.ts'
import { decide, type Observed, type StatusPatch } from '../../../../../operator/src/controllers/webhook/decide.ts'
import { at, aWebhook } from '../../../../support/fakes/builders.ts'

const iso = (second: number) => at(second).toISOString()
const aHook = (status: WebhookStatus = {}, spec: Partial<WebhookSpec> = {}): Webhook => aWebhook({ status, spec })
const seen = (webhook: Webhook, more: Partial<Observed> = {}): Observed => ({ webhook, secret: 'usable', url: { allowed: true }, ...more })
const statusOf = (observed: Observed, second: number): StatusPatch | undefined =>
  decide(observed, at(second)).flatMap((action) => (action.do === 'patchStatus' ? [action.status] : []))[0]
const conditionOf = (status: 'True' | 'False', reason: string) => ({
  type: 'Ready',
  status,
  reason,
  message: '',
  lastTransitionTime: iso(0),
  observedGeneration: 1,
})

t.test('decide needs no Secret for a webhook whose spec contains its secret', async (t) => {
  const actions = decide(seen(aHook({ signingSecretName: 'hook-signing-secret' }), { secret: 'sealed' }), at(0.4))
  t.match(actions, [{ do: 'patchStatus', status: { signingSecretName: null, conditions: [{ status: 'True' }] } }])
})

t.test('decide activates a new webhook from its creation, whenever it sees it', async (t) => {
  t.match(statusOf(seen(aHook()), 0.4), { activeSince: iso(0), subscriptions: { 'screenshot.completed': iso(0) } })
  t.match(statusOf(seen(aHook()), 90), { activeSince: iso(0) }, 'an operator that was not running misses nothing')
  const waited = aHook({ conditions: [conditionOf('False', 'SecretLeftover')] })
  t.match(statusOf(seen(waited), 90), { activeSince: iso(0) }, 'the Secret of a deleted webhook of the same name does not delay it')
})

t.test('decide writes the first status of a webhook that has none', async (t) => {
  const { status: _, ...webhook } = aHook()
  t.match(statusOf(seen(webhook), 0.4), { activeSince: iso(0), conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }] })
})

t.test('decide observes generation 0 of a webhook without a generation', async (t) => {
  const { generation: _, ...metadata } = aHook().metadata
  t.match(statusOf(seen({ ...aHook(), metadata }), 0.4), { conditions: [{ observedGeneration: 0 }] })
})

t.test('decide does nothing when the status is up to date', async (t) => {
  const status = statusOf(seen(aHook()), 0.4)!
  t.strictSame(decide(seen(aHook(status as WebhookStatus)), at(60)), [])
})

t.test('decide deactivates an inactive webhook, and starts it again when it is activated', async (t) => {
  const active = aHook({ activeSince: iso(0), subscriptions: { 'screenshot.completed': iso(0) } }, { active: false })
  t.match(statusOf(seen(active), 5), { activeSince: null, subscriptions: null, conditions: [{ status: 'False', reason: 'Inactive' }] })
  const again = aHook({ conditions: [conditionOf('False', 'Inactive')] })
  t.match(statusOf(seen(again), 50), { activeSince: iso(50), subscriptions: { 'screenshot.completed': iso(50) } })
})

t.test('decide starts an added type now, keeps the others, and removes dropped types', async (t) => {
  const hook = aHook(
    { activeSince: iso(0), subscriptions: { 'screenshot.completed': iso(0), 'screenshot.queued': iso(0) } },
    { events: ['screenshot.completed', 'screenshot.failed'] },
  )
  t.strictSame(statusOf(seen(hook), 7)?.subscriptions, {
    'screenshot.completed': iso(0),
    'screenshot.failed': iso(7),
    'screenshot.queued': null,
  })
})

const obstacles: [name: string, more: Partial<Observed>, reason: string][] = [
  ['too many older webhooks', { isBeyondLimit: true }, 'TooManyWebhooks'],
  ['a Secret without the label of its account', { secret: 'unlabeled' }, 'SecretLabelMissing'],
]
for (const [name, more, reason] of obstacles) {
  t.test(`decide keeps a webhook inactive because of ${name}`, async (t) => {
    const actions = decide(seen(aHook(), more), at(1))
    t.match(actions[0], { do: 'patchStatus', status: { activeSince: null, conditions: [{ status: 'False', reason }] } })
    t.notOk(actions.some((action) => action.do === 'createSecret'))
  })
}

t.test('a webhook that was Ready before its Secret needed a label keeps it, with a condition until it has the label', async (t) => {
  const before = aHook({ activeSince: iso(0), subscriptions: { 'screenshot.completed': iso(0) }, signingSecretName: 'hook-signing-secret' })
  const kept = statusOf(seen(before, { secret: 'kept', unlabeledSecret: 'u default' }), 60)!
  const command = 'kubectl -n default label --overwrite secret hook-signing-secret tintype.dev/account=default'
  t.match(kept, {
    ...{ activeSince: iso(0), signingSecretName: 'hook-signing-secret', unlabeledSecret: 'u default' },
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'SecretLabeled', status: 'False', reason: 'SecretLabelMissing', message: new RegExp(command) },
    ],
  })
  const again = aHook(kept as WebhookStatus)
  t.match(decide(seen(again, { secret: 'kept', unlabeledSecret: 'u default' }), at(90)), [{ do: 'requeue' }], 'it is read again')
  const labeled = statusOf(seen(again), 120)!
  t.match(labeled, {
    activeSince: iso(0),
    unlabeledSecret: '',
    conditions: [{ status: 'True' }, { type: 'SecretLabeled', status: 'True' }],
  })
  const inactive = seen(aHook({ signingSecretName: 'hook-signing-secret' }, { active: false }), {
    secret: 'kept',
    unlabeledSecret: 'u default',
  })
  t.match(statusOf(inactive, 60), { signingSecretName: 'hook-signing-secret', unlabeledSecret: 'u default', activeSince: null })
})

t.test('a Secret that cannot be used leaves no trace: a later one of its name does not seem to have been used before', async (t) => {
  const hook = aHook({ signingSecretName: 'hook-signing-secret', unlabeledSecret: 'u default' })
  for (const secret of ['unlabeled', 'foreign', 'leftover', 'sealed'] as const)
    t.match(statusOf(seen(hook, { secret }), 60), { signingSecretName: null, unlabeledSecret: null }, secret)
  const gone = { ...hook, spec: { ...hook.spec, active: false } }
  t.match(statusOf(seen(gone, { secret: 'missing' }), 60), { signingSecretName: null, unlabeledSecret: null })
  t.match(decide(seen(aHook(), { secret: 'missing' }), at(1)), [{}, { status: { unlabeledSecret: '' } }], 'a new one is owned')
})

t.test('decide reads a Secret that a user must change again', async (t) => {
  for (const secret of ['unlabeled', 'foreign', 'leftover'] as const)
    t.ok(
      decide(seen(aHook(), { secret }), at(1)).some((action) => action.do === 'requeue'),
      secret,
    )
  t.notOk(decide(seen(aHook()), at(1)).some((action) => action.do === 'requeue'))
})

t.test('an endpoint that returns 410 gets a condition that says what to do, until it responds again', async (t) => {
  const statistics = { total: 3, successful: 0, failed: 1, lastStatusCode: 410, consecutiveFailures: 3 }
  const gone = statusOf(seen(aHook({ statistics })), 60)!
  t.match(gone.conditions, [
    { type: 'Ready', status: 'True' },
    { type: 'Answering', status: 'False', reason: 'Gone', message: /410 Gone.*spec.url/ },
  ])
  const failing = { ...statistics, lastStatusCode: 503, consecutiveFailures: 4 }
  t.match(statusOf(seen(aHook({ ...(gone as WebhookStatus), statistics: failing })), 90)?.conditions, [{}, { status: 'True' }])
  const well = { ...statistics, lastStatusCode: 200, consecutiveFailures: 0 }
  const { consecutiveFailures: _, ...uncounted } = statistics
  t.match(statusOf(seen(aHook({ statistics: uncounted })), 60)?.conditions, [{ type: 'Ready' }])
  t.match(statusOf(seen(aHook({ ...(gone as WebhookStatus), statistics: well })), 90)?.conditions, [{}, { status: 'True' }])
  t.notMatch(decide(seen(aHook({ statistics })), at(60)), [{ do: 'disable' }], 'spec.active stays')
})
