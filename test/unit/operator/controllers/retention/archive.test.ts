import t, { type Test } from 'tap'
import { accounts, screenshots } from '../../../../../crds/client/kinds.ts'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { newId, screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot, ScreenshotSpec, ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import { parseArchivedLine, toArchivedLine } from '../../../../../crds/src/records/archive.ts'
import {
  dayOf,
  JOIN,
  objectKey,
  recordKey,
  rewriteKey,
  segmentsPrefix,
  tombstoneKey,
} from '../../../../../crds/src/records/storage-keys.ts'
import type { Whole } from '../../../../../crds/src/schema/custom-resource.ts'
import { DEFAULT_PLANS } from '../../../../../crds/src/usage/plans.ts'
import { isOpenIn, type Undelivered } from '../../../../../crds/src/webhooks/deliveries.ts'
import { createRetentionController } from '../../../../../operator/src/controllers/retention/controller.ts'
import { decide, isFullBatch, type RetentionSettings } from '../../../../../operator/src/controllers/retention/decide.ts'
import { anAccount, aScreenshot, at, buildSegments, completedStatus, failedStatus, NOON } from '../../../../support/fakes/builders.ts'
import { startOperator } from '../../../../support/fakes/operator-stage.ts'
import { signed } from '../../../../support/sources/mark-checks.ts'

const HOUR = 3_600
const settings: RetentionSettings = { liveMinimumMilliseconds: 60_000, liveForMilliseconds: HOUR * 1_000, maxLive: 100 }
/** A Screenshot that ended so many seconds after noon. */
const ended = (second: number, more: Partial<ScreenshotStatus> = {}): Screenshot =>
  aScreenshot({ name: `shot-${second}`, status: completedStatus({ completionTime: at(second).toISOString(), ...more }) })
const namesAt = (finished: Screenshot[], second: number, changes: Partial<RetentionSettings> = {}) =>
  decide({ finished, termStart: NOON }, { ...settings, ...changes }, at(second)).map(({ metadata }) => metadata.name)

t.test('decide archives records older than liveFor, earliest end first', async (t) => {
  const shots = [ended(200), ended(0), ended(100), ended(3_000)]
  t.strictSame(namesAt(shots, HOUR - 1), [])
  t.strictSame(namesAt(shots, HOUR + 301), ['shot-0', 'shot-100', 'shot-200'])
})

t.test('decide waits a little so that one segment contains many records, but not once there are enough', async (t) => {
  t.strictSame(namesAt([ended(0)], HOUR + 1), [])
  const many = Array.from({ length: 1_000 }, () => ended(0))
  t.equal(namesAt(many, HOUR + 1, { maxLive: 10_000 }).length, 1_000)
})

t.test('decide archives the oldest records early when there are too many, down to a tenth below the limit', async (t) => {
  const shots = Array.from({ length: 105 }, (_, n) => ended(n))
  t.strictSame(
    namesAt(shots, 300),
    Array.from({ length: 15 }, (_, n) => `shot-${n}`),
  )
  t.strictSame(namesAt(shots.slice(0, 100), 300), [])
})

t.test('decide keeps records younger than the minimum, however many there are', async (t) => {
  const shots = Array.from({ length: 105 }, (_, n) => ended(n))
  t.strictSame(namesAt(shots, 62), ['shot-0', 'shot-1', 'shot-2'])
})

t.test('decide skips Screenshots that are being deleted or have not ended', async (t) => {
  const marked = ended(0)
  marked.metadata.annotations = { 'tintype.dev/delete-requested': 'now' }
  const leaving = ended(0)
  leaving.metadata.deletionTimestamp = at(1).toISOString()
  t.strictSame(namesAt([marked, leaving, aScreenshot()], 2 * HOUR), [])
})

t.test('decide keeps restored Screenshots until there are too many records', async (t) => {
  const restored = aScreenshot({
    name: 'restored',
    status: completedStatus({ restoredFrom: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd', attempt: 0, completionTime: at(-HOUR).toISOString() }),
  })
  t.strictSame(namesAt([restored, ended(0)], 2 * HOUR), ['shot-0'])
  t.strictSame(
    namesAt([ended(10), restored, ended(20)], 2 * HOUR, { maxLive: 2 }),
    ['restored', 'shot-10', 'shot-20'],
    'its age counts from noon',
  )
})

t.test('decide returns at most five thousand records', async (t) => {
  const many = Array.from({ length: 5_001 }, () => ended(0))
  t.equal(namesAt(many, 2 * HOUR, { maxLive: 10_000 }).length, 5_000)
})

t.test('isFullBatch holds for five thousand records, after which more may be due', async (t) => {
  const many = Array.from({ length: 5_000 }, () => ended(0))
  t.strictSame([isFullBatch(many), isFullBatch(many.slice(1))], [true, false])
})

t.test('decide counts the age of a record without a completion time from its creation', async (t) => {
  const { completionTime: _, ...status } = completedStatus()
  const shot = aScreenshot({ name: 'shot', metadata: { creationTimestamp: at(0).toISOString() }, status })
  t.strictSame([namesAt([shot], HOUR - 1), namesAt([shot], HOUR + 301)], [[], ['shot']])
})

t.test('decide archives records with open deliveries like others: an endpoint that is down must not fill the Kubernetes API', async (t) => {
  const open = { 'screenshot.completed': { hook: { attempts: 1, at: at(9).toISOString(), state: 'open' as const } } }
  const shots = [ended(0, { deliveries: open }), ended(1)]
  t.strictSame(namesAt(shots, 100, { liveForMilliseconds: 60_000 }), ['shot-0', 'shot-1'])
})

for (const [what, charge] of Object.entries({
  'that a gateway charged': { spec: { reservation: 'r1' } },
  'that was charged at its claim, although the report of its runner has replaced the condition': {},
})) {
  t.test(`decide delays a record with a pending refund ${what}, for an hour after its end and after the start of the term`, async (t) => {
    const shots = [aScreenshot({ name: 'shot-0', status: failedStatus({ completionTime: at(0).toISOString() }), ...charge }), ended(1)]
    const short = { liveForMilliseconds: 60_000 }
    t.strictSame(namesAt(shots, HOUR - 1, short), ['shot-1'])
    t.strictSame(namesAt(shots, HOUR, short), ['shot-0', 'shot-1'])
    const late = decide({ finished: shots, termStart: at(10 * HOUR) }, { ...settings, ...short }, at(11 * HOUR - 1))
    t.strictSame(
      late.map(({ metadata }) => metadata.name),
      ['shot-1'],
    )
  })
}

const INTERVALS = { archive: 5_000, rewrite: HOUR * 1_000, expire: HOUR * 1_000 }
const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, retentionDays: 7 } }

const aRecord = (second: number, spec: Partial<ScreenshotSpec> = {}): Screenshot =>
  aScreenshot({ name: toObjectName(newId('scr', at(second), Buffer.alloc(10, 7))), spec, status: completedStatus() })
const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)
const nameOf = ({ metadata }: Screenshot): string => metadata.name
const keyOf = (record: Screenshot): string => recordKey('default', idOf(record))

/** An operator with old records, which leads once the test begins. `onDelete` is called before each deletion by the archiver. */
async function prepare(t: Test, given: readonly Screenshot[] = [aRecord(1), aRecord(2)]) {
  const operator = await startOperator(t, { retention: { liveForMilliseconds: 60_000 }, plans })
  const { cluster, clock, deps, reflectors, settle, lead } = operator
  const { archiving } = deps
  cluster.put(accounts, anAccount({ name: 'default' }))
  const records = given.map((record) => cluster.put<Screenshot>(screenshots, record) as Whole<Screenshot>)
  await settle()
  clock.second = HOUR
  /** Names of Screenshots that the archiver hands back, and whose deletion other controllers evaluate. */
  const released: string[] = []
  const evaluated: string[] = []
  archiving.onReleased = (record) => released.push(nameOf(record))
  reflectors.screenshots.addListener(({ type, object }) => {
    if (type === 'deleted' && !archiving.noteDeleted(object)) evaluated.push(nameOf(object))
  })
  return {
    ...operator,
    ...{ records, released, evaluated },
    live: () => cluster.list<Screenshot>(screenshots).map(nameOf),
    onDelete(call: (record: Screenshot) => unknown) {
      cluster.fault = ({ verb, name }) => {
        const error = verb === 'delete' && call(records.find((record) => nameOf(record) === name)!)
        return error instanceof KubeError ? error : undefined
      }
    },
    async begin() {
      lead(createRetentionController(deps, INTERVALS).start)
      await settle()
    },
  }
}

t.test('an archived record is in the bucket only, and nobody evaluates its deletion', async (t) => {
  const { bucket, records, released, evaluated, live, begin, metric } = await prepare(t)
  const questions: string[] = []
  bucket.beforeCall = (what, key) => what === 'exists' && questions.push(key)
  await begin()
  for (const record of records) t.equal(bucket.objects.get(keyOf(record)), toArchivedLine(record))
  t.strictSame([live(), released, evaluated, questions], [[], [], [], []])
  t.strictSame(await metric('screenshot_archived_total'), { '': 2 })
})

t.test('a record that its owner deletes during the archiving is released', async (t) => {
  const { bucket, records, released, onDelete, begin } = await prepare(t)
  const [first, second] = records as [Screenshot, Screenshot]
  onDelete((record) => {
    const key = tombstoneKey('default', idOf(record))
    if (record === second) bucket.objects.set(key, signed(key))
  })
  await begin()
  t.strictSame(released, [nameOf(second)])
  t.ok(bucket.objects.has(keyOf(first)))
})

t.test('a record that another client deleted first is evaluated once its deletion is seen', async (t) => {
  const { cluster, records, released, evaluated, settle, onDelete, begin } = await prepare(t)
  onDelete(() => new KubeError({ status: 404, reason: 'NotFound', message: 'no' }))
  await begin()
  t.strictSame([released, evaluated], [[], []], 'the deletion was not seen yet')
  for (const record of records) cluster.remove(screenshots, nameOf(record))
  await settle()
  t.strictSame([released, evaluated.toSorted()], [[], records.map(nameOf).toSorted()])
})

t.test('a record is released at once whose deletion was seen before the archiver could delete it', async (t) => {
  const { cluster, reflectors, records, released, evaluated, onDelete, begin } = await prepare(t)
  onDelete((record) => {
    cluster.remove(screenshots, nameOf(record))
    reflectors.screenshots.noteDeleted(record)
  })
  await begin()
  t.strictSame([released.toSorted(), evaluated], [records.map(nameOf).toSorted(), []])
})

t.test('a record that has changed is archived as it is now, or its deletion is evaluated', async (t) => {
  const { cluster, bucket, clock, records, released, evaluated, live, settle, passTo, onDelete, begin } = await prepare(t)
  const [changed, deleted] = records as [Screenshot, Screenshot]
  onDelete((record) => cluster.put(screenshots, { ...record, status: { ...record.status, storagePath: 'later' } }))
  await begin()
  t.strictSame([released, evaluated, live().length], [[], [], 2])
  onDelete(() => {})
  cluster.remove(screenshots, nameOf(deleted))
  await settle()
  t.strictSame(evaluated, [nameOf(deleted)])
  await passTo(clock.second + 5)
  t.match(parseArchivedLine(bucket.objects.get(keyOf(changed))!), { status: { storagePath: 'later' } })
  t.strictSame([released, live()], [[], []])
})

t.test('deleted records whose tombstones cannot be read are released', async (t) => {
  const { bucket, records, released, onDelete, begin } = await prepare(t)
  onDelete(() => bucket.goAway('list'))
  await begin()
  t.strictSame(released.toSorted(), records.map(nameOf).toSorted())
})

t.test('the record names open deliveries that are handed over, and a Screenshot with a running post stays', async (t) => {
  const { bucket, deps, records, live, begin, metric } = await prepare(t)
  const [idle, busy] = records as [Screenshot, Screenshot]
  const open: Undelivered = {
    ...{ version: 1, type: 'screenshot.completed', screenshot: idOf(idle), webhook: 'hook', attempts: 2, at: at(4_500).toISOString() },
    ...{ delivery: newId('dlv', at(2), Buffer.alloc(10)), event: newId('evt', at(2), Buffer.alloc(10)) },
  }
  const kept: Undelivered[] = []
  deps.archiving.openDeliveries = {
    of(record) {
      t.ok(deps.archiving.isHeld(record), 'no post may start')
      return nameOf(record) === nameOf(busy) ? undefined : [open]
    },
    async keep(_, deliveries) {
      const record = parseArchivedLine(bucket.objects.get(keyOf(idle))!)
      t.strictSame(record.status?.deliveries, { 'screenshot.completed': { hook: { attempts: 2, at: open.at, state: 'open' } } })
      t.ok(isOpenIn(record, open))
      t.notOk(isOpenIn(record, { ...open, attempts: 1 }), 'an older state')
      t.notOk(isOpenIn(record, { ...open, at: at(4_501).toISOString() }), 'the same number of attempts at another time')
      t.ok(isOpenIn(record, { ...open, attempts: 3, at: at(9_000).toISOString() }), 'a later state')
      t.notOk(isOpenIn(record, { ...open, webhook: 'other' }))
      kept.push(...deliveries)
    },
  }
  await begin()
  t.strictSame([kept, live()], [[open], [nameOf(busy)]])
  t.strictSame(await metric('screenshot_archived_total'), { '': 1 })
  t.notOk(bucket.objects.has(keyOf(busy)))
  t.notOk(deps.archiving.isHeld(busy))
})

t.test('5,000 records with 1.2 MB of html were in memory together: four large ones are archived at a time, each whole', async (t) => {
  const large = Array.from({ length: 6 }, (_, n) => aRecord(n, { options: { html: `${n}${'x'.repeat(20_000)}`, delay: 5 } }))
  const { cluster, bucket, records, live, begin } = await prepare(t, [...large, aRecord(100)])
  const gone = records[2]!
  const begun = new Set<string>()
  let peak = 0
  cluster.fault = ({ verb, resource, name = '' }) => {
    if (resource !== 'screenshots') return
    if (verb === 'delete') begun.clear()
    if (verb === 'get') peak = Math.max(peak, begun.add(name).size)
    if (verb === 'get' && name === nameOf(gone)) cluster.remove(screenshots, name)
  }
  await begin()
  for (const one of records.filter((record) => record !== gone)) t.equal(bucket.objects.get(keyOf(one)), toArchivedLine(one))
  t.equal(peak, 4)
  t.notOk(bucket.objects.has(keyOf(gone)), 'it was deleted before it was read')
  t.strictSame(live(), [])
})

t.test('a leader deletes files and records after the retention of their plan, and joins small segments of past days', async (t) => {
  const { bucket, begin } = await prepare(t, [])
  const DAYS = 24 * HOUR
  const fileOf = (days: number) => objectKey('default', newId('scr', at(-days * DAYS)), 'png')
  const [young, old] = [fileOf(6), fileOf(8)]
  const oldest = recordKey('default', newId('scr', at(-402 * DAYS)))
  for (const key of [young, old, oldest]) bucket.objects.set(key, '')
  const past = [aRecord(-3 * DAYS), aRecord(1 - 3 * DAYS)] as Whole<Screenshot>[]
  for (const record of past) for (const { key, text } of buildSegments('default', [record])) bucket.objects.set(key, text)
  const day = dayOf(idOf(past[0]!))
  bucket.objects.set(rewriteKey('default', day, JOIN), '')
  await begin()
  t.strictSame(bucket.keys('users/'), [young])
  t.notOk(bucket.objects.has(oldest))
  const [joined] = buildSegments('default', past)
  t.strictSame(bucket.keys(segmentsPrefix('default', day)), [joined?.key])
})
