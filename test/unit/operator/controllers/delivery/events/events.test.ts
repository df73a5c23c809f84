import t from 'tap'
import { silentLog } from '../../../../../../crds/client/log.ts'
import { screenshotIdOf } from '../../../../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../../crds/src/kinds/screenshot.ts'
import type { Webhook, WebhookSpec, WebhookStatus } from '../../../../../../crds/src/kinds/webhook.ts'
import { toArchivedLine } from '../../../../../../crds/src/records/archive.ts'
import { ignoreSilently } from '../../../../../../crds/src/records/ignored-objects.ts'
import { eventKey, recordKey, tombstoneKey } from '../../../../../../crds/src/records/storage-keys.ts'
import { eventsOfStatus } from '../../../../../../crds/src/schema/event-types.ts'
import { buildEvent, eventIdOf, recordIn } from '../../../../../../crds/src/webhooks/events.ts'
import { isReceiver, isRequestReceiver, toOccurrences } from '../../../../../../operator/src/controllers/delivery/events/receivers.ts'
import { EventBodies, RecordedEvents } from '../../../../../../operator/src/controllers/delivery/events/recorded-events.ts'
import { anAttempt, aScreenshot, at, aWebhook, completedStatus, failedStatus } from '../../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../../support/fakes/memory-bucket.ts'
import { collectIgnored, ring } from '../../../../../support/sources/mark-checks.ts'

t.test('toOccurrences returns the events of a Screenshot and their times', async (t) => {
  const queued = { event: 'screenshot.queued', at: at(0), latest: at(0.999) }
  const endsOf = (screenshot: Screenshot) => toOccurrences(screenshot).slice(1)
  for (const screenshot of [aScreenshot(), aScreenshot({ status: { phase: 'Running' } })]) t.strictSame(toOccurrences(screenshot), [queued])
  for (const status of [completedStatus(), failedStatus(), completedStatus({ result: { comparison: { changed: true } } })]) {
    const screenshot = aScreenshot({ status })
    t.strictSame(toOccurrences(screenshot)[0], queued)
    t.strictSame(
      endsOf(screenshot),
      eventsOfStatus('screenshot', status)
        .slice(1)
        .map((event) => ({ event, at: at(2) })),
    )
  }
  const restored = completedStatus({ restoredFrom: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd', attempt: 0 })
  t.strictSame(toOccurrences(aScreenshot({ status: restored })), [queued], 'its end was an event of the archived record')
})

const since = (second: number): WebhookStatus => ({ activeSince: at(second).toISOString() })
const cases: [name: string, status: WebhookStatus, is: boolean, spec?: Partial<WebhookSpec>][] = [
  ['true for one that was active before', since(1), true],
  ['true for one that became active at the same time', since(2), true],
  ['false for one that became active later', since(3), false],
  ['false for one that is not ready yet', {}, false],
  ['false for an inactive one', since(1), false, { active: false }],
  ['false for one with other events', since(1), false, { events: ['screenshot.failed'] }],
  [
    'true for one that subscribed to the type before',
    { ...since(1), subscriptions: { 'screenshot.completed': at(2).toISOString() } },
    true,
  ],
  ['false for one that added the type later', { ...since(1), subscriptions: { 'screenshot.completed': at(3).toISOString() } }, false],
  ['false for one whose new type is not confirmed yet', { ...since(1), subscriptions: {} }, false],
]
for (const [name, status, is, spec = {}] of cases) {
  t.test(`isReceiver is ${name}`, async (t) => {
    t.equal(isReceiver(aWebhook({ spec, status }), { event: 'screenshot.completed', at: at(2) }), is)
  })
}

t.test('isReceiver uses the order of revisions where known, and timestamps otherwise', async (t) => {
  const hook = aWebhook({ status: since(3) })
  const occurrence = { event: 'screenshot.completed' as const, at: at(2) }
  t.ok(isReceiver(hook, { ...occurrence, follows: () => true }))
  t.notOk(isReceiver(hook, { ...occurrence, follows: () => undefined }))
  t.notOk(isReceiver(hook, { ...occurrence, at: at(4), follows: () => false }))
})

t.test(
  'isReceiver is true for a Screenshot queued in the second in which the webhook became active, because creation times have no fraction',
  async (t) => {
    const hook = aWebhook({ spec: { events: ['screenshot.queued'] }, status: since(0.7) })
    const occurrenceAt = (second: number) => toOccurrences(aScreenshot({ metadata: { creationTimestamp: at(second).toISOString() } }))[0]!
    t.ok(isReceiver(hook, occurrenceAt(0)))
    t.notOk(isReceiver(hook, occurrenceAt(-1)), 'but not for an earlier second')
  },
)

t.test('isReceiver continues deliveries that were started since the webhook became active', async (t) => {
  const hook = aWebhook({ status: since(3) })
  const occurrence = { event: 'screenshot.completed' as const, at: at(2) }
  t.ok(isReceiver(hook, occurrence, { attempts: 1, at: at(4).toISOString(), state: 'open' }))
  t.notOk(isReceiver(hook, occurrence, { attempts: 1, at: at(2.5).toISOString(), state: 'open' }))
})

const signer = (status: WebhookStatus, spec: Partial<WebhookSpec> = {}) => aWebhook({ spec: { isDefault: true, ...spec }, status })
const reported = aScreenshot({ spec: { webhookUrl: 'https://me.example.com/' }, status: completedStatus() })
const requestCases: { name: string; signer: Webhook | undefined; is: boolean }[] = [
  { name: 'false while it is not ready', signer: signer({}), is: false },
  { name: 'false while it is inactive', signer: signer(since(1), { active: false }), is: false },
  { name: 'false for events while it was inactive', signer: signer(since(90)), is: false },
]
for (const { name, signer, is } of requestCases) {
  t.test(`isRequestReceiver is ${name}`, async (t) =>
    t.equal(isRequestReceiver(reported, { event: 'screenshot.completed', at: at(0) }, signer), is),
  )
}

t.test('isRequestReceiver is false for events that the request did not ask for', async (t) => {
  t.notOk(isRequestReceiver(reported, { event: 'screenshot.queued', at: at(2) }, signer(since(0))))
  t.notOk(isRequestReceiver(aScreenshot(), { event: 'screenshot.completed', at: at(2) }, signer(since(0))))
})

const linkBase = { publicUrl: '', ring }
const shot = aScreenshot({ status: completedStatus() })
const type = 'screenshot.completed'
const eventId = eventIdOf(shot, type)
const event = buildEvent(shot, type, linkBase)
const built = JSON.stringify(event)
/** The bytes of the event before a rotation of the keys. */
const kept = JSON.stringify(
  buildEvent(shot, type, { publicUrl: '', ring: { current: 'k2', keys: { k2: Buffer.alloc(32, 2).toString('base64') } } }),
)

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
const rest = { linkBase, report: ignoreSilently, now: () => new Date() }
const id = screenshotIdOf(shot.metadata)
const line = anAttempt({ event: eventId, screenshot: id })
const deleted: Screenshot = { ...shot, metadata: { ...shot.metadata, annotations: { [Annotation.deleteRequested]: 'now' } } }
const renewed: Screenshot = { ...shot, metadata: { ...shot.metadata, uid: 'another' } }
const archived = { [recordKey('default', id)]: toArchivedLine(shot) }

for (const [name, text, reason] of forgeries) {
  t.test(`RecordedEvents ignores stored bytes that are ${name}`, async (t) => {
    const { ignored, report } = collectIgnored()
    const bucket = new MemoryBucket()
    bucket.objects.set(eventKey(eventId), text)
    const events = new RecordedEvents({ ...rest, screenshots: { byIndex: () => [] }, storage: bucket.storage, report })
    t.equal(await events.load(aWebhook(), line, shot), built)
    t.strictSame(ignored, [`event ${reason} events/${event.id}.json`])
  })
}

t.test('EventBodies continues without a failing store', async (t) => {
  const bodies = new EventBodies({ store: { put: () => Promise.reject(new Error('away')) }, log: silentLog })
  await t.resolves(bodies.keep({ id: eventId, body: kept }))
})

const recorded: [name: string, body: string | undefined, objects?: Record<string, string>, live?: Screenshot[]][] = [
  ['the stored bytes', kept, { [eventKey(eventId)]: kept }, [shot]],
  ['the stored bytes of a deleted record', kept, { [eventKey(eventId)]: kept, [tombstoneKey('default', id)]: '' }],
  ['nothing for stored bytes of a record that the account never had', undefined, { [eventKey(eventId)]: kept }],
  ['rebuilt bytes when other content was stored', built, { [eventKey(eventId)]: '{"kept":true}' }, [shot]],
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

for (const [name, body, objects = {}, live = []] of recorded) {
  t.test(`RecordedEvents loads ${name}`, async (t) => {
    const bucket = new MemoryBucket()
    for (const [key, text] of Object.entries(objects)) bucket.objects.set(key, text)
    const events = new RecordedEvents({ screenshots: { byIndex: () => live }, storage: bucket.storage, ...rest })
    t.equal(await events.load(aWebhook(), line), body)
  })
}
