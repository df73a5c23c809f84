import t from 'tap'
import { screenshotIdOf } from '../../../../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../../crds/src/kinds/screenshot.ts'
import { toArchivedLine } from '../../../../../../crds/src/records/archive.ts'
import { ignoreSilently } from '../../../../../../crds/src/records/ignored-objects.ts'
import { eventKey, recordKey, tombstoneKey } from '../../../../../../crds/src/records/storage-keys.ts'
import { buildEvent, eventIdOf } from '../../../../../../crds/src/webhooks/events.ts'
import { RecordedEvents } from '../../../../../../operator/src/controllers/delivery/events/recorded-events.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../../support/fakes/memory-bucket.ts'

const linkBase = { publicUrl: '', ring: { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } } }
const rest = { linkBase, report: ignoreSilently, now: () => new Date() }
const type = 'screenshot.completed'
const shot = aScreenshot({ status: completedStatus() })
const id = screenshotIdOf(shot.metadata)
const event = eventIdOf(shot, type)
const built = JSON.stringify(buildEvent(shot, type, linkBase))
const rotated = { current: 'k2', keys: { k2: Buffer.alloc(32, 2).toString('base64') } }
const kept = JSON.stringify(buildEvent(shot, type, { publicUrl: '', ring: rotated }))
const line = {
  delivery: 'dlv_1',
  event,
  type,
  screenshot: id,
  attempt: 1,
  at: at(2).toISOString(),
  milliseconds: 1,
  statusCode: 200,
  outcome: 'success',
}
const deleted: Screenshot = { ...shot, metadata: { ...shot.metadata, annotations: { [Annotation.deleteRequested]: 'now' } } }
const renewed: Screenshot = { ...shot, metadata: { ...shot.metadata, uid: 'another' } }
const archived = { [recordKey('default', id)]: toArchivedLine(shot) }

const cases: [name: string, body: string | undefined, objects?: Record<string, string>, live?: Screenshot[]][] = [
  ['the stored bytes', kept, { [eventKey(event)]: kept }, [shot]],
  ['the stored bytes of a deleted record', kept, { [eventKey(event)]: kept, [tombstoneKey('default', id)]: '' }],
  ['nothing for stored bytes of a record that the account never had', undefined, { [eventKey(event)]: kept }],
  ['rebuilt bytes when other content was stored', built, { [eventKey(event)]: '{"kept":true}' }, [shot]],
  ['rebuilt bytes of a live record', built, {}, [shot]],
  ['rebuilt bytes of an archived record', built, archived],
  ['nothing for a missing record', undefined],
  ['nothing for a record whose deletion was requested', undefined, {}, [deleted]],
  ['nothing for a record with a tombstone', undefined, { ...archived, [tombstoneKey('default', id)]: '' }],
  ['nothing for a recreated object', undefined, {}, [renewed]],
]
t.test('RecordedEvents accepts only URLs that the record contains', async (t) => {
  const events = new RecordedEvents({ screenshots: { byIndex: () => [shot] }, storage: new MemoryBucket().storage, ...rest })
  t.equal(await events.load(aWebhook(), { ...line, url: 'https://evil.example/' }), undefined)
})

for (const [name, body, objects = {}, live = []] of cases) {
  t.test(`RecordedEvents loads ${name}`, async (t) => {
    const bucket = new MemoryBucket()
    for (const [key, text] of Object.entries(objects)) bucket.objects.set(key, text)
    const events = new RecordedEvents({ screenshots: { byIndex: () => live }, storage: bucket.storage, ...rest })
    t.equal(await events.load(aWebhook(), line), body)
  })
}
