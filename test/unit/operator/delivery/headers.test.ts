import { createHmac } from 'node:crypto'
import t from 'tap'
import { buildHeaders } from '../../../../operator/src/delivery/headers.ts'
import { NOON } from '../../../support/builders.ts'

t.test('buildHeaders signs the body in both ways with one secret', async (t) => {
  const key = Buffer.alloc(33, 1)
  const secret = `whsec_${key.toString('base64')}`
  const body = '{"name":"ü"}'
  const ids = { eventId: 'evt_1', eventType: 'screenshot.completed', webhookId: 'wh_1', deliveryId: 'dlv_1' }
  const headers = buildHeaders({ ...ids, body, secret, attempt: 2, at: new Date(NOON.getTime() + 999), version: '1.2.3' })
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
