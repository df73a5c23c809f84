import { request } from 'node:https'
import t from 'tap'
import { type EventReceiver, startEventReceivers } from '../../../soak/stage/event-receiver.ts'
import { retryDelaysFor } from '../../../soak/stage/outage-scene.ts'

const [receiver] = (await startEventReceivers(t.testdir(), 1)) as [EventReceiver]
t.teardown(() => receiver.close())

/** Resolves to the status, or the code of the error. */
const post = (id: string, milliseconds?: number): Promise<number | string> =>
  new Promise((resolve) => {
    const signal = milliseconds === undefined ? {} : { signal: AbortSignal.timeout(milliseconds) }
    const sent = request(receiver.url, { method: 'POST', ca: receiver.ca, agent: false, ...signal }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
    sent.end(JSON.stringify({ id, data: { screenshot: { id: `scr_${id}` } } }))
  })

t.test('a receiver that comes back accepts the event that it refused, and counts it once', async (t) => {
  await receiver.become('refuses connections')
  t.equal(await post('evt_1'), 'ECONNREFUSED')
  await receiver.become('returns 503')
  t.equal(await post('evt_1'), 503)
  await receiver.become('works')
  t.equal(await post('evt_1'), 200)
  t.match(receiver.events.get('evt_1'), { screenshot: 'scr_evt_1', posts: 2 })
  t.equal(receiver.events.get('evt_1')?.accepted.length, 1)
})

t.test('a receiver that hangs never responds', async (t) => {
  await receiver.become('hangs')
  t.equal(await post('evt_2', 300), 'ABORT_ERR')
  t.match(receiver.events.get('evt_2'), { posts: 1, accepted: [] })
})

t.test('retryDelaysFor shortens the delays so that a part of the events is missed, but never lengthens them', async (t) => {
  t.strictSame(retryDelaysFor(4), [3_000, 120_000])
  t.strictSame(retryDelaysFor(300), [60_000, 4_500_000])
})
