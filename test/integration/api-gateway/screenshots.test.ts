import t from 'tap'
import { isScreenshotId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { call } from './client.ts'
import { complete, fail } from './runner-role.ts'
import { startWorld } from './world.ts'

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
await world.createAccount('other')
const key = await world.createKey({ accountName: 'acme' })
const otherKey = await world.createKey({ accountName: 'other' })
const gateway = await world.startGateway({ TINTYPE_LOG_LEVEL: 'debug' })
const api = `${gateway.url}/api/v1`
const page = 'https://example.com/some/page'
const picture = Buffer.from('not a picture, but long enough to request ranges of it')

async function create(body: object = {}, query = '', headers: Record<string, string> = {}) {
  return call(`${api}/screenshots${query}`, { method: 'POST', key, body: { url: page, ...body }, headers })
}

t.test('POST /screenshots returns 202 with exactly the documented fields', async (t) => {
  const { status, headers, body } = await create({ options: { full_page: true, format: 'jpeg' } })
  t.equal(status, 202)
  t.strictSame(Object.keys(body), ['id', 'url', 'status', 'options', 'created_at', 'estimated_time'])
  t.ok(isScreenshotId(body.id))
  t.match(body, { url: page, status: 'pending', estimated_time: /^\d+-\d+s$/, created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ })
  t.strictSame(body.options, { viewport_width: 1920, viewport_height: 1080, format: 'jpeg', full_page: true })
  t.equal(headers.get('location'), `/api/v1/screenshots/${body.id}`)
  t.equal(headers.get('retry-after'), '2')
  const { reservation, ...spec } = (await world.screenshots.get(toObjectName(body.id))).spec
  t.strictSame(spec, { url: page, accountName: 'acme', options: { fullPage: true, format: 'jpeg' } })
  t.match(reservation, /^res_/)
})

t.test('POST /screenshots stores the largest options that it accepts', async (t) => {
  const options = { styles: `/*${'x'.repeat(262_140)}*/`, scripts: `/*${'€'.repeat(262_000)}*/` }
  const { status, body } = await create({ options })
  t.equal(status, 202)
  const { optionsObject = '' } = (await world.screenshots.get(toObjectName(body.id))).spec
  t.ok((await world.bucket.statObject('tintype', optionsObject)).size > 1024 * 1024, 'the options are in the bucket')
})

t.test('GET /screenshots/:id shows all states of a screenshot', async (t) => {
  const { body: created } = await create()
  const pending = await call(`${api}/screenshots/${created.id}`, { key })
  t.match(pending.body, { id: created.id, url_to_capture: page, status: 'pending', download_url: null, error: null, metadata: null })
  t.equal(pending.headers.get('retry-after'), '2')
  await complete(created.id, picture, world)
  const done = await call(`${api}/screenshots/${created.id}?wait=10`, { key })
  t.match(done.body, {
    status: 'completed',
    file_size_bytes: picture.length,
    storage_path: `users/acme/${created.id}.png`,
    metadata: { page_title: 'A page', http_status: 200 },
    attempts: 1,
  })
  t.equal(done.headers.get('retry-after'), null)
  const file = await call(done.body.download_url)
  t.equal(file.status, 200)
  t.same(file.body, picture)
})

t.test('GET /screenshots/:id returns 304 for a matching ETag until the record changes', async (t) => {
  const { body: created } = await create()
  const first = await call(`${api}/screenshots/${created.id}`, { key })
  const tag = first.headers.get('etag') ?? ''
  const headers = { 'if-none-match': tag }
  t.equal((await call(`${api}/screenshots/${created.id}`, { key, headers })).status, 304)
  await complete(created.id, picture, world)
  const second = await call(`${api}/screenshots/${created.id}?wait=10`, { key, headers })
  t.equal(second.status, 200)
  t.not(second.headers.get('etag'), tag)
  const again = { 'if-none-match': second.headers.get('etag') ?? '' }
  t.equal((await call(`${api}/screenshots/${created.id}`, { key, headers: again })).status, 304)
  t.equal((await call(`${api}/screenshots/${created.id}`, { key, method: 'HEAD' })).status, 200)
})

t.test('GET /screenshots/:id?wait= answers as soon as the capture has ended', async (t) => {
  const { body: created } = await create()
  const waiting = call(`${api}/screenshots/${created.id}?wait=25`, { key })
  await fail(created.id, { code: 'DNS_FAILED', message: 'example.invalid does not resolve' }, world)
  const { status, body } = await waiting
  t.equal(status, 200)
  t.match(body, { status: 'failed', error: { code: 'DNS_FAILED', message: 'example.invalid does not resolve' }, download_url: null })
})

t.test('GET /screenshots/:id returns the same 404 for ids of other accounts, unknown ids and malformed ids', async (t) => {
  const { body: created } = await create()
  for (const id of [created.id, 'scr_0123456789abcdefghjkmnpqrs', 'nonsense', 'scr_']) {
    const { status, body } = await call(`${api}/screenshots/${id}`, { key: otherKey })
    t.equal(status, 404, id)
    t.match(body, { success: false, error: { code: 'NOT_FOUND', message: 'screenshot not found' } }, id)
  }
})

t.test('POST /screenshots?wait= returns 200 with the full record when the capture ends in time', async (t) => {
  const before = new Set((await world.screenshots.listAll()).map(({ metadata }) => metadata.name))
  const response = create({}, '?wait=20')
  await complete(await newest(before), picture, world)
  const { status, body } = await response
  t.equal(status, 200)
  t.match(body, { status: 'completed', file_size_bytes: picture.length })
})

t.test('POST /screenshots?wait= returns 202 when time is up', async (t) => {
  const { status, body } = await create({}, '?wait=1')
  t.equal(status, 202)
  t.strictSame(Object.keys(body), ['id', 'url', 'status', 'options', 'created_at', 'estimated_time'])
})

t.test('POST /screenshots with Accept: image/* returns the picture itself', async (t) => {
  const before = new Set((await world.screenshots.listAll()).map(({ metadata }) => metadata.name))
  const response = create({ options: { format: 'webp' } }, '', { accept: 'image/*' })
  const id = await newest(before)
  await complete(id, picture, world)
  const { status, headers, body } = await response
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'image/webp')
  t.equal(headers.get('location'), `/api/v1/screenshots/${id}`)
  t.same(body, picture)
})

t.test('POST /screenshots with response_type by_format returns 422 when the capture fails', async (t) => {
  const before = new Set((await world.screenshots.listAll()).map(({ metadata }) => metadata.name))
  const response = create({ async: false, response_type: 'by_format' })
  const id = await newest(before)
  await fail(id, { code: 'TIMEOUT', message: 'the page did not load in 30000 ms' }, world)
  const { status, headers, body } = await response
  t.equal(status, 422)
  t.match(body.error, { code: 'CAPTURE_FAILED', details: { id, code: 'TIMEOUT' } })
  t.equal(headers.get('location'), `/api/v1/screenshots/${id}`)
  const { reservation: _, ...spec } = (await world.screenshots.get(toObjectName(id))).spec
  t.strictSame(spec, { url: page, accountName: 'acme' }, 'request options are not stored')
})

t.test('GET /screenshots lists the live screenshots of the account, newest first, page by page', async (t) => {
  await world.createAccount('lister')
  const mine = await world.createKey({ accountName: 'lister' })
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    const body = { url: `${page}?${i}`, options: { format: i % 2 === 0 ? 'png' : 'jpeg' } }
    ids.unshift((await call(`${api}/screenshots`, { method: 'POST', key: mine, body })).body.id)
  }
  const list = async (query: string) => (await call(`${api}/screenshots?${query}`, { key: mine })).body
  const all = await list('')
  t.strictSame(
    all.data.map(({ id }: { id: string }) => id),
    ids,
  )
  t.strictSame(all.pagination, { limit: 100, offset: 0, has_more: false, next_cursor: null })
  const first = await list('limit=2')
  t.equal(first.pagination.has_more, true)
  const second = await list(`limit=2&cursor=${first.pagination.next_cursor}`)
  const third = await list(`limit=2&cursor=${second.pagination.next_cursor}`)
  t.strictSame(
    [first, second, third].flatMap(({ data }) => data.map(({ id }: { id: string }) => id)),
    ids,
  )
  t.equal(third.pagination.has_more, false)
  t.strictSame(
    (await list('offset=3')).data.map(({ id }: { id: string }) => id),
    ids.slice(3),
  )
  await complete(ids[0] ?? '', picture, world)
  await call(`${api}/screenshots/${ids[0]}?wait=10`, { key: mine })
  t.equal((await list('status=completed')).data.length, 1)
  t.equal((await list('format=jpeg')).data.length, 2)
  t.equal((await list(`url=${encodeURIComponent(`${page}?3`)}`)).data.length, 1)
  t.equal((await list(`created_after=${all.data[2].created_at}`)).data.length, 2)
  t.equal((await list(`created_before=${all.data[2].created_at}`)).data.length, 2)
})

t.test('DELETE /screenshots/:id deletes the record and all its files', async (t) => {
  const { body: created } = await create()
  await complete(created.id, picture, world)
  await world.bucket.putObject('tintype', `users/acme/${created.id}.thumb.png`, Buffer.from('thumb'))
  const { body: record } = await call(`${api}/screenshots/${created.id}?wait=10`, { key })
  const { status, body } = await call(`${api}/screenshots/${created.id}`, { method: 'DELETE', key })
  t.equal(status, 204)
  t.equal(body.length, 0)
  t.equal((await call(`${api}/screenshots/${created.id}`, { key })).status, 404)
  t.equal((await call(`${api}/screenshots/${created.id}`, { method: 'DELETE', key })).status, 404)
  t.equal((await call(record.download_url)).status, 404)
  const left = await world.bucket.listObjectsV2('tintype', `users/acme/${created.id}.`, true).toArray()
  t.equal(left.length, 0)
  t.equal(await world.screenshots.find(toObjectName(created.id)), undefined)
})

t.test('DELETE /screenshots/:id ends a request that waits for the same screenshot', async (t) => {
  const { body: created } = await create()
  const waiting = call(`${api}/screenshots/${created.id}?wait=25`, { key })
  t.equal((await call(`${api}/screenshots/${created.id}`, { method: 'DELETE', key })).status, 204)
  t.equal((await waiting).status, 404)
})

t.test('GET /screenshots/:id/download redirects to the file, or returns the reason why there is none', async (t) => {
  const { body: created } = await create()
  const early = await call(`${api}/screenshots/${created.id}/download`, { key })
  t.equal(early.status, 409)
  t.equal(early.body.error.code, 'NOT_READY')
  await complete(created.id, picture, world)
  await call(`${api}/screenshots/${created.id}?wait=10`, { key })
  const { status, headers } = await call(`${api}/screenshots/${created.id}/download`, { key })
  t.equal(status, 302)
  t.same((await call(headers.get('location') ?? '')).body, picture)
  await world.bucket.removeObject('tintype', `users/acme/${created.id}.png`)
  const gone = await call(`${api}/screenshots/${created.id}/download`, { key })
  t.equal(gone.status, 410)
  t.equal(gone.body.error.code, 'EXPIRED')
})

t.test('the log of the gateway contains no key and no signature', async (t) => {
  const log = gateway.log()
  t.match(log, 'request completed')
  t.notMatch(log, key)
  t.notMatch(log, 'signature=')
})

/** The id of the only new screenshot. */
async function newest(before: ReadonlySet<string>): Promise<string> {
  for (;;) {
    const found = (await world.screenshots.listAll()).find(({ metadata }) => !before.has(metadata.name))
    if (found) return found.metadata.name.replace('-', '_')
  }
}
