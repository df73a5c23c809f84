import t from 'tap'
import { linkSignature } from '../../../api-gateway/client/src/link/sign.ts'
import { mergePatch } from '../../../crds/client/resource.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { ApiKey } from '../../../crds/src/kinds/api-key.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from './client.ts'
import { startWorld } from './world.ts'

// The lifecycle of keys over two replicas that share only the API server.

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
await world.createAccount('other')
const key = await world.createKey({ accountName: 'acme' })
const foreign = await world.createKey({ accountName: 'other' })
const [a, b] = await Promise.all([world.startGateway(), world.startGateway()])
const [urlA, urlB] = [`${a.url}/api/v1`, `${b.url}/api/v1`]

const create = async (body: object) => {
  const { status, body: response } = await call(`${urlA}/keys`, { method: 'POST', key, body })
  t.equal(status, 201)
  return response.data as { id: string; key: string; last_four: string }
}
const objectOf = (id: string): Promise<ApiKey> => world.keys.get(toObjectName(id))
const statusWith = async (text: string, url: string) => (await call(`${url}/keys`, { key: text })).status

t.test('a key created by one replica is accepted and returned by another at once', async (t) => {
  const { id, key: text } = await create({ name: 'ci', expires_in_days: 30 })
  t.equal(await statusWith(text, urlB), 200)
  const found = await call(`${urlB}/keys/${id}`, { key })
  t.match(found, { status: 200, body: { success: true, data: { id, name: 'ci', last_four: text.slice(-4), is_active: true } } })
  t.equal((await call(`${urlB}/keys/${id}`, { key, headers: { 'if-none-match': found.headers.get('etag')! } })).status, 304)
  t.equal((await call(`${urlB}/keys/${id}`, { key: foreign })).status, 404, 'a key of another account is not found')
  t.notOk('key' in found.body.data)
})

t.test('all replicas return the same link secret, accept its links at once, and follow a rotation', async (t) => {
  const secretOf = async (url: string, id: string) =>
    (await call(`${url}/keys/${id}/link-secret`, { method: 'POST', key })).body.data.link_secret
  for (let count = 0; count < 5; count++) {
    const { id } = await create({ name: 'links' })
    const secret = await secretOf(urlA, id)
    const query = `key=${id}&url=https%3A%2F%2Fexample.com%2F&viewport_width=x`
    const link = `${urlB}/take?${query}&signature=${await linkSignature(query, secret)}`
    t.match(await call(link), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, 'only its option is refused')
    const forged = link.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
    t.match(await call(forged), { status: 403, body: { error: { code: 'LINK_INVALID' } } })
  }
  const { id } = await create({ name: 'rotated' })
  const secret = await secretOf(urlA, id)
  t.match(secret, /^lsk_[\w-]{43}$/)
  t.equal(await secretOf(urlB, id), secret)
  const rotated = await call(`${urlA}/keys/${id}/link-secret/rotate`, { method: 'POST', key })
  t.not(rotated.body.data.link_secret, secret)
  t.equal(await secretOf(urlB, id), rotated.body.data.link_secret)
  for (const place of [JSON.stringify(await world.keys.listAll()), a.log(), b.log()]) t.notOk(place.includes('lsk_'))
})

t.test('a deleted key worked on while a finalizer kept it, also at a replica that starts later', async (t) => {
  const { id, key: text } = await create({ name: 'held' })
  t.equal(await statusWith(text, urlB), 200, 'the other replica has it in its cache')
  await world.keys.patch(toObjectName(id), mergePatch({ metadata: { finalizers: ['example.com/held'] } }))
  t.equal((await call(`${urlA}/keys/${id}`, { method: 'DELETE', key })).status, 204)
  t.equal(await statusWith(text, urlA), 401, 'rejected at once by the replica that deleted it')
  t.ok((await objectOf(id)).metadata.deletionTimestamp, 'control: the finalizer keeps it')
  const later = await world.startGateway()
  for (const url of [urlA, urlB, `${later.url}/api/v1`]) {
    await eventually('it is rejected', async () => (await statusWith(text, url)) === 401)
    // The first reads the cache, the second the API server.
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/rotate'],
    ] as const)
      t.equal((await call(`${url}/keys/${id}${suffix}`, { method, key })).status, 404, `${method} ${suffix}`)
  }
})

t.test('after a rotation both texts are valid on every replica until the overlap ends', async (t) => {
  const { id, key: old } = await create({ name: 'rotating' })
  t.equal(await statusWith(old, urlB), 200, 'the other replica has it in its cache')
  const rotated = await call(`${urlA}/keys/${id}/rotate`, { method: 'POST', key, body: { overlap_hours: 1 } })
  const { key: text } = rotated.body.data
  t.equal(rotated.status, 201)
  for (const url of [urlA, urlB]) t.strictSame([await statusWith(old, url), await statusWith(text, url)], [200, 200])
  t.match(await call(`${urlB}/keys/${id}/rotate`, { method: 'POST', key }), {
    status: 409,
    body: { error: { code: 'ROTATION_IN_PROGRESS' } },
  })
  // The overlap takes hours, so the test moves its end to the present.
  const expiryTime = new Date(Date.now() - 1).toISOString()
  await world.keys.patch(toObjectName(id), mergePatch({ spec: { previous: { expiryTime } } }))
  for (const url of [urlA, urlB]) {
    await eventually('the old text is rejected', async () => (await statusWith(old, url)) === 401)
    t.equal(await statusWith(text, url), 200)
  }
})

t.test('exactly one of many concurrent rotations succeeds, and its text works', async (t) => {
  const { id } = await create({ name: 'raced' })
  const rotate = (url: string) => call(`${url}/keys/${id}/rotate`, { method: 'POST', key })
  const responses = await Promise.all([urlA, urlB, urlA, urlB, urlA].map(rotate))
  const won = responses.filter(({ status }) => status === 201)
  t.equal(won.length, 1)
  t.ok(responses.every(({ status, body }) => status === 201 || body.error.code === 'ROTATION_IN_PROGRESS'))
  t.equal(await statusWith(won[0]?.body.data.key, urlB), 200)
})

t.test('two keys that end each other’s validity concurrently through two replicas cannot both succeed', async (t) => {
  for (const round of [1, 2, 3, 4]) {
    const accountName = `duel-${round}`
    await world.createAccount(accountName)
    const [one, other] = [await world.createKey({ accountName }), await world.createKey({ accountName })]
    await eventually('both replicas accept both keys', async () => {
      const statuses = await Promise.all([one, other].flatMap((text) => [urlA, urlB].map((url) => statusWith(text, url))))
      return statuses.every((status) => status === 200)
    })
    const { data } = (await call(`${urlA}/keys`, { key: one })).body as { data: { id: string; last_four: string }[] }
    const idOf = (text: string) => data.find(({ last_four }) => last_four === text.slice(-4))?.id
    const responses = await Promise.all([
      call(`${urlA}/keys/${idOf(other)}`, { method: 'DELETE', key: one }),
      call(`${urlB}/keys/${idOf(one)}`, { method: 'PATCH', key: other, body: { is_active: false } }),
    ])
    const statuses = responses.map(({ status }) => status)
    t.ok(statuses.filter((status) => status < 300).length <= 1, statuses.join(' and '))
    const left = (await world.keys.listAll()).filter(({ spec }) => spec.accountName === accountName && spec.active !== false)
    t.ok(left.length > 0, 'one key remains')
  }
})

t.test('the last use of a key is written when a replica exits at the latest', async (t) => {
  const { id, key: text } = await create({ name: 'used' })
  const unused = await create({ name: 'unused' })
  const gateway = await world.startGateway()
  t.equal(await statusWith(text, `${gateway.url}/v1`), 200)
  t.equal((await objectOf(id)).status?.lastUsedTime, undefined, 'not with each request')
  t.equal(await gateway.stop(), 0)
  t.ok(Math.abs(Date.parse((await objectOf(id)).status?.lastUsedTime ?? '') - Date.now()) < 60_000)
  await eventually('the other replica reports it', async () => (await call(`${urlA}/keys/${id}`, { key })).body.data.last_used_at !== null)
  t.equal((await objectOf(unused.id)).status?.lastUsedTime, undefined)
})
