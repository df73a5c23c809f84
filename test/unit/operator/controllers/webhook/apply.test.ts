import t from 'tap'
import type { Secret } from '../../../../../crds/client/core-resources.ts'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import type { Patch } from '../../../../../crds/client/patch.ts'
import { apply } from '../../../../../operator/src/controllers/webhook/apply.ts'
import type { Action, StatusPatch } from '../../../../../operator/src/controllers/webhook/decide.ts'
import { at, aWebhook } from '../../../../support/fakes/builders.ts'
import { FakeStore } from '../../../../support/fakes/fake-store.ts'

const hook = aWebhook()
const status: StatusPatch = {
  url: 'https://example.com/',
  activeSince: at(0).toISOString(),
  subscriptions: {},
  signingSecretName: 'hook-signing-secret',
  unlabeledSecret: '',
  conditions: [],
}
const { signal } = new AbortController()

function setUp(...existing: Secret[]) {
  const patches: unknown[] = []
  const patch = async (_: string, { body }: Patch) => {
    patches.push(body)
    return hook
  }
  const secrets = new FakeStore<Secret>(...existing)
  return { patches, secrets, deps: { clients: { webhooks: { patch }, secrets } as never, events: { warn: () => {} } } }
}

t.test('apply creates the Secret, then writes the status with the observed version', async (t) => {
  const { patches, secrets, deps } = setUp()
  await apply([{ do: 'createSecret' }, { do: 'patchStatus', status }], hook, deps, signal)
  t.match([...secrets.objects.values()], [{ type: 'tintype.dev/signing-secret', data: { 'signing-secret': /.+/ } }])
  t.strictSame(patches, [{ status, metadata: { resourceVersion: '1' } }])
})

t.test('apply retries when a Secret with this name was just created', async (t) => {
  const { patches, deps } = setUp({ metadata: { name: 'hook-signing-secret' } })
  await t.rejects(apply([{ do: 'createSecret' }, { do: 'patchStatus', status }], hook, deps, signal), { name: 'RetryableError' })
  t.strictSame(patches, [])
})

t.test('apply throws a terminal error when the API server rejects the Secret', async (t) => {
  const { secrets, deps } = setUp()
  secrets.beforeCreate = () => {
    throw new KubeError({ status: 422, reason: 'Invalid', message: 'name too long' })
  }
  await t.rejects(apply([{ do: 'createSecret' }], hook, deps, signal), { name: 'TerminalError' })
})

t.test('apply requeues when requested', async (t) => {
  t.strictSame(await apply([{ do: 'requeue', afterMilliseconds: 5 }], hook, setUp().deps, signal), { requeueAfterMilliseconds: 5 })
})

t.test('apply disables a webhook with the reason in one write, and records an Event', async (t) => {
  const { patches, deps } = setUp()
  const reported: unknown[] = []
  const events = { warn: (object: { kind: string }, reason: string, message: string) => void reported.push([object.kind, reason, message]) }
  await apply([{ do: 'disable', reason: 'all failed', at: at(0) }], hook, { ...deps, events }, signal)
  const annotations = { 'tintype.dev/disabled-reason': 'all failed', 'tintype.dev/updated-at': at(0).toISOString() }
  t.strictSame(patches, [{ metadata: { annotations, resourceVersion: '1' }, spec: { active: false } }])
  t.strictSame(reported, [['Webhook', 'WebhookDisabled', 'The endpoint was disabled: all failed.']])
})

t.test('apply records no Event for a webhook that was deleted meanwhile', async (t) => {
  const { deps } = setUp()
  const gone = () => Promise.reject(new KubeError({ status: 404, reason: 'NotFound', message: 'gone' }))
  const events = { warn: () => t.fail('nothing was done') }
  await apply(
    [{ do: 'disable', reason: 'all failed', at: at(0) }],
    hook,
    { ...deps, clients: { webhooks: { patch: gone } } as never, events },
    signal,
  )
})

t.test('apply removes the reason why a webhook was disabled', async (t) => {
  const { patches, deps } = setUp()
  await apply([{ do: 'forgetDisabledReason' }], hook, deps, signal)
  t.strictSame(patches, [{ metadata: { annotations: { 'tintype.dev/disabled-reason': null }, resourceVersion: '1' } }])
})

t.test('apply records one Event when a webhook keeps a Secret without a label', async (t) => {
  const { deps } = setUp()
  const warned: string[] = []
  const events = { warn: (_: unknown, reason: string, message: string) => warned.push(`${reason} ${message}`) }
  const missing = {
    type: 'SecretLabeled',
    status: 'False',
    reason: 'SecretLabelMissing',
    message: 'Set it.',
    lastTransitionTime: '',
  } as const
  const patch: Action = { do: 'patchStatus', status: { ...status, conditions: [missing] } }
  await apply([patch], hook, { ...deps, events }, signal)
  await apply([patch], aWebhook({ status: { conditions: [missing] } }), { ...deps, events }, signal)
  t.strictSame(warned, ['SecretLabelMissing Set it.'])
})

t.test('apply records one Event when an endpoint begins to return 410', async (t) => {
  const { deps } = setUp()
  const warned: string[] = []
  const events = { warn: (_: unknown, reason: string, message: string) => warned.push(`${reason} ${message}`) }
  const gone = {
    type: 'Answering',
    status: 'False',
    reason: 'Gone',
    message: 'Update spec.url.',
    lastTransitionTime: at(1).toISOString(),
  } as const
  const patch: Action = { do: 'patchStatus', status: { ...status, conditions: [gone] } }
  await apply([patch], hook, { ...deps, events }, signal)
  await apply([patch], aWebhook({ status: { conditions: [gone] } }), { ...deps, events }, signal)
  t.strictSame(warned, ['EndpointGone Update spec.url.'])
})
