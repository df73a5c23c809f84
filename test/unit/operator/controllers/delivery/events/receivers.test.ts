import t from 'tap'
import type { Webhook, WebhookSpec, WebhookStatus } from '../../../../../../crds/src/kinds/webhook.ts'
import { isReceiver, isRequestReceiver, toOccurrences } from '../../../../../../operator/src/controllers/delivery/events/receivers.ts'
import { aScreenshot, at, aWebhook, completedStatus, failedStatus } from '../../../../../support/fakes/builders.ts'

t.test('toOccurrences returns the events of a Screenshot and their times', async (t) => {
  const queued = { event: 'screenshot.queued', at: at(0), latest: at(0.999) }
  t.strictSame(toOccurrences(aScreenshot()), [queued])
  t.strictSame(toOccurrences(aScreenshot({ status: { phase: 'Running' } })), [queued])
  t.strictSame(toOccurrences(aScreenshot({ status: completedStatus() })), [queued, { event: 'screenshot.completed', at: at(2) }])
  const changed = completedStatus({ result: { comparison: { changed: true } } })
  t.strictSame(
    toOccurrences(aScreenshot({ status: changed })).map(({ event }) => event),
    ['screenshot.queued', 'screenshot.completed', 'screenshot.changed'],
  )
  const restored = completedStatus({ restoredFrom: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd', attempt: 0 })
  t.strictSame(toOccurrences(aScreenshot({ status: restored })), [queued], 'its end was an event of the archived record')
  t.strictSame(toOccurrences(aScreenshot({ status: failedStatus() })), [queued, { event: 'screenshot.failed', at: at(2) }])
})

const since = (second: number): WebhookStatus => ({ activeSince: at(second).toISOString() })
const cases: [name: string, status: WebhookStatus, is: boolean, spec?: Partial<WebhookSpec>][] = [
  ['true for one that was active before', since(1), true],
  ['true for one that became active at the same time', since(2), true],
  ['false for one that became active later', since(3), false],
  ['false for one that is not ready yet', {}, false],
  ['false for an inactive one', since(1), false, { active: false }],
  ['false for one with other events', since(1), false, { events: ['screenshot.failed'] }],
  [
    'true for one that subscribed to the type before',
    { ...since(1), subscriptions: { 'screenshot.completed': at(2).toISOString() } },
    true,
  ],
  ['false for one that added the type later', { ...since(1), subscriptions: { 'screenshot.completed': at(3).toISOString() } }, false],
  ['false for one whose new type is not confirmed yet', { ...since(1), subscriptions: {} }, false],
]
for (const [name, status, is, spec = {}] of cases) {
  t.test(`isReceiver is ${name}`, async (t) => {
    t.equal(isReceiver(aWebhook({ spec, status }), { event: 'screenshot.completed', at: at(2) }), is)
  })
}

t.test('isReceiver uses the order of revisions where known, and timestamps otherwise', async (t) => {
  const hook = aWebhook({ status: since(3) })
  const occurrence = { event: 'screenshot.completed' as const, at: at(2) }
  t.ok(isReceiver(hook, { ...occurrence, follows: () => true }))
  t.notOk(isReceiver(hook, { ...occurrence, follows: () => undefined }))
  t.notOk(isReceiver(hook, { ...occurrence, at: at(4), follows: () => false }))
})

t.test(
  'isReceiver is true for a Screenshot queued in the second in which the webhook became active, because creation times have no fraction',
  async (t) => {
    const hook = aWebhook({ spec: { events: ['screenshot.queued'] }, status: since(0.7) })
    const occurrenceAt = (second: number) => toOccurrences(aScreenshot({ metadata: { creationTimestamp: at(second).toISOString() } }))[0]!
    t.ok(isReceiver(hook, occurrenceAt(0)))
    t.notOk(isReceiver(hook, occurrenceAt(-1)), 'but not for an earlier second')
  },
)

t.test('isReceiver continues deliveries that were started since the webhook became active', async (t) => {
  const hook = aWebhook({ status: since(3) })
  const occurrence = { event: 'screenshot.completed' as const, at: at(2) }
  t.ok(isReceiver(hook, occurrence, { attempts: 1, at: at(4).toISOString(), state: 'open' }))
  t.notOk(isReceiver(hook, occurrence, { attempts: 1, at: at(2.5).toISOString(), state: 'open' }))
})

const signer = (status: WebhookStatus, spec: Partial<WebhookSpec> = {}) => aWebhook({ spec: { isDefault: true, ...spec }, status })
const reported = aScreenshot({ spec: { webhookUrl: 'https://me.example.com/' }, status: completedStatus() })
const requestCases: { name: string; signer: Webhook | undefined; is: boolean }[] = [
  { name: 'true when the default webhook has been active since its creation', signer: signer(since(1)), is: true },
  { name: 'false without a default webhook', signer: undefined, is: false },
  { name: 'false while it is not ready', signer: signer({}), is: false },
  { name: 'false while it is inactive', signer: signer(since(1), { active: false }), is: false },
  { name: 'false for events while it was inactive', signer: signer(since(90)), is: false },
]
for (const { name, signer, is } of requestCases) {
  t.test(`isRequestReceiver is ${name}`, async (t) =>
    t.equal(isRequestReceiver(reported, { event: 'screenshot.completed', at: at(0) }, signer), is),
  )
}

t.test('isRequestReceiver is false for events that the request did not ask for', async (t) => {
  t.notOk(isRequestReceiver(reported, { event: 'screenshot.queued', at: at(2) }, signer(since(0))))
  t.notOk(isRequestReceiver(aScreenshot(), { event: 'screenshot.completed', at: at(2) }, signer(since(0))))
})

t.test('isReceiver is false for a default webhook, which has no URL', async (t) => {
  t.notOk(isReceiver(signer(since(0)), { event: 'screenshot.completed', at: at(2) }))
})
