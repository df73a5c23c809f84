import t from 'tap'
import type { WebhookSpec, WebhookStatus } from '../../../../crds/src/kinds/webhook.ts'
import { isReceiver, toOccurrences } from '../../../../operator/src/delivery/receivers.ts'
import { aScreenshot, at, aWebhook, completedStatus, failedStatus } from '../../../support/builders.ts'

t.test('toOccurrences tells what has happened to a Screenshot, and when', async (t) => {
  const queued = { event: 'screenshot.queued', at: at(0) }
  t.strictSame(toOccurrences(aScreenshot()), [queued])
  t.strictSame(toOccurrences(aScreenshot({ status: { phase: 'Running' } })), [queued])
  t.strictSame(toOccurrences(aScreenshot({ status: completedStatus() })), [queued, { event: 'screenshot.completed', at: at(2) }])
  t.strictSame(toOccurrences(aScreenshot({ status: failedStatus() })), [queued, { event: 'screenshot.failed', at: at(2) }])
})

const since = (second: number): WebhookStatus => ({ activeSince: at(second).toISOString() })
const cases: { name: string; spec?: Partial<WebhookSpec>; status: WebhookStatus; is: boolean }[] = [
  { name: 'one that was active before', status: since(1), is: true },
  { name: 'one that was active at that very instant', status: since(2), is: true },
  { name: 'not one that became active later', status: since(3), is: false },
  { name: 'not one that is not ready yet', status: {}, is: false },
  { name: 'not one that is switched off', spec: { active: false }, status: since(1), is: false },
  { name: 'not one for other events', spec: { events: ['screenshot.failed'] }, status: since(1), is: false },
  {
    name: 'one that subscribed to the type before',
    status: { ...since(1), subscriptions: { 'screenshot.completed': at(2).toISOString() } },
    is: true,
  },
  {
    name: 'not one that added the type later',
    status: { ...since(1), subscriptions: { 'screenshot.completed': at(3).toISOString() } },
    is: false,
  },
  { name: 'not one whose new type is not confirmed yet', status: { ...since(1), subscriptions: {} }, is: false },
]
for (const { name, spec = {}, status, is } of cases) {
  t.test(`isReceiver takes ${name}`, async (t) => {
    t.equal(isReceiver(aWebhook({ spec, status }), { event: 'screenshot.completed', at: at(2) }), is)
  })
}
