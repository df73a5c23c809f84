import t from 'tap'
import type { KubeObject } from '../../../../../../crds/client/kube-object.ts'
import { type ReflectorEvent, Replica, Store } from '../../../../../../crds/client/lister.ts'
import type { Screenshot, ScreenshotStatus } from '../../../../../../crds/src/kinds/screenshot.ts'
import type { Webhook, WebhookSpec, WebhookStatus } from '../../../../../../crds/src/kinds/webhook.ts'
import { EventOrder } from '../../../../../../operator/src/controllers/delivery/events/event-order.ts'
import { aScreenshot, aWebhook, completedStatus } from '../../../../../support/fakes/builders.ts'

type Listener<T extends KubeObject> = (event: ReflectorEvent<T>) => void

/** Behaves as a reflector for lists, watch events and writes. */
function aSource<T extends KubeObject>() {
  let listener: Listener<T> = () => {}
  const addListener = (added: Listener<T>) => {
    listener = added
    return () => {}
  }
  return { replica: new Replica(new Store<T>(), (event) => listener(event)), addListener }
}

function anOrder() {
  const [screenshots, webhooks] = [aSource<Screenshot>(), aSource<Webhook>()]
  const order = new EventOrder({ screenshots, webhooks })
  return { follows: order.followsStart, shots: screenshots.replica, hooks: webhooks.replica }
}

const shotAt = (version: number, status?: ScreenshotStatus, uid = 's', name = uid) =>
  aScreenshot({ name, metadata: { uid, resourceVersion: String(version) }, ...(status ? { status } : {}) })
const hookAt = (
  version: number,
  { spec = {}, status = {}, uid = 'h' }: { spec?: Partial<WebhookSpec>; status?: WebhookStatus; uid?: string } = {},
) =>
  aWebhook({
    name: uid,
    metadata: { uid, resourceVersion: String(version) },
    spec: { events: ['screenshot.queued', 'screenshot.completed'], ...spec },
    status,
  })
const notReady = (reason: string): WebhookStatus => ({
  conditions: [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: '2026-11-21T12:00:00Z' }],
})
const running: ScreenshotStatus = { phase: 'Running', attempt: 1 }

t.test('an event follows a webhook when its write came later, whichever watch reports it first', async (t) => {
  for (const isHookFirst of [true, false]) {
    const { follows, shots, hooks } = anOrder()
    if (isHookFirst) hooks.set(hookAt(10), 'watch')
    shots.set(shotAt(9), 'watch')
    shots.set(shotAt(11, undefined, 'later'), 'watch')
    if (!isHookFirst) hooks.set(hookAt(10), 'watch')
    t.equal(follows(hookAt(10), shotAt(9), 'screenshot.queued'), false)
    t.equal(follows(hookAt(10), shotAt(11, undefined, 'later'), 'screenshot.queued'), true)
  }
})

t.test('later writes to both objects do not change the order', async (t) => {
  const { follows, shots, hooks } = anOrder()
  shots.set(shotAt(9), 'watch')
  hooks.set(hookAt(10), 'watch')
  shots.set(shotAt(12, running), 'write')
  hooks.set(hookAt(13, { status: { activeSince: '2026-11-21T12:00:00Z' } }), 'write')
  shots.set(shotAt(14, completedStatus()), 'watch')
  shots.set(shotAt(20, completedStatus({ attempt: 2 })), 'write')
  hooks.set(hookAt(21, { status: { activeSince: '2026-11-21T12:00:00Z' } }), 'watch')
  t.equal(follows(hookAt(21), shotAt(20), 'screenshot.queued'), false)
  t.equal(follows(hookAt(21), shotAt(20), 'screenshot.completed'), true)
})

t.test('an event and a webhook from a list have no order between them, but one relative to watch events', async (t) => {
  const { follows, shots, hooks } = anOrder()
  shots.set(shotAt(50, completedStatus()), 'list')
  hooks.set(hookAt(40), 'list')
  t.equal(follows(hookAt(40), shotAt(50), 'screenshot.queued'), undefined, 'it may have been created long before')
  t.equal(follows(hookAt(40), shotAt(50), 'screenshot.completed'), undefined)
  hooks.set(hookAt(60, { uid: 'new' }), 'watch')
  t.equal(follows(hookAt(60, { uid: 'new' }), shotAt(50), 'screenshot.completed'), false)
  shots.set(shotAt(61, undefined, 'new'), 'watch')
  t.equal(follows(hookAt(40), shotAt(61, undefined, 'new'), 'screenshot.queued'), true)
})

t.test('an unchanged Screenshot from a list was created at its own revision', async (t) => {
  const { follows, shots, hooks } = anOrder()
  hooks.set(hookAt(40), 'list')
  shots.set(shotAt(50), 'list')
  t.equal(follows(hookAt(40), shotAt(50), 'screenshot.queued'), true)
})

t.test('an end that came with other writes lies between them', async (t) => {
  const { follows, shots, hooks } = anOrder()
  shots.set(shotAt(9), 'watch')
  hooks.set(hookAt(10), 'watch')
  hooks.set(hookAt(30, { uid: 'later' }), 'watch')
  shots.set(shotAt(20, completedStatus()), 'list')
  t.equal(follows(hookAt(10), shotAt(20), 'screenshot.completed'), undefined)
  t.equal(follows(hookAt(30, { uid: 'later' }), shotAt(20), 'screenshot.completed'), false)
})

t.test('a webhook starts again when it is enabled, and for a type that it adds', async (t) => {
  const { follows, shots, hooks } = anOrder()
  hooks.set(hookAt(10), 'watch')
  shots.set(shotAt(11), 'watch')
  hooks.set(hookAt(12, { spec: { active: false } }), 'watch')
  hooks.set(hookAt(13, { status: notReady('Inactive') }), 'watch')
  shots.set(shotAt(14, undefined, 'later'), 'watch')
  const on = hookAt(15, { spec: { events: ['screenshot.queued', 'screenshot.failed'] } })
  hooks.set(on, 'watch')
  shots.set(shotAt(16, { ...completedStatus(), phase: 'Failed' }, 'later'), 'watch')
  t.equal(follows(on, shotAt(11), 'screenshot.queued'), false)
  t.equal(follows(on, shotAt(14, undefined, 'later'), 'screenshot.queued'), true)
  t.equal(follows(on, shotAt(14, undefined, 'later'), 'screenshot.failed'), true)
  t.equal(follows(on, shotAt(14, undefined, 'later'), 'screenshot.completed'), undefined, 'an unsubscribed type')
  shots.set(shotAt(17, completedStatus(), 'last'), 'watch')
  hooks.set(hookAt(18), 'watch')
  const added = hookAt(19)
  hooks.set(added, 'watch')
  t.equal(follows(added, shotAt(17, undefined, 'last'), 'screenshot.completed'), false, 'it ended before the type was added')
  t.equal(follows(added, shotAt(17, undefined, 'last'), 'screenshot.queued'), true, 'the other type goes on')
})

t.test('a webhook with a problem starts when it is solved; one that only waits for its Secret starts at once', async (t) => {
  for (const [reason, expected] of [
    ['AddressRefused', false],
    ['SecretLeftover', true],
  ] as const) {
    const { follows, shots, hooks } = anOrder()
    hooks.set(hookAt(10), 'watch')
    hooks.set(hookAt(11, { status: notReady(reason) }), 'write')
    shots.set(shotAt(12), 'watch')
    hooks.set(hookAt(13, { status: { activeSince: '2026-11-21T12:00:00Z' } }), 'watch')
    t.equal(follows(hookAt(13), shotAt(12), 'screenshot.queued'), expected, reason)
  }
})

t.test('after a restore of the store from a backup, old revisions are ignored', async (t) => {
  const { follows, shots, hooks } = anOrder()
  hooks.set(hookAt(1_000), 'watch')
  shots.set(shotAt(2_000, completedStatus()), 'list')
  hooks.set(hookAt(300), 'list', true)
  shots.set(shotAt(310, completedStatus()), 'list', true)
  t.equal(follows(hookAt(300), shotAt(310), 'screenshot.queued'), undefined)
  shots.set(shotAt(320, undefined, 'new'), 'watch')
  t.equal(follows(hookAt(300), shotAt(320, undefined, 'new'), 'screenshot.queued'), true)
})

t.test('deleted or recreated objects leave no state', async (t) => {
  const { follows, shots, hooks } = anOrder()
  hooks.set(hookAt(10), 'watch')
  shots.set(shotAt(9), 'watch')
  shots.set(shotAt(12, undefined, 'again', 's'), 'list')
  t.equal(follows(hookAt(10), shotAt(9), 'screenshot.queued'), undefined)
  t.equal(follows(hookAt(10), shotAt(12, undefined, 'again'), 'screenshot.queued'), true)
  hooks.remove(hookAt(13))
  t.equal(follows(hookAt(10), shotAt(12, undefined, 'again'), 'screenshot.queued'), undefined)
})

t.test('a default webhook has one start for all types', async (t) => {
  const { follows, shots, hooks } = anOrder()
  const signer = hookAt(10, { spec: { isDefault: true, events: ['screenshot.failed'] } })
  hooks.set(signer, 'watch')
  shots.set(shotAt(11), 'watch')
  t.equal(follows(signer, shotAt(11), 'screenshot.queued'), true)
})
