import { once } from 'node:events'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { type Gateway, startWorld } from '../api-gateway/world.ts'
import { accountsOf, captures, outcomeOf, PAGE, pictureOf, take } from './stage.ts'
import { startStoreProxy } from './store-proxy.ts'

// All requests for a link share one capture, over three gateway processes that share only the API server and the store, also when the process that
// carries out the flight is killed.

const world = await startWorld()
t.teardown(() => world.stop())
// All downloads of the crowd begin at the same moment, at the end of the capture.
const crowd = { TINTYPE_MAX_DOWNLOADS: '1000' }
const gateways = [await world.startGateway(crowd), await world.startGateway(crowd), await world.startGateway(crowd)] as const
const createAccount = accountsOf(world, gateways[0])
const { end } = captures(world)

async function heldBy({ metricsUrl }: Gateway): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text()
  return Number(/^\w*http_requests_held (\d+)$/m.exec(text)?.[1])
}
const heldByAll = async () => (await Promise.all(gateways.map(heldBy))).reduce((sum, count) => sum + count, 0)

t.test('1,000 concurrent requests for a link through three gateways share one capture and one unit of quota', async (t) => {
  const account = await createAccount('crowd')
  const link = await account.sign(PAGE)
  const COUNT = 1_000
  const sent = Promise.all(Array.from({ length: COUNT }, (_, index) => take(gateways[index % 3]!, link)))
  const shot = await account.whenCreated(1)
  // The gateway that started the capture waits for its end once more, to count it.
  await eventually('all requests wait for the capture', async () => (await heldByAll()) === COUNT + 1)
  await end(shot)
  const responses = await sent
  t.strictSame([...new Set(responses.map(outcomeOf))], ['200'])
  t.ok(responses.every(({ bytes }) => bytes.equals(pictureOf(shot))))
  t.strictSame([(await account.shots()).length, await account.used()], [1, 1])
})

/** Starts a gateway that is killed when the store has executed a write of an object under this prefix. */
async function startVictim(prefix: string): Promise<Gateway> {
  let victim: Gateway | undefined
  const proxy = await startStoreProxy(world.store.endpoint, (method, path) => {
    if (method === 'PUT' && path.startsWith(`/tintype/${prefix}`)) victim?.process.kill('SIGKILL')
  })
  t.teardown(() => proxy.stop())
  victim = await world.startGateway({ TINTYPE_STORAGE_ENDPOINT: proxy.url })
  return victim
}

/** More than 8 KiB of options as JSON, in a query of fewer characters. The gateway stores them in the bucket after it has reserved quota. */
const LARGE_PAGE = `html=${'"'.repeat(5_000)}`

const kills = [
  { name: 'flight', when: 'after it has written the flight', page: PAGE, prefix: (account: string) => `idempotency/${account}/flight-` },
  { name: 'reserved', when: 'after it has reserved quota', page: LARGE_PAGE, prefix: (account: string) => `options/${account}/` },
] as const

// Two of these tests wait ten seconds, until another gateway may take over, so they run at the same time.
t.jobs = 3

for (const { name, when, page, prefix } of kills) {
  t.test(`a gateway that is killed ${when} leaves one capture and one unit`, { buffered: true }, async (t) => {
    const account = await createAccount(name)
    const victim = await startVictim(prefix(name))
    const link = await account.sign(page)
    const killed = Promise.allSettled(Array.from({ length: 10 }, () => take(victim, link)))
    if (victim.process.exitCode === null && victim.process.signalCode === null) await once(victim.process, 'exit')
    t.strictSame([...new Set((await killed).map(({ status }) => status))], ['rejected'], 'control: it was killed before it responded')
    t.strictSame(await account.shots(), [], 'control: it was killed before it created the screenshot')
    const sent = Promise.all(Array.from({ length: 20 }, (_, index) => take(gateways[index % 3]!, link)))
    const shot = await account.whenCreated(1)
    await end(shot)
    const responses = await sent
    t.strictSame([...new Set(responses.map(outcomeOf))], ['200'])
    t.ok(responses.every(({ bytes }) => bytes.equals(pictureOf(shot))))
    t.strictSame([(await account.shots()).length, await account.used()], [1, 1])
  })
}

t.test('a gateway that is killed after it has created the screenshot leaves one capture and one unit', { buffered: true }, async (t) => {
  const account = await createAccount('created')
  const victim = await world.startGateway()
  const link = await account.sign(PAGE)
  const killed = Promise.allSettled(Array.from({ length: 10 }, () => take(victim, link)))
  const shot = await account.whenCreated(1)
  const sent = Promise.all(Array.from({ length: 20 }, (_, index) => take(gateways[index % 3]!, link)))
  victim.process.kill('SIGKILL')
  t.strictSame([...new Set((await killed).map(({ status }) => status))], ['rejected'], 'control: it was killed before it responded')
  await end(shot)
  const responses = await sent
  t.strictSame([...new Set(responses.map(outcomeOf))], ['200'])
  t.ok(responses.every(({ bytes }) => bytes.equals(pictureOf(shot))))
  t.strictSame([(await account.shots()).length, await account.used()], [1, 1])
})
