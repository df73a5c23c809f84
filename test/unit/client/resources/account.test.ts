import t from 'tap'
import { Batches } from '../../../../api-gateway/client/src/resources/batches.ts'
import { Keys } from '../../../../api-gateway/client/src/resources/keys.ts'
import { Schedules } from '../../../../api-gateway/client/src/resources/schedules.ts'
import { Devices, Status, UsageReports } from '../../../../api-gateway/client/src/resources/service.ts'
import { Webhooks } from '../../../../api-gateway/client/src/resources/webhooks.ts'
import { aTransport, failure, hangUp, json, type Reply } from '../fake-service.ts'

/** Resources of an account over a fake fetch. `calls` are the requests that were sent: method, path and body. */
function anAccount(...replies: Reply[]) {
  const { transport, sent, delays } = aTransport(replies)
  const calls = () =>
    sent.map(({ method, url, body }) => {
      const path = url.replace('https://tintype.example.com/api/v1', '')
      return body === undefined ? `${method} ${path}` : `${method} ${path} ${JSON.stringify(body)}`
    })
  return {
    batches: new Batches(transport),
    keys: new Keys(transport),
    schedules: new Schedules(transport),
    webhooks: new Webhooks(transport),
    usage: new UsageReports(transport),
    devices: new Devices(transport),
    status: new Status(transport),
    sent,
    delays,
    calls,
  }
}
const data = (value: unknown) => json({ success: true, data: value })
const batch = (pending: number) => json({ success: true, data: { batch_id: 'batch_1', pending } }, { headers: { 'retry-after': '3' } })

t.test('batches.create sends the URLs and the options, with an Idempotency-Key', async (t) => {
  const { batches, calls, sent } = anAccount(hangUp(), json({ batch_id: 'batch_1' }, { status: 202 }))
  await batches.create({ urls: ['https://a.example/', 'https://b.example/'], format: 'webp', external_identifier: 'x' })
  const call =
    'POST /screenshots/batch {"urls":["https://a.example/","https://b.example/"],"external_identifier":"x","options":{"format":"webp"}}'
  t.strictSame(calls(), [call, call])
  t.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 1)
})

t.test('batches.wait reads the batch until nothing is pending, and reports the progress', async (t) => {
  const { batches, delays, calls } = anAccount(batch(2), batch(1), batch(0))
  const progress: number[] = []
  t.match(await batches.wait('batch_1', { onProgress: ({ pending }) => progress.push(pending) }), { pending: 0 })
  t.strictSame(
    [progress, delays],
    [
      [2, 1, 0],
      [3_000, 3_000],
    ],
  )
  t.equal(calls().length, 3)
})

t.test('batches.wait ends after its timeout', async (t) => {
  const { batches, delays } = anAccount(batch(2))
  await t.rejects(batches.wait('batch_1', { waitTimeout: 4_000 }), {
    code: 'WAIT_TIMEOUT',
    message: /^2 captures of batch_1 did not end within 4/,
  })
  t.strictSame(delays, [3_000, 1_000])
})

t.test('batches.get reads a batch', async (t) => {
  t.match(await anAccount(batch(2)).batches.get('batch_1'), { batch_id: 'batch_1', pending: 2 })
})

type Account = ReturnType<typeof anAccount>
const hook = { name: 'a', url: 'https://a.example/', events: ['screenshot.completed' as const] }
const timing = { schedule: '@hourly', url: 'https://a.example/', full_page: true, external_identifier: 'a', time_zone: 'UTC' } as const

const requests: [call: (account: Account) => Promise<unknown>, request: string][] = [
  [({ webhooks }) => webhooks.create(hook), `POST /webhooks ${JSON.stringify(hook)}`],
  [({ webhooks }) => webhooks.get('wh_1'), 'GET /webhooks/wh_1'],
  [({ webhooks }) => webhooks.update('wh_1', { is_active: false }), 'PATCH /webhooks/wh_1 {"is_active":false}'],
  [({ webhooks }) => webhooks.delete('wh_1'), 'DELETE /webhooks/wh_1'],
  [({ webhooks }) => webhooks.rotateSecret('wh_1', { overlap_hours: 1 }), 'POST /webhooks/wh_1/rotate-secret {"overlap_hours":1}'],
  [({ webhooks }) => webhooks.rotateSecret('wh_1'), 'POST /webhooks/wh_1/rotate-secret {}'],
  [({ webhooks }) => webhooks.test('wh_1'), 'POST /webhooks/wh_1/test'],
  [({ webhooks }) => webhooks.getDefault(), 'GET /webhooks/default'],
  [({ webhooks }) => webhooks.rotateDefaultSecret({ force: true }), 'POST /webhooks/default/rotate-secret {"force":true}'],
  [({ webhooks }) => webhooks.deliveries.get('wh_1', 'dlv_1'), 'GET /webhooks/wh_1/deliveries/dlv_1'],
  [({ webhooks }) => webhooks.deliveries.redeliver('wh_1', 'dlv_1'), 'POST /webhooks/wh_1/deliveries/dlv_1/redeliver'],
  [
    ({ schedules }) => schedules.create(timing),
    'POST /schedules {"schedule":"@hourly","url":"https://a.example/","external_identifier":"a","time_zone":"UTC","options":{"full_page":true}}',
  ],
  [({ schedules }) => schedules.get('sch_1'), 'GET /schedules/sch_1'],
  [
    ({ schedules }) => schedules.update('sch_1', { suspend: true, options: { full_page: false } }),
    'PATCH /schedules/sch_1 {"suspend":true,"options":{"full_page":false}}',
  ],
  [({ schedules }) => schedules.run('sch_1'), 'POST /schedules/sch_1/run'],
  [({ schedules }) => schedules.approve('sch_1'), 'POST /schedules/sch_1/approve {}'],
  [({ schedules }) => schedules.approve('sch_1', { run_id: 'scr_1' }), 'POST /schedules/sch_1/approve {"run_id":"scr_1"}'],
  [({ schedules }) => schedules.undoApproval('sch_1'), 'POST /schedules/sch_1/undo-approval'],
  [({ schedules }) => schedules.delete('sch_1'), 'DELETE /schedules/sch_1'],
  [({ keys }) => keys.create({ name: 'a', scopes: ['usage:read'] }), 'POST /keys {"name":"a","scopes":["usage:read"]}'],
  [({ keys }) => keys.get('key_1'), 'GET /keys/key_1'],
  [({ keys }) => keys.update('key_1', { name: 'b' }), 'PATCH /keys/key_1 {"name":"b"}'],
  [({ keys }) => keys.rotate('key_1'), 'POST /keys/key_1/rotate {}'],
  [({ keys }) => keys.checkUrl('key_1', 'https://a.example/'), 'POST /keys/key_1/check-url {"url":"https://a.example/"}'],
  [({ keys }) => keys.linkSecret('key_1'), 'POST /keys/key_1/link-secret'],
  [({ keys }) => keys.rotateLinkSecret('key_1', { overlap_hours: 1 }), 'POST /keys/key_1/link-secret/rotate {"overlap_hours":1}'],
  [({ keys }) => keys.delete('key_1'), 'DELETE /keys/key_1'],
]
t.test('webhooks, schedules and keys have every request of the API', async (t) => {
  for (const [call, request] of requests) {
    const account = anAccount(data({ id: '1' }))
    await call(account)
    t.strictSame(account.calls(), [request])
  }
})

t.test('schedules.runs reads page after page', async (t) => {
  const page = (id: string, next: string | null) => json({ data: [{ id }], pagination: { has_more: next !== null, next_cursor: next } })
  const { schedules, calls } = anAccount(page('scr_1', 'scr_1'), page('scr_2', null))
  const found = await schedules.runs('sch_1', { limit: 1 }).toArray()
  t.strictSame(
    found.map(({ id }) => id),
    ['scr_1', 'scr_2'],
  )
  t.strictSame(calls(), ['GET /schedules/sch_1/runs?limit=1', 'GET /schedules/sch_1/runs?limit=1&cursor=scr_1'])
})

t.test('a run is started once, also if the connection breaks', async (t) => {
  const { schedules, sent } = anAccount(hangUp(), json({ id: 'scr_1' }, { status: 202 }))
  t.match(await schedules.run('sch_1'), { id: 'scr_1' })
  t.equal(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size, 1)
})

t.test('creations of keys and webhooks are repeated with their Idempotency-Key, rotations are not', async (t) => {
  const created = anAccount(hangUp(), data({ id: 'key_1' }))
  await created.keys.create({ name: 'a' })
  t.equal(created.calls().length, 2)
  t.equal(new Set(created.sent.map(({ headers }) => headers['idempotency-key'])).size, 1)
  const rotated = anAccount(hangUp(), data({}))
  await t.rejects(rotated.keys.rotate('key_1'), { code: 'CONNECTION_FAILED' })
  await t.rejects(anAccount(failure(503, 'SERVICE_UNAVAILABLE')).webhooks.test('wh_1'), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(rotated.calls().length, 1)
})

t.test('lists of webhooks and keys go on at the offset of the next record', async (t) => {
  const page = (ids: string[], more: boolean) => json({ success: true, data: ids.map((id) => ({ id })), pagination: { has_more: more } })
  const { webhooks, calls } = anAccount(page(['1', '2'], true), page(['3'], false))
  t.equal((await webhooks.list({ include_inactive: true, limit: 2 }).toArray()).length, 3)
  t.strictSame(calls(), ['GET /webhooks?include_inactive=true&limit=2&offset=0', 'GET /webhooks?include_inactive=true&limit=2&offset=2'])
  const empty = anAccount(page([], true))
  t.strictSame(await empty.keys.list({ offset: 5 }).toArray(), [], 'and end at an empty page')
  t.strictSame(empty.calls(), ['GET /keys?offset=5'])
})

t.test('deliveries are listed with their cursor', async (t) => {
  const page = (next: string | null) => json({ data: [{ id: 'dlv_1' }], pagination: { has_more: next !== null, next_cursor: next } })
  const { webhooks, calls } = anAccount(page('c1'), page(null))
  t.equal((await webhooks.deliveries.list('wh_1', { status: 'failed' }).toArray()).length, 2)
  t.strictSame(calls(), ['GET /webhooks/wh_1/deliveries?status=failed', 'GET /webhooks/wh_1/deliveries?status=failed&cursor=c1'])
})

t.test('usage, devices and status return what is in the envelope', async (t) => {
  t.match(await anAccount(data({ count: 3 })).usage.get(), { count: 3 })
  const days = [{ date: '2026-11-21', count: 3 }]
  t.strictSame(await anAccount(data(days)).usage.days(), days)
  t.match(
    await anAccount(data([{ id: 'iphone_15' }]))
      .devices.list()
      .toArray(),
    [{ id: 'iphone_15' }],
  )
  t.match(await anAccount(json({ status: 'operational' })).status.get(), { status: 'operational' })
})
