import { randomBytes } from 'node:crypto'
import { Agent, get } from 'node:http'
import t from 'tap'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiResponse, call } from './client.ts'
import { complete, fail } from './runner-role.ts'
import { startWorld } from './world.ts'

// Screenshots and their files with a real API server and store. The rules of the REST API are in test/unit/api-gateway.

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
const key = await world.createKey({ accountName: 'acme' })
const gateway = await world.startGateway({ TINTYPE_LOG_LEVEL: 'debug', TINTYPE_MAX_DOWNLOADS: '2' })
const api = `${gateway.url}/api/v1`
const page = 'https://example.com/some/page'
const picture = randomBytes(300_000)

const create = (body: object = {}, query = '', headers: Record<string, string> = {}) =>
  call(`${api}/screenshots${query}`, { method: 'POST', key, body: { url: page, ...body }, headers })
const read = (id: string, query = '', headers: Record<string, string> = {}) => call(`${api}/screenshots/${id}${query}`, { key, headers })
const remove = (id: string) => call(`${api}/screenshots/${id}`, { method: 'DELETE', key })
/** A completed screenshot, as its record describes it. */
async function capture(body: object = {}, content = picture) {
  const created = (await create(body)).body
  await complete(created.id, content, world)
  return (await read(created.id, '?wait=10')).body
}

t.test('POST /screenshots stores what was chosen and nothing else, and the largest options that it accepts in the bucket', async (t) => {
  const { status, body } = await create({ async: true, options: { full_page: true, format: 'jpeg' } })
  t.equal(status, 202)
  const { reservation, ...spec } = (await world.screenshots.get(toObjectName(body.id))).spec
  t.strictSame(spec, { url: page, accountName: 'acme', options: { fullPage: true, format: 'jpeg' } })
  t.match(reservation, /^res_/)
  const options = { styles: `/*${'x'.repeat(262_140)}*/`, scripts: `/*${'€'.repeat(262_000)}*/` }
  const large = await create({ options })
  t.equal(large.status, 202)
  const { optionsObject = '' } = (await world.screenshots.get(toObjectName(large.body.id))).spec
  t.ok((await world.bucket.statObject('tintype', optionsObject)).size > 1024 * 1024)
})

t.test('GET /screenshots/:id shows all states, with an ETag that changes with the record', async (t) => {
  const { id } = (await create()).body
  const pending = await read(id)
  t.match(pending.body, { id, url_to_capture: page, status: 'pending', download_url: null, error: null, metadata: null })
  t.equal(pending.headers.get('retry-after'), '2')
  const tagOf = ({ headers }: ApiResponse) => ({ 'if-none-match': headers.get('etag') ?? '' })
  t.equal((await read(id, '', tagOf(pending))).status, 304)
  const waiting = read(id, '?wait=25', tagOf(pending))
  await complete(id, picture, world)
  const done = await waiting
  t.equal(done.status, 200, 'it responds as soon as the capture has ended')
  t.match(done.body, {
    ...{ status: 'completed', file_size_bytes: picture.length, storage_path: `users/acme/${id}.png`, attempts: 1 },
    metadata: { page_title: 'A page', http_status: 200 },
  })
  t.equal(done.headers.get('retry-after'), null)
  t.equal((await read(id, '', tagOf(done))).status, 304)
  t.equal((await call(`${api}/screenshots/${id}`, { key, method: 'HEAD' })).status, 200)
})

t.test('POST /screenshots with Accept: image/* holds the request and returns the picture itself, or why there is none', async (t) => {
  /** Ends the only new capture while its request is held. */
  const whileHeld = async (body: object, headers: Record<string, string>, end: (id: string) => Promise<void>) => {
    const before = new Set((await world.screenshots.listAll()).map(({ metadata }) => metadata.name))
    const response = create(body, '', headers)
    const { metadata } = await eventually('the capture is created', async () =>
      (await world.screenshots.listAll()).find((shot) => !before.has(shot.metadata.name)),
    )
    const id = metadata.name.replace('-', '_')
    await end(id)
    return { ...(await response), id }
  }
  const held = await whileHeld({ options: { format: 'webp' } }, { accept: 'image/*' }, (id) => complete(id, picture, world))
  t.equal(held.status, 200)
  t.strictSame([held.headers.get('content-type'), held.headers.get('location')], ['image/webp', `/api/v1/screenshots/${held.id}`])
  t.same(held.body, picture)
  const error = { code: 'TIMEOUT', message: 'the page did not load in 30000 ms' } as const
  const failed = await whileHeld({ async: false, response_type: 'by_format' }, {}, (id) => fail(id, error, world))
  t.match([failed.status, failed.body.error], [422, { code: 'CAPTURE_FAILED', details: { id: failed.id, code: 'TIMEOUT' } }])
})

t.test('GET /screenshots lists the live screenshots of the account, newest first, page by page', async (t) => {
  await world.createAccount('lister')
  const mine = await world.createKey({ accountName: 'lister' })
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.unshift((await call(`${api}/screenshots`, { method: 'POST', key: mine, body: { url: page } })).body.id)
  const list = async (query = '') => (await call(`${api}/screenshots?limit=2${query}`, { key: mine })).body
  const first = await list()
  const second = await list(`&cursor=${first.pagination.next_cursor}`)
  t.strictSame(
    [...first.data, ...second.data].map(({ id }) => id),
    ids,
  )
  t.strictSame([first.pagination.has_more, second.pagination.has_more], [true, false])
  await complete(ids[0] ?? '', picture, world)
  await eventually('the completed one is found', async () => (await list('&status=completed')).data.length === 1)
})

t.test('DELETE /screenshots/:id deletes the record and all its files, and ends a request that waits for it', async (t) => {
  const { id, download_url: link } = await capture()
  await world.bucket.putObject('tintype', `users/acme/${id}.thumb.png`, Buffer.from('thumb'))
  const { status, body } = await remove(id)
  t.strictSame([status, body.length], [204, 0])
  t.strictSame([(await read(id)).status, (await remove(id)).status, (await call(link)).status], [404, 404, 404])
  t.strictSame(await world.bucket.listObjectsV2('tintype', `users/acme/${id}.`, true).toArray(), [])
  t.equal(await world.screenshots.find(toObjectName(id)), undefined)
  const pending = (await create()).body.id
  const waiting = read(pending, '?wait=25')
  t.equal((await remove(pending)).status, 204)
  t.equal((await waiting).status, 404)
})

t.test('a link serves the file and ranges of it, also with a name and a lifetime of its own', async (t) => {
  const record = await capture({ external_identifier: 'order-7', attachment_name: 'Seite ä.png', download_url_ttl: 120 })
  t.equal(record.external_identifier, 'order-7')
  const seconds = (Date.parse(record.download_url_expires_at) - Date.now()) / 1_000
  t.ok(seconds > 100 && seconds <= 240, `${seconds} s`)
  const { download_url: link } = record
  const { headers, body } = await call(link)
  t.same(body, picture)
  t.equal(headers.get('content-disposition'), `attachment; filename="Seite _.png"; filename*=UTF-8''Seite%20%C3%A4.png`)
  t.equal((await call(link.replace('Seite', 'Site'))).status, 403, 'the signature covers the name')
  const size = picture.length
  for (const [range, start, end] of [
    ['bytes=0-99', 0, 100],
    [`bytes=${size - 10}-`, size - 10, size],
  ] as const) {
    const part = await call(link, { headers: { range } })
    t.strictSame([part.status, part.headers.get('content-range')], [206, `bytes ${start}-${end - 1}/${size}`])
    t.same(part.body, picture.subarray(start, end), range)
  }
  const redirect = await call(`${api}/screenshots/${record.id}/download`, { key })
  t.equal(redirect.status, 302)
  t.same((await call(redirect.headers.get('location') ?? '')).body, picture)
})

t.test('a link serves only the file that the record describes, and returns 410 when it is gone', async (t) => {
  const { artifacts, storage_path: path, download_url: link } = await capture({ options: { thumbnail_width: 100 } })
  t.same((await call(artifacts[0].download_url)).body, picture)
  await world.bucket.putObject('tintype', path, Buffer.from('something else under the same name'))
  t.equal((await call(link)).status, 404)
  await world.bucket.removeObject('tintype', path)
  t.match(await call(link), { status: 410, body: { error: { code: 'EXPIRED' } } })
})

t.test('links of the old key are valid while the key ring contains it', async (t) => {
  const { id, download_url: old } = await capture()
  const fresh = { current: 'b', keys: { ...world.ring.keys, b: randomBytes(32).toString('base64') } }
  await world.writeRing(fresh)
  await eventually('links are signed with the new key', async () => (await read(id)).body.download_url.includes('signature=b.'))
  t.equal((await call(old)).status, 200)
  await world.writeRing({ current: 'b', keys: { b: fresh.keys.b } })
  await eventually('the old key is rejected', async () => (await call(old)).status === 403)
  await world.writeRing(world.ring)
  await eventually('the first key ring is restored', async () => (await call(old)).status === 200)
})

t.test('downloads above the limit return 503 until one ends', async (t) => {
  const { download_url: link } = await capture({}, randomBytes(20_000_000))
  const agent = new Agent()
  /** The client reads nothing, so the sockets fill and the download stays open. Returns a function that ends it. */
  const download = () => {
    const { promise, resolve } = Promise.withResolvers<() => void>()
    get(link, { agent }, (response) => resolve(() => response.destroy())).on('error', () => {})
    return promise
  }
  const slow = [await download(), await download()]
  const refused = await call(link)
  t.match(refused, { status: 503, body: { error: { code: 'TOO_MANY_DOWNLOADS' } } })
  t.equal(refused.headers.get('retry-after'), '5')
  for (const end of slow) end()
  await eventually('a download is accepted again', async () => (await call(link)).status === 200)
  agent.destroy()
})

t.test('links lead directly to the store if it has a public URL', async (t) => {
  const open = await world.startGateway({ TINTYPE_STORAGE_PUBLIC_URL: world.store.endpoint })
  const { id } = await capture({ options: { format: 'webp' }, attachment_name: 'Seite ä.webp' })
  const readOpen = async () => (await call(`${open.url}/v1/screenshots/${id}`, { key })).body
  const { download_url: link, download_url_expires_at: end } = await readOpen()
  t.ok(link.startsWith(`${world.store.endpoint}/tintype/users/acme/${id}.webp?`))
  const { status, headers, body } = await call(link)
  t.strictSame([status, headers.get('content-type')], [200, 'image/webp'])
  t.same(body, picture)
  t.equal(headers.get('content-disposition'), `attachment; filename="Seite _.webp"; filename*=UTF-8''Seite%20%C3%A4.webp`)
  const signed = new URL(link).searchParams
  const signedAt = signed.get('X-Amz-Date')?.replace(/(....)(..)(..T..)(..)(..)Z/, '$1-$2-$3:$4:$5Z') ?? ''
  t.equal(Date.parse(signedAt) + Number(signed.get('X-Amz-Expires')) * 1_000, Date.parse(end))
  t.equal((await readOpen()).download_url, link, 'the same link is returned again')
  t.equal((await call(`${open.url}/v1/screenshots/${id}/download`, { key })).headers.get('location'), link)
  t.equal((await call(link.replace('.webp?', '.png?'))).status, 403)
})

t.test('the log of the gateway contains no key and no signature', async (t) => {
  const log = gateway.log()
  t.match(log, 'request completed')
  t.notMatch(log, key)
  t.notMatch(log, 'signature=')
})
