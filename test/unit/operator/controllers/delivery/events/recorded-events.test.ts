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

const cases: { name: string; live?: Screenshot[]; objects?: Record<string, string>; body: string | undefined }[] = [
  { name: 'the stored bytes', live: [shot], objects: { [eventKey(event)]: kept }, body: kept },
  {
    name: 'the stored bytes of a deleted record',
    objects: { [eventKey(event)]: kept, [tombstoneKey('default', id)]: '' },
    body: kept,
  },
  { name: 'nothing for stored bytes of a record that the account never had', objects: { [eventKey(event)]: kept }, body: undefined },
  {
    name: 'rebuilt bytes when other content was stored',
    live: [shot],
    objects: { [eventKey(event)]: '{"kept":true}' },
    body: built,
  },
  { name: 'rebuilt bytes of a live record', live: [shot], body: built },
  { name: 'rebuilt bytes of an archived record', objects: archived, body: built },
  { name: 'nothing for a missing record', body: undefined },
  { name: 'nothing for a record whose deletion was requested', live: [deleted], body: undefined },
  { name: 'nothing for a record with a tombstone', objects: { ...archived, [tombstoneKey('default', id)]: '' }, body: undefined },
  { name: 'nothing for a recreated object', live: [renewed], body: undefined },
]
t.test('RecordedEvents accepts only URLs that the record contains', async (t) => {
  const events = new RecordedEvents({ screenshots: { byIndex: () => [shot] }, storage: new MemoryBucket().storage, ...rest })
  t.equal(await events.load(aWebhook(), { ...line, url: 'https://evil.example/' }), undefined)
})

for (const { name, live = [], objects = {}, body } of cases) {
  t.test(`RecordedEvents loads ${name}`, async (t) => {
    const bucket = new MemoryBucket()
    for (const [key, text] of Object.entries(objects)) bucket.objects.set(key, text)
    const events = new RecordedEvents({ screenshots: { byIndex: () => live }, storage: bucket.storage, ...rest })
    t.equal(await events.load(aWebhook(), line), body)
  })
}
