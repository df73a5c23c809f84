import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { call } from './client.ts'
import { complete } from './runner-role.ts'
import { startWorld } from './world.ts'

const world = await startWorld({ own: true })
t.teardown(() => world.stop())
await world.createAccount('acme')
const key = await world.createKey({ accountName: 'acme' })
const [one, two] = await Promise.all([world.startGateway(), world.startGateway()])
const url = 'https://example.com/'
const picture = Buffer.from('bytes')

const create = (gateway: { url: string }, query = '') =>
  call(`${gateway.url}/v1/screenshots${query}`, { method: 'POST', key, body: { url } })
const read = (gateway: { url: string }, id: string, query = '') => call(`${gateway.url}/v1/screenshots/${id}${query}`, { key })

t.test('one gateway reads at once what the other creates, and follows its deletions', async (t) => {
  for (let i = 0; i < 20; i++) {
    const { body } = await create(one)
    t.equal((await read(two, body.id)).status, 200)
    t.equal((await call(`${two.url}/v1/screenshots/${body.id}`, { method: 'DELETE', key })).status, 204)
    await eventually('the other gateway follows the deletion', async () => (await read(one, body.id)).status === 404)
  }
})

t.test('while the API server is unavailable, reads work, creates are rejected within the timeout, and the status reports it', async (t) => {
  const { body } = await create(one)
  await complete(body.id, picture, world)
  const { body: record } = await read(one, body.id, '?wait=25')
  const away = Promise.withResolvers<void>()
  const restarted = world.plane.restart(away.promise)
  await eventually(
    'the status reports the outage',
    async () => (await call(`${one.url}/v1/status`)).body.components.database.status === 'outage',
  )
  const refused = await create(one)
  t.equal(refused.status, 503)
  t.equal(refused.body.error.code, 'SERVICE_UNAVAILABLE')
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  t.equal((await read(one, body.id)).status, 200)
  t.equal((await call(`${one.url}/v1/screenshots`, { key })).status, 200)
  t.same((await call(record.download_url)).body, picture)
  t.equal((await call(`${one.metricsUrl}/readyz`)).status, 200)
  away.resolve()
  await restarted
  const { body: later } = await eventually('creates work again', async () => {
    const response = await create(one)
    return response.status === 202 && response
  })
  const waiting = read(two, later.id, '?wait=25')
  await complete(later.id, picture, world)
  t.equal((await waiting).body.status, 'completed')
  await eventually('the status is operational again', async () => (await call(`${one.url}/v1/status`)).body.status === 'operational')
})

t.test('while the store is unavailable, records can be read, and files and deletions are rejected within the timeout', async (t) => {
  const { body } = await create(one)
  await complete(body.id, picture, world)
  const { body: record } = await read(one, body.id, '?wait=25')
  const away = Promise.withResolvers<void>()
  const restarted = world.store.restart(away.promise)
  const status = await eventually('the status reports the store', async () => {
    const response = await call(`${one.url}/v1/status`)
    return response.body.components.storage.status === 'outage' && response
  })
  t.equal(status.status, 200)
  t.equal(status.body.status, 'degraded')
  t.equal(status.headers.get('access-control-allow-origin'), '*')
  t.equal((await read(one, body.id)).status, 200)
  t.equal((await call(record.download_url)).status, 503)
  t.equal((await call(`${one.url}/v1/screenshots/${body.id}`, { method: 'DELETE', key })).status, 503)
  away.resolve()
  await restarted
  t.same((await call(record.download_url)).body, picture)
})

t.test('while the store hangs, file requests time out, and other requests do not wait', async (t) => {
  const { body } = await create(one)
  await complete(body.id, picture, world)
  const { body: record } = await read(one, body.id, '?wait=25')
  await world.store.freeze()
  const file = call(record.download_url)
  t.equal((await read(one, body.id)).status, 200)
  t.equal((await create(one)).status, 202)
  t.equal((await file).status, 503)
  t.equal((await call(`${one.url}/v1/status`)).body.components.storage.status, 'outage')
  await world.store.thaw()
  t.same((await call(record.download_url)).body, picture)
})

t.test('a gateway that shuts down responds to held requests, becomes unready, and exits with 0', async (t) => {
  const gateway = await world.startGateway({ TINTYPE_DRAIN_DELAY_MILLISECONDS: '5000' })
  const { body } = await create(gateway)
  const held = read(gateway, body.id, '?wait=25')
  const heldCreation = create(gateway, '?wait=25')
  await eventually('the gateway holds two requests', async () => {
    return (await (await fetch(`${gateway.metricsUrl}/metrics`)).text()).includes('http_requests_held 2')
  })
  // The process ends 10 seconds later. Requests that it held for all of their 25 seconds would get no response.
  const ended = gateway.stop()
  t.match((await held).body, { status: 'pending' })
  t.equal((await heldCreation).status, 202)
  t.equal((await call(`${gateway.metricsUrl}/readyz`)).status, 503)
  const late = await create(gateway)
  t.equal(late.status, 202, 'requests that still arrive are served')
  t.equal(late.headers.get('connection'), 'close')
  t.equal(await ended, 0)
})
