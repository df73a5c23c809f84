import { createHmac } from 'node:crypto'
import t from 'tap'
import { call, capture, type RecordBody } from '../../support/cluster/api-client.ts'
import { createWebhook, isInstant, isNumber, isTextOf, testFields, type WebhookBody } from '../../support/cluster/conformance.ts'
import { kubectl } from '../../support/cluster/environment.ts'
import { startClusterReceiver } from '../../support/cluster/receiver.ts'
import { eventually } from '../../support/eventually.ts'
import { page } from '../../support/servers/pages.ts'
import type { ListedRequest } from '../../support/servers/receiver-program.ts'

// Events, posted to a real HTTPS endpoint: parts 2.3, 3.1, 3.3, 5.4, 6 and 8.

interface Event {
  id: string
  type: string
  created_at: string
  data: { screenshot: RecordBody }
}

const receiver = await startClusterReceiver(t)
const toEvent = ({ body }: ListedRequest): Event => JSON.parse(Buffer.from(body, 'base64').toString())
const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`

/** Registers an endpoint of the receiver, and waits until the operator has observed it. */
async function subscribe(path: string, events: string[], changes: object = {}): Promise<WebhookBody> {
  const { body, status } = await createWebhook(t, { url: receiver.url + path, events, signing_secret: secret, ...changes })
  if (status !== 201) throw new Error(JSON.stringify(body))
  const state = 'is_active' in changes ? '=False' : ''
  await kubectl(['wait', `--for=condition=Ready${state}`, `webhook/${body.data.id.replace('_', '-')}`, '--timeout=120s'])
  return body.data
}

const completed = ['screenshot.completed']
const [all, one, inactive, videos, repeated, given, slow] = await Promise.all([
  subscribe('/all', ['screenshot.queued', 'screenshot.completed', 'screenshot.failed']),
  subscribe('/one', completed),
  subscribe('/inactive', completed, { is_active: false }),
  subscribe('/videos', ['video.completed', 'video.failed']),
  subscribe('/fail/2', completed),
  subscribe('/fail/3', completed),
  subscribe('/slow/1', completed),
])
const options = { viewport_width: 400, viewport_height: 300 }
const [good, bad] = await Promise.all([capture(page('/quadrants'), options), capture(page('/hang-up'))])

/** The posts of a screenshot at a path, without repeated ids. An attempt that an operator restart interrupts can be sent twice. */
async function arrivedAt(path: string, id: string): Promise<ListedRequest[]> {
  const requests = (await receiver.received()).filter((request) => request.path === path && toEvent(request).data.screenshot.id === id)
  return [...new Map(requests.map((request) => [`${toEvent(request).id} ${request.headers['x-webhook-attempt']}`, request])).values()]
}
/** Waits for this number of posts of a screenshot at a path. */
const arrive = (path: string, id: string, count: number) =>
  eventually(`${count} posts at ${path}`, async () => {
    const requests = await arrivedAt(path, id)
    return requests.length >= count && requests
  })
const typesOf = (requests: ListedRequest[]): string[] => requests.map((request) => toEvent(request).type).sort()
const statisticsOf = async ({ id }: WebhookBody) =>
  (await call<{ data: { statistics: Record<string, unknown> } }>(`/v1/webhooks/${id}`)).body.data.statistics
/** Waits until the delivery log shows the end of an endpoint's delivery. */
const settled = (hook: WebhookBody) =>
  eventually(`the delivery to ${hook.url} has ended`, async () => {
    const statistics = await statisticsOf(hook)
    return Number(statistics.successful_deliveries) + Number(statistics.failed_deliveries) > 0 && statistics
  })

const [request] = await arrive('/one', good.id, 1)
const event = toEvent(request!)
const record = event.data.screenshot

testFields(t, record, [
  ['spec 2.3: id has the prefix scr_', 'id', isTextOf(/^scr_/)],
  ['spec 2.3: url_to_capture is the captured URL', 'url_to_capture', (value) => value === page('/quadrants')],
  ['spec 2.3: status is completed in the screenshot.completed event', 'status', (value) => value === 'completed'],
  [
    'spec 2.3: storage_path has the form users/<user_id>/<screenshot_id>.<format>',
    'storage_path',
    (value) => value === `users/default/${good.id}.png`,
  ],
  ['spec 2.3: file_size_bytes is the size in bytes', 'file_size_bytes', (value) => value === good.file_size_bytes],
  ['spec 2.3: processing_duration_ms is a number', 'processing_duration_ms', isNumber],
  ['spec 2.3: download_url is an absolute URL', 'download_url', isTextOf(/^https?:\/\//)],
  ['spec 2.3: created_at is ISO 8601 UTC', 'created_at', isInstant],
  ['spec 2.3: completed_at is ISO 8601 UTC', 'completed_at', isInstant],
  ['spec 2.3: options is a subset of the options used', 'options', (value) => JSON.stringify(value) === JSON.stringify(good.options)],
])

t.test('spec 2.3: download_url serves the file without a key', async (t) => {
  const file = await fetch(record.download_url ?? '')
  t.strictSame([file.status, file.headers.get('content-type')], [200, 'image/png'])
  t.equal((await file.arrayBuffer()).byteLength, record.file_size_bytes)
})

testFields(t, event, [
  ['spec 6.2: id has the prefix evt_', 'id', isTextOf(/^evt_/)],
  ['spec 6.2: type is the event type', 'type', (value) => value === 'screenshot.completed'],
  ['spec 6.2: created_at is ISO 8601 UTC', 'created_at', isInstant],
  ['spec 6.2: data.screenshot contains the record', 'data.screenshot.id', (value) => value === good.id],
])

t.test('spec 5.4: X-Webhook-Signature is the lowercase hexadecimal HMAC-SHA256 of the body, keyed with the signing secret', async (t) => {
  const wanted = createHmac('sha256', secret).update(Buffer.from(request!.body, 'base64')).digest('hex')
  t.equal(request!.headers['x-webhook-signature'], wanted)
})

t.test('spec 5.4: the headers of Standard Webhooks are sent too', async (t) => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = request!.headers
  const signed = `${id}.${timestamp}.${Buffer.from(request!.body, 'base64')}`
  t.equal(
    signature,
    `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(signed)
      .digest('base64')}`,
  )
  t.equal(id, event.id)
})

t.test('spec 3.1: creation emits screenshot.queued, success screenshot.completed', async (t) => {
  t.strictSame(typesOf(await arrive('/all', good.id, 2)), ['screenshot.completed', 'screenshot.queued'])
})

t.test('spec 3.1: a capture that does not complete emits screenshot.failed', async (t) => {
  t.strictSame(typesOf(await arrive('/all', bad.id, 2)), ['screenshot.failed', 'screenshot.queued'])
})

t.test('spec 6.1: screenshot.completed is emitted when a job completes successfully, and only then', async (t) => {
  t.strictSame(typesOf(await arrive('/one', good.id, 1)), ['screenshot.completed'])
  t.strictSame(await arrivedAt('/one', bad.id), [])
})

t.test('spec 6.3: the envelope is posted as JSON', async (t) => {
  t.equal(request!.method, 'POST')
  t.match(request!.headers['content-type'], /^application\/json/)
  t.strictSame(Object.keys(event), ['id', 'type', 'created_at', 'data'])
})

t.test('spec 6.1: screenshot.queued contains the record as it was at creation', async (t) => {
  const queued = (await arrive('/all', good.id, 2)).map(toEvent).find(({ type }) => type === 'screenshot.queued')
  t.match(queued?.data.screenshot, { id: good.id, status: 'pending', download_url: null, completed_at: null })
})

t.test('spec 6.1: screenshot.failed contains the record with its error', async (t) => {
  const failed = (await arrive('/all', bad.id, 2)).map(toEvent).find(({ type }) => type === 'screenshot.failed')
  t.match(failed?.data.screenshot, { id: bad.id, status: 'failed', error: bad.error, completed_at: /Z$/ })
})

t.test('spec 6.2: id is unique, and the same in each attempt and for each receiver', async (t) => {
  const ids = (await Promise.all([arrive('/all', good.id, 2), arrive('/all', bad.id, 2)])).flat().map((each) => toEvent(each).id)
  t.equal(new Set(ids).size, 4)
  t.ok(ids.includes(event.id))
  const attempts = await arrive('/fail/2', good.id, 3)
  t.strictSame(new Set(attempts.map((each) => toEvent(each).id)), new Set([event.id]))
  t.equal(new Set(attempts.map(({ body }) => body)).size, 1, 'all attempts have the same body')
})

t.test('spec 6.3: every active webhook subscribed to the type gets the event, others do not', async (t) => {
  t.equal((await arrive('/all', good.id, 2)).length, 2)
  t.equal((await arrivedAt('/one', good.id)).length, 1)
  t.equal((await arrivedAt('/one', bad.id)).length, 0, 'it is not subscribed to failures')
  t.equal((await settled(one)).successful_deliveries, 1)
  t.ok(all.is_active)
})

t.test('spec 3.3: an inactive webhook gets no events', async (t) => {
  await settled(given)
  t.strictSame(
    (await receiver.received()).filter(({ path }) => path === '/inactive'),
    [],
  )
  t.equal((await statisticsOf(inactive)).total_deliveries, 0)
})

t.test('spec 6.1: webhooks of video events receive those of videos, and none of screenshots', async (t) => {
  t.strictSame(videos.events, ['video.completed', 'video.failed'])
  const { body } = await call<{ id: string }>('/v1/videos', {
    method: 'POST',
    body: { url: page('/hang-up'), options: { video_duration: 1 } },
  })
  const posts = await eventually('the event of the video', async () => {
    const requests = (await receiver.received()).filter(({ path }) => path === '/videos')
    return requests.length > 0 && requests
  })
  t.match(JSON.parse(Buffer.from(posts[0]!.body, 'base64').toString()), {
    type: 'video.failed',
    data: { video: { id: body.id, status: 'failed', format: 'mp4' } },
  })
  const types = posts.map((post) => JSON.parse(Buffer.from(post.body, 'base64').toString()).type)
  t.strictSame([...new Set(types)], ['video.failed'])
})

t.test('spec 6.3: a response other than 2xx is retried', async (t) => {
  const attempts = await arrive('/fail/2', good.id, 3)
  t.strictSame(
    attempts.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2', '3'],
  )
  t.match(await settled(repeated), { successful_deliveries: 1, failed_deliveries: 0 })
})

t.test('spec 6.3: after 3 failed attempts the delivery is marked failed and not retried again', async (t) => {
  t.match(await settled(given), { successful_deliveries: 0, failed_deliveries: 1, last_status_code: 500 })
  await settled(slow)
  t.equal((await arrivedAt('/fail/3', good.id)).length, 3)
})

t.test('spec 6.3: a target must respond within 5 seconds', async (t) => {
  t.match(await settled(slow), { successful_deliveries: 1, failed_deliveries: 0 })
  const attempts = await arrivedAt('/slow/1', good.id)
  t.strictSame(
    attempts.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2'],
    'the response after six seconds does not count',
  )
})

// Parts 2.6, 4.12 and 7.4: the webhook test. It runs last, because its post is not an event of a screenshot.

interface TestResult {
  success: boolean
  message: string
  status_code: number
  response_time_ms: number
  error: string | null
  timestamp: string
}
const tryOut = ({ id }: Pick<WebhookBody, 'id'>) => call<TestResult>(`/v1/webhooks/${id}/test`, { method: 'POST' })
const tried = await tryOut(one)

testFields(t, tried.body, [
  ['spec 2.6: success is a boolean', 'success', (value) => value === true],
  ['spec 2.6: message is a string', 'message', isTextOf(/./)],
  ['spec 2.6: status_code is the HTTP status returned by the target endpoint', 'status_code', (value) => value === 200],
  ['spec 2.6: response_time_ms is a number', 'response_time_ms', isNumber],
  ['spec 2.6: error is null on success', 'error', (value) => value === null],
  ['spec 2.6: timestamp is ISO 8601 UTC', 'timestamp', isInstant],
])

t.test('spec 4.12: POST /v1/webhooks/:id/test sends a sample screenshot.completed event with dummy data', async (t) => {
  t.equal(tried.status, 200)
  const samples = (await receiver.received()).filter(
    ({ path, body }) => path === '/one' && toEvent({ body } as ListedRequest).id !== event.id,
  )
  t.equal(samples.length, 1)
  const sample = toEvent(samples[0]!)
  t.match(sample, { id: /^evt_/, type: 'screenshot.completed', data: { test: true, screenshot: { status: 'completed' } } })
  t.strictSame(Object.keys(sample.data.screenshot), Object.keys(record), 'the sample has the fields of a real record')
  const wanted = createHmac('sha256', secret).update(Buffer.from(samples[0]!.body, 'base64')).digest('hex')
  t.equal(samples[0]!.headers['x-webhook-signature'], wanted)
})

t.test('spec 2.10: a webhook test returns a bare object', async (t) => {
  const fields = ['success', 'message', 'status_code', 'response_time_ms', 'error', 'timestamp']
  t.strictSame(Object.keys(tried.body).sort(), fields.sort())
})

t.test('spec 7.4: error describes a failed webhook test, with success false', async (t) => {
  const { status, body } = await tryOut(given)
  t.equal(status, 200)
  t.match(body, { success: false, status_code: 500, error: /./ })
  const { body: nowhere } = await createWebhook(t, { url: receiver.url.replace(/:\d+$/, ':8444') })
  t.match((await tryOut(nowhere.data)).body, { success: false, status_code: 0, error: /./ })
})
