import t from 'tap'
import { Screenshots, toCreateBody, Videos } from '../../../../api-gateway/client/src/resources/screenshots.ts'
import { aCompleted, aRecord, aTransport, failure, hangUp, json, type Reply, type Sent } from '../fake-service.ts'

function aService(...replies: Reply[]) {
  const { transport, ...rest } = aTransport(replies)
  return { screenshots: new Screenshots(transport), ...rest }
}
const pending = (headers = { 'retry-after': '2' }) => json(aRecord(), { headers })
const accepted = () => json({ id: 'scr_1', status: 'pending' }, { status: 202 })
const pathsOf = (sent: Sent[]) => sent.map(({ method, url }) => `${method} ${url.replace('https://tintype.example.com/api/v1', '')}`)

t.test('toCreateBody puts fields of the request beside the options', async (t) => {
  t.strictSame(toCreateBody({ url: 'u', full_page: true, delay: undefined, retention_days: 7, timeout: 1 }), {
    url: 'u',
    retention_days: 7,
    options: { full_page: true, timeout: 1 },
  })
  t.strictSame(toCreateBody({ urls: ['u'] }), { urls: ['u'] })
})

t.test('create sends an Idempotency-Key, which is the same in each retry', async (t) => {
  const { screenshots, sent } = aService(hangUp(), hangUp(), accepted())
  t.match(await screenshots.create({ url: 'https://example.com/', full_page: true }), { id: 'scr_1' })
  const keys = sent.map(({ headers }) => headers['idempotency-key'])
  t.equal(keys.length, 3)
  t.equal(new Set(keys).size, 1)
  t.match(keys[0], /^[0-9a-f]{32}$/)
  t.strictSame(sent[0]?.body, { url: 'https://example.com/', options: { full_page: true } })
})

t.test('create sends a new Idempotency-Key for each call, or yours', async (t) => {
  const { screenshots, sent } = aService(accepted)
  for (const idempotencyKey of [undefined, undefined, 'order-1']) await screenshots.create({ url: 'https://example.com/', idempotencyKey })
  const keys = sent.map(({ headers }) => headers['idempotency-key'])
  t.equal(new Set(keys).size, 3)
  t.equal(keys[2], 'order-1')
})

t.test('create waits while the first request with its key is in progress', async (t) => {
  const { screenshots, delays } = aService(hangUp(), failure(409, 'IDEMPOTENCY_IN_PROGRESS', { 'retry-after': '2' }), accepted())
  t.match(await screenshots.create({ url: 'https://example.com/' }), { id: 'scr_1' })
  t.strictSame(delays, [375, 2_500])
})

t.test('the retries last longer than the ten seconds for which a key can be in progress', async (t) => {
  const { screenshots, delays } = aService(failure(409, 'IDEMPOTENCY_IN_PROGRESS', { 'retry-after': '1' }))
  await t.rejects(screenshots.create({ url: 'https://example.com/' }), { code: 'IDEMPOTENCY_IN_PROGRESS' })
  t.ok(delays.reduce((sum, delay) => sum + delay) > 10_000, String(delays))
})

t.test('createAndWait needs one request if the capture ends in time', async (t) => {
  const { screenshots, sent } = aService(json(aCompleted()))
  t.match(await screenshots.createAndWait({ url: 'https://example.com/', waitTimeout: 60_000 }), { status: 'completed' })
  t.strictSame(pathsOf(sent), ['POST /screenshots?wait=25'])
  t.strictSame(sent[0]?.body, { url: 'https://example.com/' }, 'settings of the client are not sent')
})

t.test('createAndWait waits on with GET, and resolves to failed records too', async (t) => {
  const { screenshots, sent } = aService(accepted(), pending(), json(aRecord({ status: 'failed' })))
  t.match(await screenshots.createAndWait({ url: 'https://example.com/' }), { status: 'failed' })
  t.strictSame(pathsOf(sent), ['POST /screenshots?wait=25', 'GET /screenshots/scr_1?wait=25', 'GET /screenshots/scr_1?wait=25'])
})

t.test('wait pauses for Retry-After if the service did not hold the request', async (t) => {
  const { screenshots, delays } = aService(pending(), pending({ 'retry-after': '5' }), json(aCompleted()))
  await screenshots.wait('scr_1')
  t.strictSame(delays, [2_000, 5_000])
})

t.test('wait does not pause after a request that was held to its end', async (t) => {
  const service = aService(() => {
    service.clock.now += 25_000
    return pending()
  }, json(aCompleted()))
  await service.screenshots.wait('scr_1')
  t.strictSame(service.delays, [])
})

t.test('wait ends after its timeout, with the id to go on', async (t) => {
  const { screenshots, clock, sent } = aService(pending())
  await t.rejects(screenshots.wait('scr_1', { waitTimeout: 31_000 }), {
    code: 'WAIT_TIMEOUT',
    message: "the capture of scr_1 did not end within 31 seconds. Call screenshots.wait('scr_1') to keep waiting, or raise waitTimeout.",
    details: { id: 'scr_1' },
  })
  t.equal(clock.now, 31_000)
  t.equal(pathsOf(sent).at(-1), 'GET /screenshots/scr_1?wait=1', 'the last request is not held longer than the time left')
})

t.test('wait ends with its signal', async (t) => {
  await t.rejects(aService(pending()).screenshots.wait('scr_1', { signal: AbortSignal.abort(new Error('enough')) }), { message: 'enough' })
})

t.test('get reads a record, and holds the request if you wish', async (t) => {
  const { screenshots, sent } = aService(pending())
  await screenshots.get('scr_1')
  await screenshots.get('scr/1?', { wait: 10 })
  t.strictSame(pathsOf(sent), ['GET /screenshots/scr_1', 'GET /screenshots/scr%2F1%3F?wait=10'])
})

t.test('list follows next_cursor, with the same filters on each page', async (t) => {
  const page = (ids: string[], next: string | null) =>
    json({ data: ids.map((id) => aRecord({ id })), pagination: { has_more: next !== null, next_cursor: next } })
  const { screenshots, sent } = aService(page(['1', '2'], 'c1'), page([], 'c2'), page(['3'], null))
  const list = screenshots.list({ status: ['completed', 'failed'], limit: 2, offset: 4 })
  t.strictSame(
    (await list.toArray()).map(({ id }) => id),
    ['1', '2', '3'],
  )
  t.strictSame(pathsOf(sent), [
    'GET /screenshots?status=completed%2Cfailed&limit=2&offset=4',
    'GET /screenshots?status=completed%2Cfailed&limit=2&cursor=c1',
    'GET /screenshots?status=completed%2Cfailed&limit=2&cursor=c2',
  ])
})

t.test('list begins at its offset in each iteration', async (t) => {
  const { screenshots, sent } = aService(json({ data: [], pagination: { has_more: false, next_cursor: null } }))
  const list = screenshots.list({ status: 'completed', offset: 4 })
  await list.toArray()
  await list.toArray()
  t.strictSame(new Set(pathsOf(sent)), new Set(['GET /screenshots?status=completed&offset=4']))
})

t.test('delete succeeds if a retry finds nothing, because the lost request has deleted it', async (t) => {
  const { screenshots, sent } = aService(hangUp(), failure(404, 'NOT_FOUND'))
  await screenshots.delete('scr_1')
  t.strictSame(pathsOf(sent), ['DELETE /screenshots/scr_1', 'DELETE /screenshots/scr_1'])
  await t.rejects(aService(failure(404, 'NOT_FOUND')).screenshots.delete('scr_1'), { code: 'NOT_FOUND' })
})

t.test('download reads the record and then the file', async (t) => {
  const { screenshots, sent } = aService(json(aCompleted()), new Response('picture'))
  t.equal(new TextDecoder().decode(await screenshots.download('scr_1')), 'picture')
  t.equal(sent[1]?.url, 'https://files.example.com/scr_1.png?signature=x')
  const streamed = aService(json(aCompleted()), new Response('picture'))
  t.equal(await new Response(await streamed.screenshots.stream('scr_1')).text(), 'picture')
})

t.test('download reads an artifact', async (t) => {
  const artifacts = [{ type: 'html', download_url: 'https://files.example.com/scr_1.html', file_size_bytes: 1 }] as const
  const { screenshots, sent } = aService(json(aCompleted({ artifacts: [...artifacts] })), new Response('text'))
  await screenshots.download('scr_1', { artifact: 'html' })
  t.equal(sent[1]?.url, 'https://files.example.com/scr_1.html')
})

t.test('download says why there is no file', async (t) => {
  const failed = aRecord({ status: 'failed', error: { code: 'TIMEOUT', message: 'too slow' } })
  await t.rejects(aService(json(failed)).screenshots.download('scr_1'), { name: 'CaptureFailedError', captureCode: 'TIMEOUT' })
  const cases = [
    [aRecord(), /^the capture of scr_1 has not ended\. Call/, undefined],
    [aCompleted({ download_url: null }), /^the file of scr_1 has expired\. Capture/, undefined],
    [aCompleted(), /^scr_1 has no artifact html\. Capture/, 'html'],
  ] as const
  for (const [record, message, artifact] of cases) {
    await t.rejects(aService(json(record)).screenshots.download('scr_1', { artifact }), { code: 'FILE_NOT_AVAILABLE', message })
  }
})

t.test('videos has the same calls at /videos', async (t) => {
  const aVideo = (status = 'completed') =>
    json({ ...aCompleted(), id: 'scr_2', status, format: 'mp4', duration_ms: 5_000, fps: 30, frames: 150 })
  const page = json({ data: [{ id: 'scr_2' }], pagination: { has_more: false, next_cursor: null } })
  const { transport, sent } = aTransport([
    json({ id: 'scr_2', status: 'pending' }, { status: 202 }),
    aVideo(),
    aVideo(),
    page,
    new Response(null, { status: 204 }),
  ])
  const videos = new Videos(transport)
  await videos.create({ url: 'https://example.com/', video_duration: 12, format: 'mp4' })
  t.match(await videos.createAndWait({ url: 'https://example.com/' }), { frames: 150, fps: 30 })
  t.match(await videos.wait('scr_2'), { duration_ms: 5_000 })
  for await (const { id } of videos.list({ format: 'mp4' })) t.equal(id, 'scr_2')
  await videos.delete('scr_2')
  t.strictSame(pathsOf(sent), [
    'POST /videos',
    'POST /videos?wait=25',
    'GET /videos/scr_2?wait=25',
    'GET /videos?format=mp4',
    'DELETE /videos/scr_2',
  ])
  t.strictSame(sent[0]?.body, { url: 'https://example.com/', options: { video_duration: 12, format: 'mp4' } })
  const late = new Videos(aTransport([aVideo('pending')]).transport)
  await t.rejects(late.download('scr_2'), { message: "the capture of scr_2 has not ended. Call videos.wait('scr_2') first." })
})
