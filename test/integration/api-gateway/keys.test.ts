import t from 'tap'
import { linkSignature } from '../../../api-gateway/client/src/link/sign.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { keyHash } from '../../../crds/src/crypto/key-text.ts'
import { Label, toObjectName } from '../../../crds/src/identifiers/names.ts'
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

t.test('the text of a key is in no object and no log', async (t) => {
  const { id, key: text } = await create({ name: 'secret' })
  const rotated = await call(`${urlB}/keys/${id}/rotate`, { method: 'POST', key })
  await statusWith(text, urlA)
  await call(`${urlA}/keys?include_inactive=${text}`, { key: text })
  const object = await objectOf(id)
  t.equal(object.metadata.labels?.[Label.keyHash1], keyHash(rotated.body.data.key), 'control: this object belongs to the key')
  const texts = [text, rotated.body.data.key]
  for (const place of [JSON.stringify(await world.keys.listAll()), a.log(), b.log()]) {
    t.ok(place.length > 0)
    for (const secret of texts) t.notOk(place.includes(secret))
  }
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

t.test(
  'a deleted key worked on while a finalizer kept it, also at a replica that starts later and in an account that is created again',
  async (t) => {
    await world.createAccount('team')
    const other = await world.createKey({ accountName: 'team' })
    const [one, two] = [
      await world.createKey({ accountName: 'team', name: 'by kubectl' }),
      await world.createKey({ accountName: 'team', name: 'by REST' }),
    ]
    const named = async (name: string) =>
      (await world.keys.listAll()).find(({ spec }) => spec.accountName === 'team' && spec.name === name)!
    const idOf = async (text: string) => {
      const listed = (await call(`${urlA}/keys`, { key: other })).body.data as { id: string; last_four: string }[]
      return listed.find(({ last_four }) => last_four === text.slice(-4))!.id
    }
    const finalizers = ['example.com/held']
    await eventually('all keys are accepted', async () =>
      (await Promise.all([one, two, other].map((text) => statusWith(text, urlB)))).every((status) => status === 200),
    )
    for (const name of ['by kubectl', 'by REST'])
      await world.keys.patch((await named(name)).metadata.name, mergePatch({ metadata: { finalizers } }))
    const [id, secondId] = [await idOf(one), await idOf(two)]
    const query = `key=${id}&url=https%3A%2F%2Fexample.com%2F&viewport_width=x`
    const { link_secret } = (await call(`${urlA}/keys/${id}/link-secret`, { method: 'POST', key: other })).body.data
    const link = `/take?${query}&signature=${await linkSignature(query, link_secret)}`
    t.equal((await call(urlB + link)).status, 400, 'control: only the option of the link is refused')
    await world.keys.delete((await named('by kubectl')).metadata.name)
    t.equal((await call(`${urlA}/keys/${secondId}`, { method: 'DELETE', key: other })).status, 204)
    t.equal(await statusWith(two, urlA), 401, 'rejected at once by the replica that deleted it')
    const later = await world.startGateway()
    for (const url of [urlA, urlB, `${later.url}/api/v1`]) {
      await eventually('both are rejected', async () => (await statusWith(one, url)) === 401 && (await statusWith(two, url)) === 401)
      t.match(await call(url + link), { status: 401, body: { error: { code: 'INVALID_API_KEY' } } })
      t.strictSame((await call(`${url}/keys`, { key: other })).body.pagination.total, 1)
      // The first reads the cache, the second the API server.
      for (const [method, suffix] of [
        ['GET', ''],
        ['POST', '/rotate'],
      ] as const)
        t.equal((await call(`${url}/keys/${id}${suffix}`, { method, key: other })).status, 404, `${method} ${suffix}`)
    }
    t.match(await call(`${urlA}/keys/${await idOf(other)}`, { method: 'DELETE', key: other }), {
      body: { error: { code: 'LAST_API_KEY' } },
    })
    await world.accounts.patch('team', mergePatch({ metadata: { finalizers } }))
    await world.accounts.delete('team')
    const urls = [urlA, urlB, `${later.url}/api/v1`]
    const statuses = (text: string) => Promise.all(urls.map((url) => statusWith(text, url)))
    await eventually('a key of a deleted account is rejected', async () => (await statuses(other)).every((status) => status === 401))
    await world.accounts.patch('team', mergePatch({ metadata: { finalizers: null } }))
    t.equal(await world.accounts.find('team'), undefined)
    await world.accounts.create({ metadata: { name: 'team' }, spec: { plan: 'scale' } } as never)
    await eventually('the key that was not deleted is accepted again', async () =>
      (await statuses(other)).every((status) => status === 200),
    )
    t.strictSame([...(await statuses(one)), ...(await statuses(two))], [401, 401, 401, 401, 401, 401])
  },
)

t.test('all replicas follow when a key is deactivated and activated', async (t) => {
  const { id, key: text } = await create({ name: 'switch' })
  const set = (is_active: boolean) => call(`${urlA}/keys/${id}`, { method: 'PATCH', key, body: { is_active } })
  t.match(await set(false), { status: 200, body: { data: { is_active: false } } })
  await eventually('the key is rejected', async () => (await statusWith(text, urlB)) === 401)
  await set(true)
  await eventually('the key is accepted', async () => (await statusWith(text, urlB)) === 200)
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

t.test('two changes of one version cannot both succeed', async (t) => {
  const { id } = await create({ name: 'contended' })
  const etag = (await call(`${urlA}/keys/${id}`, { key })).headers.get('etag')!
  const change = (url: string, name: string) =>
    call(`${url}/keys/${id}`, { method: 'PUT', key, body: { name }, headers: { 'if-match': etag } })
  const statuses = (await Promise.all([change(urlA, 'a'), change(urlB, 'b'), change(urlA, 'c')])).map(({ status }) => status).sort()
  t.strictSame(statuses, [200, 412, 412])
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

t.test('the last valid key of an account cannot delete itself, even if the cache of a replica is stale', async (t) => {
  const [{ id }] = (await call(`${urlA}/keys`, { key: foreign })).body.data
  t.match(await call(`${urlA}/keys/${id}`, { method: 'DELETE', key: foreign }), { status: 409, body: { error: { code: 'LAST_API_KEY' } } })
  const second = await call(`${urlA}/keys`, { method: 'POST', key: foreign, body: { name: 'second' } })
  t.equal((await call(`${urlB}/keys/${id}`, { method: 'DELETE', key: foreign })).status, 204)
  const { id: lastId, key: last } = second.body.data
  t.match(await call(`${urlB}/keys/${lastId}`, { method: 'PATCH', key: last, body: { is_active: false } }), {
    status: 409,
    body: { error: { code: 'LAST_API_KEY' } },
  })
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
