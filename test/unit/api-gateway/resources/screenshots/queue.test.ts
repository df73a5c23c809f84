import t from 'tap'
import { completedStatus } from '../../../../support/fakes/builders.ts'
import { aGateway, aQueue, FakeScreenshots, NOW } from '../../fakes.ts'

const url = 'https://example.com/'

/** A gateway whose accounts may have so many waiting. */
function aBoundedGateway(maxQueuedPerAccount: number) {
  const screenshots = new FakeScreenshots()
  return { ...aGateway({ screenshots, queue: aQueue(screenshots, { maxQueuedPerAccount }) }), screenshots }
}

t.test('POST /screenshots responds with 503 and Retry-After when the queue is full, and writes nothing', async (t) => {
  const { app, headers, screenshots, objects, quota, webhooks } = aBoundedGateway(1)
  const post = (more = {}) => app.inject({ method: 'POST', url: '/v1/screenshots', headers: { ...headers, ...more }, payload: { url } })
  t.equal((await post()).statusCode, 202)
  const before = [objects.objects.size, screenshots.objects.size, JSON.stringify([...quota.usages])]
  const refused = await post({ 'idempotency-key': 'k1' })
  t.strictSame([refused.statusCode, refused.json().error.code], [503, 'QUEUE_FULL'])
  t.match(refused.headers['retry-after'], /^\d+$/)
  const hooked = await app.inject({
    method: 'POST',
    url: '/v1/screenshots',
    headers,
    payload: { url, options: { webhook_url: 'https://hooks.example.com/' } },
  })
  t.equal(hooked.statusCode, 503)
  t.strictSame([objects.objects.size, screenshots.objects.size, JSON.stringify([...quota.usages])], before)
  t.equal(webhooks.objects.length, 0)
})

t.test('POST /screenshots/batch queues all items or none', async (t) => {
  const { app, headers, screenshots, archive, objects } = aBoundedGateway(3)
  const post = (count: number) =>
    app.inject({
      method: 'POST',
      url: '/v1/screenshots/batch',
      headers: { ...headers, 'idempotency-key': `batch-${count}` },
      payload: { urls: Array.from({ length: count }, (_, n) => `${url}${n}`) },
    })
  t.equal((await post(4)).json().error.code, 'QUEUE_FULL')
  t.strictSame([screenshots.objects.size, archive.batches.size, objects.objects.size], [0, 0, 0])
  t.equal((await post(3)).statusCode, 202)
  t.equal((await post(2)).statusCode, 503)
})

t.test('POST /screenshots repeated under its Idempotency-Key is answered as before when the queue is full by then', async (t) => {
  const { app, headers } = aBoundedGateway(1)
  const post = () =>
    app.inject({ method: 'POST', url: '/v1/screenshots', headers: { ...headers, 'idempotency-key': 'again' }, payload: { url } })
  const first = await post()
  const again = await post()
  t.strictSame([first.statusCode, again.statusCode, again.json().id], [202, 202, first.json().id])
  t.equal(again.headers['idempotent-replayed'], 'true')
})

t.test('X-Queue-Position tells the place of what waits, and estimated_time stays as it was answered', async (t) => {
  let ticks = 0
  const { app, headers, screenshots } = aGateway({ now: () => new Date(NOW.getTime() + ticks++) })
  screenshots.queue.meanCaptureMilliseconds = 3_000
  const post = () => app.inject({ method: 'POST', url: '/v1/screenshots', headers, payload: { url } })
  const responses = [await post(), await post()]
  t.strictSame(
    responses.map((response) => [response.headers['x-queue-position'], response.json().estimated_time]),
    [
      ['1', '1-6s'],
      ['2', '3-12s'],
    ],
  )
  screenshots.queue.meanCaptureMilliseconds = 60_000
  const { id } = responses[1]?.json() ?? {}
  const read = () => app.inject({ method: 'GET', url: `/v1/screenshots/${id}`, headers })
  const pending = await read()
  t.strictSame([pending.headers['x-queue-position'], pending.json().estimated_time], ['2', '3-12s'])
  const shot = screenshots.objects.get(id)
  if (shot) screenshots.put({ ...shot, status: completedStatus({}) })
  const done = await read()
  t.strictSame([done.headers['x-queue-position'], done.json().estimated_time], [undefined, '3-12s'])
})
