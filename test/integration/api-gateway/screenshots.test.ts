import { randomBytes } from 'node:crypto'
import t from 'tap'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from './client.ts'
import { complete } from './runner-role.ts'
import { startWorld } from './world.ts'

// Screenshots and their files with a real API server and store. The rules of the REST API are in test/unit/api-gateway.

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
const key = await world.createKey({ accountName: 'acme' })
const gateway = await world.startGateway({ TINTYPE_LOG_LEVEL: 'debug' })
const api = `${gateway.url}/api/v1`
const page = 'https://example.com/some/page'
const picture = randomBytes(300_000)

const create = (body: object = {}) => call(`${api}/screenshots`, { method: 'POST', key, body: { url: page, ...body } })
const read = (id: string, query = '', headers: Record<string, string> = {}) => call(`${api}/screenshots/${id}${query}`, { key, headers })
const remove = (id: string) => call(`${api}/screenshots/${id}`, { method: 'DELETE', key })
/** A completed screenshot, as its record describes it. */
async function capture(body: object = {}, content = picture) {
  const created = (await create(body)).body
  await complete(created.id, content, world)
  return (await read(created.id, '?wait=10')).body
}

t.test('POST /screenshots stores the largest options that it accepts in the bucket', async (t) => {
  const options = { styles: `/*${'x'.repeat(262_140)}*/`, scripts: `/*${'€'.repeat(262_000)}*/` }
  const large = await create({ options })
  t.equal(large.status, 202)
  const { optionsObject = '' } = (await world.screenshots.get(toObjectName(large.body.id))).spec
  t.ok((await world.bucket.statObject('tintype', optionsObject)).size > 1024 * 1024)
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
  const part = await call(link, { headers: { range: 'bytes=10-99' } })
  t.strictSame([part.status, part.headers.get('content-range')], [206, `bytes 10-99/${picture.length}`])
  t.same(part.body, picture.subarray(10, 100))
  const redirect = await call(`${api}/screenshots/${record.id}/download`, { key })
  t.equal(redirect.status, 302)
  t.same((await call(redirect.headers.get('location') ?? '')).body, picture)
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
