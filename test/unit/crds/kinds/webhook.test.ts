import t from 'tap'
import { isActive, Webhook, WebhookSpec } from '../../../../crds/src/kinds/webhook.ts'
import { aWebhook, NOON } from '../../../support/fakes/builders.ts'

const takes = (spec: object): boolean =>
  WebhookSpec.safeParse({ url: 'https://example.com/hook', events: ['screenshot.completed'], ...spec }).success

t.test('Webhook accepts an endpoint', async (t) => t.ok(Webhook.safeParse(aWebhook()).success))

t.test('WebhookSpec accepts only https URLs without user name, password and fragment', async (t) => {
  for (const url of [
    'https://example.com',
    'https://example.com/a?b=c',
    'https://example.com:8443/',
    `https://example.com/${'x'.repeat(2028)}`,
  ]) {
    t.ok(takes({ url }), url.slice(0, 60))
  }
  for (const url of [
    'http://example.com/',
    'https://',
    'https://a:b@example.com/',
    'https://example.com/#x',
    'https://example.com#x',
    `https://example.com/${'x'.repeat(2029)}`,
  ]) {
    t.notOk(takes({ url }), url.slice(0, 60))
  }
})

t.test('WebhookSpec requires at least one event type, and refuses unknown types', async (t) => {
  for (const events of [[], ['*'], ['screenshot.done']]) t.notOk(takes({ events }), JSON.stringify(events))
  t.ok(takes({ events: ['screenshot.queued', 'screenshot.failed', 'video.completed'] }))
})

t.test('WebhookSpec limits the length of its texts', async (t) => {
  t.ok(takes({ name: 'x'.repeat(100), description: 'x'.repeat(500) }))
  t.notOk(takes({ name: 'x'.repeat(101) }))
  t.notOk(takes({ description: 'x'.repeat(501) }))
})

t.test('isActive is true unless active is false or the Webhook was deleted', async (t) => {
  t.ok(isActive(aWebhook()))
  t.ok(isActive(aWebhook({ spec: { active: true } })))
  t.notOk(isActive(aWebhook({ spec: { active: false } })))
  t.notOk(isActive(aWebhook({ metadata: { deletionTimestamp: NOON.toISOString() } })), 'deleted, and kept by a finalizer')
})
