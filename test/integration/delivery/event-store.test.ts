import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'minio'
import t from 'tap'
import { openEventStore } from '../../../operator/src/controllers/delivery/events/event-bodies.ts'
import { startMinio } from '../../cluster/programs/minio.ts'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { ring } from './ring.ts'
import { startReceiver, startStage } from './stage.ts'

const directory = await mkdtemp(join(tmpdir(), 'tintype-events-'))
const minio = await startMinio({ directory })
t.teardown(async () => {
  await minio.stop()
  await rm(directory, { recursive: true, force: true })
})
const { endpoint, accessKey, secretKey, port } = minio
await new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey }).makeBucket('tintype')
const store = openEventStore({ endpoint, region: 'us-east-1', bucket: 'tintype', accessKey, secretKey })

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
  const stage = await startStage(t)
  const receiver = await startReceiver(t)
  const settings = { timeoutMilliseconds: 10_000, retryDelaysMilliseconds: [5_000, 500], allowedCidrs: ['127.0.0.0/8'], allowedHosts: [] }
  const first = await stage.lead({ certificates: [receiver.ca], settings, eventStore: store })
  await stage.subscribe('hook', { url: receiver.url })
  receiver.answer = answerWith(500)
  const shot = await stage.complete()
  await stage.whenEntry(shot, 'hook', { state: 'open', attempts: 1 })
  await first.end()
  receiver.answer = answerWith(200)
  const rotated = { current: 'k2', keys: { ...ring.keys, k2: Buffer.alloc(32, 9).toString('base64') } }
  await stage.lead({
    certificates: [receiver.ca],
    settings,
    eventStore: store,
    ring: rotated,
  })
  t.equal((await stage.whenEntry(shot, 'hook', { state: 'ok' })).attempts, 2)
  t.equal(receiver.received[1]?.body.toString(), receiver.received[0]?.body.toString())
})

t.test('delivery continues without the event store', async (t) => {
  const stage = await startStage(t)
  const receiver = await startReceiver(t)
  const away = openEventStore({ endpoint: 'http://127.0.0.1:9', region: 'us-east-1', bucket: 'tintype', accessKey, secretKey })
  await stage.lead({ certificates: [receiver.ca], eventStore: away })
  await stage.subscribe('hook', { url: receiver.url })
  receiver.answer = (request, response) => answerWith(request.headers['x-webhook-attempt'] === '1' ? 500 : 200)(request, response)
  const shot = await stage.complete()
  t.equal((await stage.whenEntry(shot, 'hook', { state: 'ok' })).attempts, 2)
  t.equal(receiver.received[1]?.body.toString(), receiver.received[0]?.body.toString())
})
