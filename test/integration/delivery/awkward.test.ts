import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'minio'
import t from 'tap'
import { openEventStore } from '../../../operator/src/controllers/delivery/events/event-bodies.ts'
import { startMinio } from '../../cluster/programs/minio.ts'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { failFirst, ring, startReceiver, startStage } from './stage.ts'

// Complete deliveries to endpoints that are slow, change their address, or behave differently, and with a bucket that keeps the bodies of events.

const SETTINGS = { timeoutMilliseconds: 5_000, retryDelaysMilliseconds: [300, 600], allowedCidrs: ['127.0.0.0/8'], allowedHosts: [] }
const PRIVATE = '10.9.9.9'

const stage = await startStage(t)
const receiver = await startReceiver(t, ['IP:127.0.0.1', 'DNS:hooks.example.com'])
const directory = await mkdtemp(join(tmpdir(), 'tintype-events-'))
const minio = await startMinio({ directory })
t.teardown(async () => {
  await minio.stop()
  await rm(directory, { recursive: true, force: true })
})
const { endpoint, accessKey, secretKey, port } = minio
await new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey }).makeBucket('tintype')
const store = openEventStore({ endpoint, region: 'us-east-1', bucket: 'tintype', accessKey, secretKey })

t.beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = answerWith(200)
})
t.afterEach(async () => {
  for (const { metadata } of await stage.hooks.listAll()) await stage.hooks.delete(metadata.name)
})

t.test('delivery checks the address at each attempt, whatever the name resolved to before', async (t) => {
  const answers = ['127.0.0.1', PRIVATE, '127.0.0.1']
  let asked = 0
  const resolve = async () => [answers[asked++] ?? PRIVATE]
  const leader = await stage.lead({ certificates: [receiver.ca], settings: SETTINGS, resolve })
  await stage.subscribe('moving', { url: `https://hooks.example.com:${receiver.port}/` })
  receiver.answer = (request, response) =>
    answerWith(request.headers['x-webhook-attempt'] === '1' ? 500 : 200, '', { connection: 'close' })(request, response)
  const shot = await stage.complete()
  t.equal((await stage.whenEntry(shot, 'moving', { state: 'ok' })).attempts, 3)
  t.strictSame(
    receiver.received.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '3'],
    'the second attempt, to a private address, was never sent',
  )
  t.equal(asked, 3)
  await leader.end()
})

t.test('delivery of one event continues independently for each endpoint, with one id', async (t) => {
  const leader = await stage.lead({ certificates: [receiver.ca], settings: SETTINGS })
  for (const name of ['good', 'flaky', 'broken']) await stage.subscribe(name, { url: `${receiver.url}/${name}` })
  receiver.answer = (request, response) => {
    const isRefused = request.path === '/broken' || (request.path === '/flaky' && request.headers['x-webhook-attempt'] === '1')
    return answerWith(isRefused ? 502 : 200)(request, response)
  }
  const shot = await stage.complete()
  const entries = [
    await stage.whenEntry(shot, 'good', { state: 'ok' }),
    await stage.whenEntry(shot, 'flaky', { state: 'ok' }),
    await stage.whenEntry(shot, 'broken', { state: 'failed' }),
  ]
  t.strictSame(
    entries.map(({ attempts }) => attempts),
    [1, 2, 3],
  )
  const attemptsAt = (path: string) =>
    receiver.received.filter((request) => request.path === path).map(({ headers }) => headers['x-webhook-attempt'])
  t.strictSame(['/good', '/flaky', '/broken'].map(attemptsAt), [['1'], ['1', '2'], ['1', '2', '3']])
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1, 'one event')
  t.equal(new Set(receiver.received.map(({ headers }) => headers['x-webhook-delivery'])).size, 3, 'three deliveries')
  await leader.end()
})

t.test('receivers of one account that hang do not take the posts of another account', async (t) => {
  const leader = await stage.lead({ certificates: [receiver.ca], settings: { ...SETTINGS, maxPostsPerAccount: 3 } })
  const hanging = ['hanging-1', 'hanging-2']
  for (const name of hanging) await stage.subscribe(name, { url: `${receiver.url}/hangs`, accountName: 'acme' })
  await stage.subscribe('victim', { url: `${receiver.url}/victim` })
  const held = Promise.withResolvers<void>()
  receiver.answer = async ({ path }, response) => {
    if (path === '/hangs') await held.promise
    response.writeHead(200).end()
  }
  const shots = [await stage.complete(undefined, { accountName: 'acme' }), await stage.complete(undefined, { accountName: 'acme' })]
  await receiver.whenReceived(3)
  await stage.whenEntry(await stage.complete(), 'victim', { state: 'ok' })
  t.equal(receiver.received.filter(({ path }) => path === '/hangs').length, 3, 'the fourth post of the account waits')
  held.resolve()
  for (const shot of shots) for (const name of hanging) await stage.whenEntry(shot, name, { state: 'ok' })
  t.equal(receiver.received.length, 5)
  await leader.end()
})

t.test('EventStore returns what was stored, and undefined for a missing object', async (t) => {
  await store.put('events/evt_1.json', '{"name":"ü"}')
  t.equal(await store.get('events/evt_1.json'), '{"name":"ü"}')
  t.equal(await store.get('events/evt_2.json'), undefined)
})

t.test('EventStore times out when the bucket hangs', async (t) => {
  await minio.freeze()
  await t.rejects(store.put('events/evt_3.json', '{}'), { cause: { message: /no response/ } })
  await t.rejects(store.get('events/evt_1.json'), { cause: { message: /no response|aborted due to timeout/ } })
  await minio.thaw()
})

t.test('delivery repeats the bytes of the first attempt even if another key signs links meanwhile', async (t) => {
  // The second attempt is due in a minute, which has passed for the next leader.
  const settings = { ...SETTINGS, retryDelaysMilliseconds: [60_000, 500] }
  const first = await stage.lead({ certificates: [receiver.ca], settings, eventStore: store })
  await stage.subscribe('hook', { url: receiver.url })
  receiver.answer = answerWith(500)
  const shot = await stage.complete()
  await stage.whenEntry(shot, 'hook', { state: 'open', attempts: 1 })
  await first.end()
  receiver.answer = answerWith(200)
  const rotated = { current: 'k2', keys: { ...ring.keys, k2: Buffer.alloc(32, 9).toString('base64') } }
  const now = () => new Date(Date.now() + 120_000)
  const second = await stage.lead({ certificates: [receiver.ca], settings, eventStore: store, ring: rotated, now })
  t.equal((await stage.whenEntry(shot, 'hook', { state: 'ok' })).attempts, 2)
  t.equal(receiver.received[1]?.body.toString(), receiver.received[0]?.body.toString())
  await second.end()
})

t.test('delivery continues without the event store', async (t) => {
  const away = openEventStore({ endpoint: 'http://127.0.0.1:9', region: 'us-east-1', bucket: 'tintype', accessKey, secretKey })
  const leader = await stage.lead({ certificates: [receiver.ca], eventStore: away })
  await stage.subscribe('storeless', { url: receiver.url })
  receiver.answer = failFirst
  const shot = await stage.complete()
  t.equal((await stage.whenEntry(shot, 'storeless', { state: 'ok' })).attempts, 2)
  t.equal(receiver.received[1]?.body.toString(), receiver.received[0]?.body.toString())
  await leader.end()
})
