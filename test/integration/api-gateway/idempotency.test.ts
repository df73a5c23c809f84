import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { type ApiResponse, call } from './client.ts'
import { startWorld } from './world.ts'

// One Idempotency-Key creates one object and one charge over several gateways, even if one is killed in between. test/unit/api-gateway/creation has the rules.

const world = await startWorld()
t.teardown(() => world.stop())
const gateways = [await world.startGateway(), await world.startGateway()] as const
const [first, second] = gateways.map(({ url }) => `${url}/api/v1`) as [string, string]

async function anAccount(name: string) {
  await world.createAccount(name)
  const key = await world.createKey({ accountName: name })
  const create = (api: string, idempotency: string, body: object = { url: 'https://example.com/' }) =>
    call(`${api}/screenshots`, { method: 'POST', key, body, headers: { 'idempotency-key': idempotency } })
  const objects = async () => (await world.screenshots.list()).items.filter(({ spec }) => spec.accountName === name)
  const used = async () => (await world.usages.get(name)).status?.used
  return { create, objects, used }
}

t.test('twenty concurrent requests with one key create one screenshot', async (t) => {
  const { create, objects, used } = await anAccount('crowd')
  const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => create(index % 2 === 0 ? first : second, 'order-1')))
  const created = responses.filter(({ status }) => status === 202)
  t.ok(created.length >= 1)
  t.equal(new Set(created.map(({ body }) => body.id)).size, 1)
  for (const { status, body } of responses) if (status !== 202) t.match([status, body.error.code], [409, 'IDEMPOTENCY_IN_PROGRESS'])
  t.strictSame([(await objects()).length, await used()], [1, 1])
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
