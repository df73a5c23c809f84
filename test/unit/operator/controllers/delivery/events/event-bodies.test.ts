import t from 'tap'
import { silentLog } from '../../../../../../crds/client/log.ts'
import { ignoreSilently } from '../../../../../../crds/src/records/ignored-objects.ts'
import { buildEvent, recordIn } from '../../../../../../crds/src/webhooks/events.ts'
import { EventBodies } from '../../../../../../operator/src/controllers/delivery/events/event-bodies.ts'
import { aScreenshot, completedStatus } from '../../../../../support/fakes/builders.ts'
import { collectIgnored } from '../../../../../support/sources/mark-checks.ts'

const linkBase = { publicUrl: '', ring: { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } } }
const shot = aScreenshot({ status: completedStatus() })

t.test('EventBodies builds a first attempt without reading the store', async (t) => {
  const store = { put: async () => {}, get: () => t.fail('not asked') as never }
  const { id, body } = await new EventBodies({ linkBase, store, log: silentLog, report: ignoreSilently }).load(
    shot,
    'screenshot.completed',
    1,
  )
  t.match(JSON.parse(body), { id, type: 'screenshot.completed' })
})

t.test('EventBodies repeats stored bytes, and rebuilds the event without them', async (t) => {
  const objects = new Map<string, string>()
  const store = { put: async (key: string, body: string) => void objects.set(key, body), get: async (key: string) => objects.get(key) }
  const library = new EventBodies({ linkBase, store, log: silentLog, report: ignoreSilently })
  const first = await library.load(shot, 'screenshot.completed', 1)
  t.equal((await library.load(shot, 'screenshot.completed', 2)).body, first.body)
  const rotated = { current: 'k2', keys: { k2: Buffer.alloc(32, 2).toString('base64') } }
  const kept = JSON.stringify(buildEvent(shot, 'screenshot.completed', { publicUrl: '', ring: rotated }))
  t.not(kept, first.body)
  await library.keep({ id: first.id, body: kept })
  t.equal((await library.load(shot, 'screenshot.completed', 2)).body, kept)
  t.strictSame([...objects.keys()], [`events/${first.id}.json`])
})

const event = buildEvent(shot, 'screenshot.completed', linkBase)
const forge = (changes: object): string => JSON.stringify({ ...event, data: { screenshot: { ...recordIn(event.data), ...changes } } })
const forgeries: [string, string, string][] = [
  ['empty', '', 'content'],
  ['invalid JSON', '\0\u0001', 'content'],
  ['of wrong types', '{"id":1}', 'content'],
  ['of another event', JSON.stringify({ ...event, id: 'evt_other' }), 'id'],
  ['of another screenshot', forge({ id: 'scr_other' }), 'id'],
  ['of another type', JSON.stringify({ ...event, type: 'screenshot.failed' }), 'content'],
  ['linking to another host', forge({ download_url: 'https://evil.example/x.png' }), 'content'],
  ['linking to differences on another host', forge({ comparison: { diff_url: 'https://evil.example/x.png' } }), 'content'],
  ['linking to another account', forge({ storage_path: 'users/victim/x.png' }), 'content'],
]
for (const [name, text, reason] of forgeries) {
  t.test(`EventBodies ignores stored bytes that are ${name}`, async (t) => {
    const { ignored, report } = collectIgnored()
    const library = new EventBodies({ linkBase, store: { put: async () => {}, get: async () => text }, log: silentLog, report })
    t.equal((await library.load(shot, 'screenshot.completed', 2)).body, JSON.stringify(event))
    t.strictSame(ignored, [`event ${reason} events/${event.id}.json`])
  })
}

t.test('EventBodies continues without a failing store', async (t) => {
  const fail = () => Promise.reject(new Error('away'))
  const library = new EventBodies({ linkBase, store: { put: fail, get: fail }, log: silentLog, report: ignoreSilently })
  const event = await library.load(shot, 'screenshot.completed', 3)
  await library.keep(event)
  t.match(event.body, /screenshot\.completed/)
})
