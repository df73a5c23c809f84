import t from 'tap'
import { isWebhookIdName, toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { ScreenshotSpec } from '../../../../crds/src/kinds/screenshot.ts'
import { defaultWebhookId, findDefaultWebhook, isRequestedEvent, REQUEST_WEBHOOK } from '../../../../crds/src/webhooks/request-webhook.ts'
import { aScreenshot, at, aWebhook } from '../../../support/fakes/builders.ts'

t.test('isRequestedEvent is true for the events that a request names, and by default for completed and failed', async (t) => {
  const webhookUrl = 'https://me.example.com/'
  const cases: [spec: Partial<ScreenshotSpec>, events: string[]][] = [
    [{}, []],
    [{ webhookEvents: ['screenshot.queued'] }, []],
    [{ webhookUrl }, ['screenshot.completed', 'screenshot.failed']],
    [{ webhookUrl, webhookEvents: ['screenshot.queued'] }, ['screenshot.queued']],
  ]
  const all = ['screenshot.queued', 'screenshot.completed', 'screenshot.failed'] as const
  for (const [spec, events] of cases)
    t.strictSame(
      all.filter((event) => isRequestedEvent(aScreenshot({ spec }), event)),
      events,
    )
})

t.test('findDefaultWebhook returns the oldest default Webhook', async (t) => {
  const made = (name: string, second: number) =>
    aWebhook({ name, metadata: { creationTimestamp: at(second).toISOString() }, spec: { isDefault: true } })
  t.equal(findDefaultWebhook([aWebhook()]), undefined)
  t.equal(findDefaultWebhook([aWebhook(), made('b', 5), made('a', 9), made('c', 5)])?.metadata.name, 'b')
})

t.test('findDefaultWebhook leaves a deleted one out, although a finalizer keeps it', async (t) => {
  const made = (name: string, more = {}) => aWebhook({ name, metadata: more, spec: { isDefault: true } })
  const deleted = made('a', { deletionTimestamp: at(1).toISOString() })
  t.equal(findDefaultWebhook([deleted]), undefined)
  t.equal(findDefaultWebhook([deleted, made('b')])?.metadata.name, 'b')
})

t.test('defaultWebhookId is the same for the same account, and gives a valid object name', async (t) => {
  t.equal(defaultWebhookId('acme'), defaultWebhookId('acme'))
  t.not(defaultWebhookId('acme'), defaultWebhookId('default'))
  t.ok(isWebhookIdName(toObjectName(defaultWebhookId('acme'))))
})

t.test('REQUEST_WEBHOOK is a name that no object can have', async (t) => t.notMatch(REQUEST_WEBHOOK, /^[a-z0-9]/))
