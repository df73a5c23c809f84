import t from 'tap'
import { silentLog } from '../../../../crds/client/log.ts'
import { EventLibrary } from '../../../../operator/src/delivery/event-bytes.ts'
import { aScreenshot, completedStatus } from '../../../support/builders.ts'

const linkBase = { publicUrl: '', ring: { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } } }
const shot = aScreenshot({ status: completedStatus() })

t.test('EventLibrary builds a first attempt without asking the store', async (t) => {
  const store = { put: async () => {}, get: () => t.fail('not asked') as never }
  const { id, body } = await new EventLibrary({ linkBase, store, log: silentLog }).load(shot, 'screenshot.completed', 1)
  t.match(JSON.parse(body), { id, type: 'screenshot.completed' })
})

t.test('EventLibrary repeats what was kept, and builds it again where nothing was', async (t) => {
  const objects = new Map<string, string>()
  const store = { put: async (key: string, body: string) => void objects.set(key, body), get: async (key: string) => objects.get(key) }
  const library = new EventLibrary({ linkBase, store, log: silentLog })
  const first = await library.load(shot, 'screenshot.completed', 1)
  t.equal((await library.load(shot, 'screenshot.completed', 2)).body, first.body)
  await library.keep({ id: first.id, body: 'kept' })
  t.equal((await library.load(shot, 'screenshot.completed', 2)).body, 'kept')
  t.strictSame([...objects.keys()], [`events/${first.id}.json`])
})

t.test('EventLibrary does without a store that fails', async (t) => {
  const fail = () => Promise.reject(new Error('away'))
  const library = new EventLibrary({ linkBase, store: { put: fail, get: fail }, log: silentLog })
  const event = await library.load(shot, 'screenshot.completed', 3)
  await library.keep(event)
  t.match(event.body, /screenshot\.completed/)
})
