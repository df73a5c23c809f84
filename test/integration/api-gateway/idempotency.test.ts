import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type Entry, toEntryText } from '../../../api-gateway/src/creation/entry-store.ts'
import { planScreenshots } from '../../../api-gateway/src/creation/plan.ts'
import { idempotencyObjectKeys } from '../../../api-gateway/src/creation/request-hash.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiResponse, call } from './client.ts'
import { complete } from './runner-role.ts'
import { startWorld } from './world.ts'

// One Idempotency-Key creates one object and one charge, even if a process is killed in between.

const world = await startWorld()
t.teardown(() => world.stop())
const gateways = [await world.startGateway(), await world.startGateway()] as const
const [first, second] = gateways.map(({ url }) => `${url}/api/v1`) as [string, string]

async function anAccount(name: string) {
  await world.createAccount(name)
  const key = await world.createKey({ accountName: name })
  const create = (api: string, idempotency: string, body: object = { url: 'https://example.com/' }, route = '/screenshots') =>
    call(`${api}${route}`, { method: 'POST', key, body, headers: { 'idempotency-key': idempotency } })
  const objects = async () => (await world.screenshots.list()).items.filter(({ spec }) => spec.accountName === name)
  const used = async () => (await world.usages.get(name)).status?.used
  return { key, create, objects, used }
}

/** The stored entry of a key. */
async function entryOf(account: string, key: string): Promise<{ place: string; entry: Entry }> {
  const [place = ''] = idempotencyObjectKeys(account, key, world.ring)
  const { version: _, signature: __, ...entry } = JSON.parse(await text(await world.bucket.getObject('tintype', place)))
  return { place, entry }
}

t.test('a repeated create returns the first response, also from another replica, and is charged once', async (t) => {
  const { create, objects, used } = await anAccount('repeat')
  const one = await create(first, 'order-1')
  const [two, three] = [await create(second, 'order-1'), await create(first, 'order-1', { options: {}, url: 'https://example.com/' })]
  t.equal(one.headers.get('idempotent-replayed'), null)
  t.strictSame([two.status, two.body, two.headers.get('idempotent-replayed')], [202, one.body, 'true'])
  t.match([three.status, three.body], [422, { error: { code: 'IDEMPOTENCY_KEY_REUSED' } }], 'another body')
  t.strictSame([(await objects()).length, await used()], [1, 1])
})

t.test('a repeated create returns the record as it was created, even if it has finished or was deleted', async (t) => {
  const { create, key } = await anAccount('ended')
  const one = await create(first, 'order-1')
  await complete(one.body.id, Buffer.from('a picture'), world)
  t.strictSame((await create(second, 'order-1')).body, one.body)
  t.equal((await call(`${first}/screenshots/${one.body.id}`, { method: 'DELETE', key })).status, 204)
  t.strictSame((await create(first, 'order-1')).body, one.body)
  t.equal((await call(`${second}/screenshots/${one.body.id}`, { key })).status, 404, 'it stays deleted')
})

t.test('twenty concurrent requests with one key create one screenshot', async (t) => {
  const { create, objects, used } = await anAccount('crowd')
  const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => create(index % 2 === 0 ? first : second, 'order-1')))
  const created = responses.filter(({ status }) => status === 202)
  t.ok(created.length >= 1)
  t.equal(new Set(created.map(({ body }) => body.id)).size, 1)
  for (const { status, body } of responses) if (status !== 202) t.match([status, body.error.code], [409, 'IDEMPOTENCY_IN_PROGRESS'])
  t.strictSame([(await objects()).length, await used()], [1, 1])
})

t.test('a repeated batch has the same items, including rejected ones, and is charged once', async (t) => {
  await world.createAccount('little', {}, { limit: 2 })
  const key = await world.createKey({ accountName: 'little' })
  const send = (api: string) =>
    call(`${api}/screenshots/batch`, {
      method: 'POST',
      key,
      body: { urls: ['https://example.com/a', 'https://example.com/b', 'https://example.com/c'] },
      headers: { 'idempotency-key': 'b' },
    })
  const one = await send(first)
  t.match(one.body, { successful: 2, failed: 1 })
  t.strictSame((await send(second)).body, one.body)
})

t.test('a rejected request does not use its key', async (t) => {
  await world.createAccount('full', {}, { limit: 0 })
  const key = await world.createKey({ accountName: 'full' })
  const send = () =>
    call(`${first}/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/' }, headers: { 'idempotency-key': 'k' } })
  t.equal((await send()).status, 429)
  await world.usages.patch('full', mergePatch({ spec: { limit: 1 } }))
  await eventually('the gateway uses the new limit', async () => (await send()).status === 202)
})

t.test('a key that is a day old creates a new screenshot and keeps the old picture', async (t) => {
  const { create, key, objects } = await anAccount('old')
  const one = await create(first, 'order-1')
  await complete(one.body.id, Buffer.from('a picture'), world)
  const { place, entry } = await entryOf('old', 'order-1')
  const plan = planScreenshots(new Date(Date.parse(entry.plan.at) - 86_400_000), 1, false)
  await world.bucket.putObject('tintype', place, toEntryText(place, { ...entry, plan }, world.ring))
  const two = await create(second, 'order-1')
  t.equal(two.status, 202)
  t.not(two.body.id, one.body.id)
  t.equal((await objects()).length, 2)
  const link = (await call(`${first}/screenshots/${one.body.id}`, { key })).body.download_url
  t.equal((await call(new URL(link, first).href)).status, 200)
})

t.test('a rotation of the signing keys keeps Idempotency-Keys', async (t) => {
  const { create, objects } = await anAccount('rotated')
  const one = await create(first, 'order-1')
  await world.writeRing({ current: 'b', keys: { ...world.ring.keys, b: Buffer.alloc(32, 2).toString('base64') } })
  const rotated = { current: 'b', keys: { b: Buffer.alloc(32, 2).toString('base64') } }
  let tries = 0
  // Each request has a new key, because a key that was used before the rotation is found under its old entry.
  await eventually('the gateway signs with the new key', async () => {
    const key = `try-${++tries}`
    await create(second, key)
    return world.bucket.statObject('tintype', idempotencyObjectKeys('rotated', key, rotated)[0]!).then(
      () => true,
      () => false,
    )
  })
  const two = await create(second, 'order-1')
  t.strictSame([two.status, two.body], [202, one.body])
  t.ok((await objects()).length >= 2)
  await world.writeRing(world.ring)
})

t.test('other gateways finish the requests of a killed gateway, once', { timeout: 540_000 }, async (t) => {
  const { create, objects, used } = await anAccount('killed')
  const COUNT = 60
  const body = (index: number) => ({ url: 'https://example.com/', external_identifier: `n${index}` })
  for (const delay of [5, 25, 60]) {
    const victim = await world.startGateway()
    const sent = Array.from({ length: COUNT }, (_, index) =>
      create(`${victim.url}/api/v1`, `${delay}-${index}`, body(index)).catch(() => undefined),
    )
    await sleep(delay)
    victim.process.kill('SIGKILL')
    await Promise.all([...sent, once(victim.process, 'exit')])
  }
  const finish = async (key: string, index: number): Promise<ApiResponse> => {
    for (;;) {
      const response = await create(index % 2 === 0 ? first : second, key, body(index))
      // 503 means that the gateway is overloaded, so the client retries with the same key.
      if (![409, 503].includes(response.status)) return response
      await sleep(1_000)
    }
  }
  const responses = await Promise.all(
    [5, 25, 60].flatMap((delay) => Array.from({ length: COUNT }, (_, index) => finish(`${delay}-${index}`, index))),
  )
  t.strictSame([...new Set(responses.map(({ status }) => status))], [202])
  const names = responses.map(({ body: { id } }) => toObjectName(id)).sort()
  t.strictSame((await objects()).map(({ metadata }) => metadata.name).sort(), names, 'one object for each key')
  t.equal(await used(), names.length, 'one charge for each object')
})
