import { createHmac } from 'node:crypto'
import t from 'tap'
import { hexSignature, newSigningSecret, standardSignature } from '../../../../../../crds/src/crypto/webhook-signature.ts'
import { buildHeaders } from '../../../../../../operator/src/controllers/delivery/http/headers.ts'
import { NOON } from '../../../../../support/fakes/builders.ts'

const ids = { eventId: 'evt_1', eventType: 'screenshot.completed', webhookId: 'wh_1', deliveryId: 'dlv_1' }

t.test('buildHeaders signs the body with both schemes and one secret', async (t) => {
  const key = Buffer.alloc(33, 1)
  const secret = `whsec_${key.toString('base64')}`
  const body = '{"name":"ü"}'
  const headers = buildHeaders({
    ...ids,
    body,
    secrets: { current: secret },
    attempt: 2,
    at: new Date(NOON.getTime() + 999),
    version: '1.2.3',
  })
  t.strictSame(headers, {
    'content-type': 'application/json',
    'user-agent': 'Tintype-Webhooks/1.2.3',
    'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
    'x-webhook-event': 'screenshot.completed',
    'x-webhook-id': 'wh_1',
    'x-webhook-delivery': 'dlv_1',
    'x-webhook-attempt': '2',
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(NOON.getTime() / 1000),
    'webhook-signature': `v1,${createHmac('sha256', key)
      .update(`evt_1.${NOON.getTime() / 1000}.${body}`)
      .digest('base64')}`,
  })
})

t.test('buildHeaders also signs with the previous secret during a rotation', async (t) => {
  const secrets = { current: newSigningSecret(), previous: newSigningSecret() }
  const headers = buildHeaders({ ...ids, body: '{}', secrets, attempt: 1, at: NOON, version: '1' })
  const seconds = NOON.getTime() / 1000
  t.equal(headers['x-webhook-signature'], hexSignature('{}', secrets.current))
  t.equal(headers['x-webhook-signature-previous'], hexSignature('{}', secrets.previous))
  const both = [secrets.current, secrets.previous].map((secret) => standardSignature('{}', secret, 'evt_1', seconds))
  t.equal(headers['webhook-signature'], both.join(' '))
})
