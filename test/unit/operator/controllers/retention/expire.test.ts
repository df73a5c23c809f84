import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { IgnoredObject } from '../../../../../crds/src/records/ignored-objects.ts'
import {
  baselineKey,
  batchKey,
  dayOf,
  deletedAccountKey,
  expiryKey,
  JOIN,
  namedRecordKey,
  objectKey,
  optionsKey,
  recordKey,
  rewriteKey,
  runKey,
  segmentsPrefix,
  tombstoneKey,
} from '../../../../../crds/src/records/storage-keys.ts'
import { DEFAULT_PLANS, type Plans } from '../../../../../crds/src/usage/plans.ts'
import { DeletedAccounts, type OwnedKind, toDeletionText } from '../../../../../operator/src/controllers/retention/deleted-accounts.ts'
import { expire, removeStrayObjects } from '../../../../../operator/src/controllers/retention/expire.ts'
import { anAccount, at, NOON } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'
import { markChecks, ring, signed } from '../../../../support/sources/mark-checks.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const DAY = 86_400
const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, retentionDays: 7 }, scale: { ...DEFAULT_PLANS.scale, retentionDays: 90 } }
const accounts = new Map([
  ['small', anAccount({ name: 'small', spec: { plan: 'free' } })],
  ['large', anAccount({ name: 'large', spec: { plan: 'scale' } })],
  ['undefined-plan', anAccount({ name: 'undefined-plan', spec: { plan: 'team-gold' } })],
])
const idAt = (second: number): string => newId('scr', at(second))
const run = (
  bucket: MemoryBucket,
  mayContinue = () => true,
  { now = NOON, kinds = [] as OwnedKind[] } = {},
  kept: Plans = plans,
  storage = bucket.storage,
) =>
  expire({
    ...markChecks,
    isAccountGone: async (name) => !accounts.has(name),
    findLive: () => undefined,
    schedules: () => ['small', 'unknown'].map((account) => ({ account, uid: 'uid', name: 'home' })),
    optionsOfRuns: () => [],
    storage,
    findAccount: (name) => accounts.get(name),
    plans: kept,
    recordDays: 400,
    gone: new DeletedAccounts({ ...markChecks, storage: bucket.storage, kinds, graceMilliseconds: DAY * 1_000, now: () => now }),
    mayContinue,
    now: () => now,
    log,
  })

t.test(
  'expire deletes files after the retention of their account’s plan, and of unknown accounts and plans after the longest',
  async (t) => {
    const bucket = new MemoryBucket()
    const ages = [1, 6.9, 7.1, 89, 91]
    for (const account of ['small', 'large', 'unknown', 'undefined-plan'])
      for (const age of ages) bucket.objects.set(objectKey(account, idAt(-age * DAY), 'png'), String(age))
    await run(bucket)
    const left = (account: string) => bucket.keys(`users/${account}/`).map((key) => Number(bucket.objects.get(key)))
    t.strictSame(left('small'), [1, 6.9])
    t.strictSame(left('large'), [1, 6.9, 7.1, 89])
    t.strictSame(left('unknown'), [1, 6.9, 7.1, 89])
    t.strictSame(left('undefined-plan'), [1, 6.9, 7.1, 89])
  },
)

t.test('expire deletes more files than one list contains', async (t) => {
  const bucket = new MemoryBucket()
  for (let n = 0; n < 2_500; n++) bucket.objects.set(objectKey('small', idAt(-8 * DAY - n), 'png'), '')
  await run(bucket)
  t.strictSame(bucket.keys(), [])
})

t.test('expire deletes whole days of records, and only when all of the day is old enough', async (t) => {
  const bucket = new MemoryBucket()
  const ids = [1, 399, 400, 401, 402, 900].map((days) => idAt(-days * DAY))
  for (const id of ids) for (const key of [recordKey('small', id), tombstoneKey('small', id)]) bucket.objects.set(key, '')
  await run(bucket)
  const kept = ids.slice(0, 3)
  t.strictSame(bucket.keys(), kept.flatMap((id) => [recordKey('small', id), tombstoneKey('small', id)]).sort())
  t.ok(kept.every((id) => bucket.keys(`records/small/${dayOf(id)}/`).length === 2))
})

t.test('expire deletes files with a mark when it is due, and then the mark', async (t) => {
  const bucket = new MemoryBucket()
  const [due, later] = [idAt(-60), idAt(-50)]
  for (const id of [due, later]) {
    bucket.objects.set(objectKey('large', id, 'png'), '')
    bucket.objects.set(objectKey('large', id, 'thumb.png'), '')
  }
  bucket.objects.set(expiryKey('large', due, NOON), signed(expiryKey('large', due, NOON)))
  bucket.objects.set(expiryKey('large', later, at(1)), '')
  bucket.objects.set('expiries/nonsense', '')
  await run(bucket)
  t.strictSame(bucket.keys('users/'), [objectKey('large', later, 'png'), objectKey('large', later, 'thumb.png')])
  t.strictSame(bucket.keys('expiries/'), [expiryKey('large', later, at(1)), 'expiries/nonsense'])
})

t.test('expire does nothing after it lost leadership', async (t) => {
  const bucket = new MemoryBucket()
  bucket.objects.set(objectKey('small', idAt(-8 * DAY), 'png'), '')
  await run(bucket, () => false)
  t.equal(bucket.keys().length, 1)
})

t.test('expire keeps records for the record retention of the plan, if it has one', async (t) => {
  const bucket = new MemoryBucket()
  const ids = [1, 10, 12, 300].map((days) => idAt(-days * DAY))
  for (const account of ['small', 'large', 'unknown']) for (const id of ids) bucket.objects.set(recordKey(account, id), '')
  await run(bucket, undefined, {}, { ...plans, free: { ...plans.free, recordDays: 10 } })
  const left = (account: string) => bucket.keys(`records/${account}/`).length
  t.strictSame([left('small'), left('large'), left('unknown')], [2, 4, 4])
})

const YOUNG = idAt(-60)
const keysOf = (account: string, id = YOUNG) =>
  [
    objectKey(account, id, 'png'),
    recordKey(account, id),
    tombstoneKey(account, id),
    batchKey(account, 'batch_1'),
    rewriteKey(account, dayOf(id), JOIN),
    optionsKey(account, 'scr-1'),
    `idempotency/${account}/k`,
    baselineKey(account, 'uid', id),
    namedRecordKey(account, 'home'),
    runKey(account, 'uid', id),
  ].sort()

t.test('expire deletes all data of an account a day after its deletion, under any leader', async (t) => {
  const bucket = new MemoryBucket()
  for (const key of [...keysOf('unknown'), ...keysOf('small')]) bucket.objects.set(key, '')
  const objects = new Map(['unknown', 'small'].map((account) => [account, [anAccount({ name: `of-${account}` })]]))
  const kinds: OwnedKind[] = [
    {
      ofAccount: (account) => objects.get(account) ?? [],
      remove: async ({ metadata }) => void objects.delete(metadata.name.replace('of-', '')),
    },
  ]
  await run(bucket)
  await run(bucket, undefined, { kinds, now: at(DAY - 1) })
  t.strictSame([bucket.keys().length, bucket.keys('gone/'), objects.size], [21, [deletedAccountKey('unknown')], 2])
  await run(bucket, undefined, { kinds, now: at(DAY) })
  t.strictSame([...objects.keys()], ['small'])
  t.strictSame(bucket.keys(), [deletedAccountKey('unknown'), ...keysOf('small')].sort(), 'the mark stays until nothing more is found')
  await run(bucket, undefined, { kinds, now: at(DAY + 1) })
  t.strictSame(bucket.keys(), keysOf('small'))
})

t.test('expire deletes the objects of an account that has only a mark in the bucket', async (t) => {
  const bucket = new MemoryBucket()
  bucket.objects.set(deletedAccountKey('unknown'), toDeletionText('unknown', at(-DAY), ring))
  const left = [anAccount({ name: 'a-key' })]
  const remove = async () => void left.pop()
  await run(bucket, undefined, { kinds: [{ ofAccount: () => [...left], remove }] })
  t.strictSame(left, [])
})

t.test('expire removes the mark of an account that exists again', async (t) => {
  const bucket = new MemoryBucket()
  bucket.objects.set(deletedAccountKey('small'), toDeletionText('small', at(-2 * DAY), ring))
  for (const key of keysOf('small')) bucket.objects.set(key, '')
  await run(bucket)
  t.strictSame(bucket.keys(), keysOf('small'))
})

/** Stores an object so many days ago. */
function store(bucket: MemoryBucket, key: string, ageDays: number): string {
  bucket.objects.set(key, '')
  bucket.modified.set(key, at(-ageDays * DAY))
  return key
}
const YEAR_2100 = new Date('2100-01-01T00:00:00Z')
const YEAR_3000 = new Date('3000-01-01T00:00:00Z')
const YEAR_10889 = new Date(2 ** 48 - 1)
// The first day whose number in a key is negative.
const YEAR_2243 = new Date(100_000 * DAY * 1_000)
const FUTURE = [at(3_601), at(400 * DAY), YEAR_2100, YEAR_2243, YEAR_3000, YEAR_10889]

t.test('expire deletes files with ids in the future once they were stored longer ago than their retention', async (t) => {
  const bucket = new MemoryBucket()
  const kept: string[] = []
  for (const time of FUTURE) {
    for (const [account, days] of [
      ['small', 7],
      ['large', 90],
      ['unknown', 90],
    ] as const) {
      store(bucket, objectKey(account, newId('scr', time), 'png'), days + 0.1)
      store(bucket, objectKey(account, newId('scr', time), 'thumb.png'), days + 0.1)
      kept.push(store(bucket, objectKey(account, newId('scr', time), 'png'), days - 0.1))
    }
  }
  await run(bucket)
  t.strictSame(bucket.keys('users/'), kept.sort())
})

t.test(
  'expire deletes records, tombstones and marks dated in the future once they were stored longer ago than their retention',
  async (t) => {
    const bucket = new MemoryBucket()
    const keysOfRecord = (id: string) => [
      recordKey('small', id),
      tombstoneKey('small', id),
      `${segmentsPrefix('small', dayOf(id))}${id}`,
      rewriteKey('small', dayOf(id), JOIN),
    ]
    const [young, old] = [1, 2].map(() => FUTURE.slice(1).map((time) => newId('scr', time)))
    for (const key of old!.flatMap(keysOfRecord)) store(bucket, key, 400.1)
    for (const key of young!.flatMap(keysOfRecord)) store(bucket, key, 399.9)
    await run(bucket)
    // There is one join mark for each day: those of the recent ones.
    t.strictSame(bucket.keys(), [...new Set(young!.flatMap(keysOfRecord))].sort())
  },
)

t.test('expire uses the time of storing only for keys with an id or a day in the future', async (t) => {
  const bucket = new MemoryBucket()
  const ofNow = idAt(3_599)
  const keys = [
    objectKey('small', ofNow, 'png'),
    objectKey('small', idAt(-6 * DAY), 'png'),
    recordKey('small', ofNow),
    recordKey('small', idAt(-399 * DAY)),
    rewriteKey('small', dayOf(ofNow), JOIN),
    'users/small/aaa.png',
    `users/small/${newId('scr', YEAR_2100)}`,
    'users/small/scr_0.png',
    'records/small/7/x',
    'records/small/-/x',
    'records/small/-12345678/x',
    'records/small/yyy',
    'rewrites/small/7/x',
  ]
  for (const key of keys) store(bucket, key, 4_000)
  await run(bucket)
  t.strictSame(bucket.keys(), keys.sort())
})

t.test('expire deletes more files with ids in the future than one list contains, and none after it lost leadership', async (t) => {
  const bucket = new MemoryBucket()
  for (let n = 0; n < 2_500; n++) store(bucket, objectKey('small', newId('scr', at(900 * DAY + n)), 'png'), n % 2 === 0 ? 8 : 6)
  await run(bucket, () => false)
  t.equal(bucket.keys().length, 2_500)
  await run(bucket)
  t.equal(bucket.keys().length, 1_250)
})

t.test('expire finds ids in the future with one short list per prefix of an account', async (t) => {
  const bucket = new MemoryBucket()
  for (let n = 0; n < 2_500; n++)
    for (const key of [objectKey('small', idAt(-n), 'png'), recordKey('small', idAt(-n))]) store(bucket, key, 1)
  const listed: string[] = []
  const { storage } = bucket
  const listObjects: typeof storage.listObjects = async (prefix, options) => {
    const found = await storage.listObjects(prefix, options)
    listed.push(`${prefix} ${found.length}`)
    return found
  }
  await run(bucket, undefined, {}, plans, { ...storage, listObjects })
  t.strictSame(listed, ['users/small/ 10', 'records/small/ 10', 'rewrites/small/ 0', 'schedules/ 0', 'baselines/ 0'])
})

t.test('DeletedAccounts reports and rewrites marks that another key signed', async (t) => {
  const otherRing = { current: 'old', keys: { old: Buffer.alloc(32, 7).toString('base64') } }
  const options = { kinds: [], graceMilliseconds: 1_000, now: () => at(100) }
  const earlier = async (report: () => void) => {
    const bucket = new MemoryBucket()
    await new DeletedAccounts({ ...options, storage: bucket.storage, ring: otherRing, report }).isPastGrace('acme')
    return bucket.objects.get(deletedAccountKey('acme')) ?? ''
  }
  const signedByOther = await earlier(() => {})
  for (const { text, reason } of [
    { text: at(0).toISOString(), reason: 'unconfirmed' },
    { text: signedByOther, reason: 'unconfirmed' },
    { text: 'junk', reason: 'content' },
  ]) {
    const bucket = new MemoryBucket()
    const ignored: IgnoredObject[] = []
    const gone = new DeletedAccounts({ ...options, storage: bucket.storage, ring, report: (object) => ignored.push(object) })
    await bucket.storage.write(deletedAccountKey('acme'), text)
    t.equal(await gone.isPastGrace('acme'), false, 'its grace period starts again')
    t.match(ignored, [{ kind: 'gone', reason, key: deletedAccountKey('acme') }], text)
    t.equal(await gone.isPastGrace('acme'), false)
    t.equal(ignored.length, 1, 'it has a valid signature now')
  }
})

const schedules = () => [{ account: 'acme', uid: 'live', name: 'home' }]
const optionsOfRuns = () => ['schedules/acme/running.jwe']

const remove = (folder: 'baselines' | 'schedules', bucket: MemoryBucket, mayContinue = () => true) =>
  removeStrayObjects(folder, { storage: bucket.storage, schedules, optionsOfRuns, mayContinue, now: () => NOON })

function aBucket() {
  const bucket = new MemoryBucket()
  const keys = ['baselines/acme/live/scr_1', 'baselines/acme/dead/scr_1', 'baselines/other/live/scr_1', 'baselines/acme/fresh/scr_1']
  for (const key of keys) bucket.objects.set(key, '').has(key) && bucket.modified.set(key, at(-3_601))
  bucket.modified.set('baselines/acme/fresh/scr_1', at(-3_599))
  return bucket
}

t.test('pictures without a schedule are removed after an hour', async (t) => {
  const bucket = aBucket()
  t.equal(await remove('baselines', bucket), 2)
  t.strictSame(bucket.keys(), ['baselines/acme/fresh/scr_1', 'baselines/acme/live/scr_1'])
})

t.test('more pictures than one list contains are removed', async (t) => {
  const bucket = aBucket()
  for (let n = 0; n < 2_500; n++) bucket.objects.set(`baselines/gone/u${n}/scr_1`, '')
  await remove('baselines', bucket)
  t.equal(bucket.keys().length, 2)
})

t.test('nothing is removed once this operator does not lead', async (t) => {
  const bucket = aBucket()
  t.equal(await remove('baselines', bucket, () => false), 0)
  t.equal(bucket.keys().length, 4)
})

t.test('options without a schedule are removed after an hour, unless a run needs them', async (t) => {
  const bucket = new MemoryBucket()
  for (const key of ['acme/home', 'acme/dead', 'other/home', 'acme/running', 'acme/fresh']) bucket.objects.set(`schedules/${key}.jwe`, '')
  bucket.modified.set('schedules/acme/fresh.jwe', at(-3_599))
  t.equal(await remove('schedules', bucket), 2)
  t.strictSame(bucket.keys(), ['schedules/acme/fresh.jwe', 'schedules/acme/home.jwe', 'schedules/acme/running.jwe'])
})
