import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { parseEvent, type VerifyOptions, verifyWebhook } from '../../../../api-gateway/client/src/index.ts'
import { newSigningSecret } from '../../../../crds/src/crypto/signatures.ts'
import { buildHeaders } from '../../../../operator/src/controllers/delivery/http/headers.ts'

// Requests are signed by the operator's own code and by the reference library of Standard Webhooks.

const now = new Date('2026-11-24T10:00:00.000Z')
const secret = newSigningSecret()
const event = { id: 'evt_1', type: 'screenshot.completed', created_at: now.toISOString(), data: { screenshot: { id: 'scr_1' } } }
const payload = JSON.stringify(event)

const sign = (secrets: { current: string; previous?: string }, body = payload) =>
  buildHeaders({
    body,
    secrets,
    eventId: event.id,
    eventType: event.type,
    webhookId: 'wh_1',
    deliveryId: 'dlv_1',
    attempt: 1,
    at: now,
    version: '0.1.0',
  })

const options = (changes: Partial<VerifyOptions> = {}): VerifyOptions => ({
  payload,
  headers: sign({ current: secret }),
  secret,
  now,
  ...changes,
})
const refused = { name: 'TintypeError', code: 'WEBHOOK_NOT_VERIFIED' }

t.test('verifyWebhook returns the event of a request that the operator signed', async (t) => {
  t.strictSame(await verifyWebhook(options()), event)
})

const plain = sign({ current: secret })
const entries = Object.entries(plain)
const umlauts = JSON.stringify({ ...event, data: { screenshot: { title: 'ü 日 😀' } } })
const bytes = new TextEncoder().encode(umlauts)
const pool = Buffer.from(`xxxx${payload}yyyy`)
const forUmlauts = sign({ current: secret }, umlauts)
for (const [form, changes] of [
  ['text beyond ASCII', { payload: umlauts, headers: forUmlauts }],
  ['bytes', { payload: bytes, headers: forUmlauts }],
  ['a Buffer', { payload: Buffer.from(bytes), headers: forUmlauts }],
  ['an array buffer', { payload: bytes.buffer, headers: forUmlauts }],
  // As Node.js hands out.
  ['a view into a larger buffer', { payload: pool.subarray(4, 4 + Buffer.byteLength(payload)) }],
  ['Headers', { headers: new Headers(plain) }],
  ['headers in upper case', { headers: Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value])) }],
  ['lists of values', { headers: Object.fromEntries(entries.map(([name, value]) => [name, [value]])) }],
] as const) {
  t.test(`verifyWebhook accepts ${form}`, async (t) => t.equal((await verifyWebhook(options(changes))).id, 'evt_1'))
}

t.test('verifyWebhook accepts the old and the new secret during a rotation', async (t) => {
  const next = newSigningSecret()
  const headers = sign({ current: next, previous: secret })
  t.equal(headers['webhook-signature']?.split(' ').length, 2)
  t.ok(await verifyWebhook(options({ headers })))
  t.ok(await verifyWebhook(options({ headers, secret: next })))
  t.ok(await verifyWebhook(options({ secret: [next, secret] })), 'several secrets')
  await t.rejects(verifyWebhook(options({ headers, secret: newSigningSecret() })), refused)
})

t.test('verifyWebhook accepts secrets of your own, as base64 and as plain text', async (t) => {
  for (const own of [
    'not base64, but long enough!',
    Buffer.alloc(24, 7).toString('base64'),
    `whsec_${Buffer.alloc(25, 7).toString('base64')}`,
  ]) {
    t.ok(await verifyWebhook(options({ secret: own, headers: sign({ current: own }) })), own)
  }
})

t.test('verifyWebhook accepts what the library of Standard Webhooks signs', async (t) => {
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(now.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign('msg_1', now, payload),
  }
  t.ok(await verifyWebhook(options({ headers })))
})

t.test('verifyWebhook refuses another body, id, time or secret', async (t) => {
  for (const [what, changes] of Object.entries({
    body: { payload: payload.replace('scr_1', 'scr_2') },
    'written again': { payload: JSON.stringify(JSON.parse(payload), null, 1) },
    id: { headers: { ...plain, 'webhook-id': 'evt_2' } },
    time: { headers: { ...plain, 'webhook-timestamp': String(now.getTime() / 1_000 - 1) } },
    secret: { secret: newSigningSecret() },
  }))
    await t.rejects(verifyWebhook(options(changes)), refused, what)
})

t.test('verifyWebhook refuses requests that are too old or from the future', async (t) => {
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1_000)
  for (const sign of [1, -1]) {
    t.ok(await verifyWebhook(options({ now: after(sign * 300) })))
    await t.rejects(verifyWebhook(options({ now: after(sign * 301) })), refused)
  }
  t.ok(await verifyWebhook(options({ now: after(3_600), tolerance: 3_600 })))
  await t.rejects(verifyWebhook({ ...options(), now: undefined }), { message: /^webhook-timestamp is more than 300 seconds from now\. / })
})

t.test('verifyWebhook refuses missing and malformed headers', async (t) => {
  const headers = plain
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    await t.rejects(verifyWebhook(options({ headers: { ...headers, [name]: undefined } })), refused, name)
  }
  for (const timestamp of ['NaN', '1e9', '-1', ' ', 'x']) {
    await t.rejects(verifyWebhook(options({ headers: { ...headers, 'webhook-timestamp': timestamp } })), refused, timestamp)
  }
  const [, value = ''] = headers['webhook-signature']?.split(',') ?? []
  for (const signature of ['v1,', 'v1', value, `v1a,${value}`, `v2,${value}`, 'v1,%%%', `v1,${value.slice(0, 40)}`]) {
    await t.rejects(verifyWebhook(options({ headers: { ...headers, 'webhook-signature': signature } })), refused, signature)
  }
  t.ok(
    await verifyWebhook(options({ headers: { ...headers, 'webhook-signature': `v1a,x v1,%% v1,${value}` } })),
    'unknown entries beside it',
  )
})

t.test('verifyWebhook refuses a secret that is none, and does not call it a wrong signature', async (t) => {
  for (const wrong of ['', 'whsec_', 'whsec_%%%'])
    await t.rejects(verifyWebhook(options({ secret: wrong })), { code: 'INVALID_CONFIGURATION' })
  await t.rejects(verifyWebhook(options({ secret: [] })), refused)
})

t.test('parseEvent returns events and refuses other bodies', async (t) => {
  t.strictSame(parseEvent(payload), event)
  t.strictSame(parseEvent(Buffer.from(payload)), event)
  for (const body of ['', 'null', '[]', '"text"', '{"id":"evt_1"}', '{"id":1,"type":"x","data":{}}', '{"id":"a","type":"x","data":null}']) {
    t.throws(() => parseEvent(body), { name: 'TintypeError', code: 'INVALID_EVENT' }, body)
  }
})
