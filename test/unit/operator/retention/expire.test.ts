import t from 'tap'
import { newId } from '../../../../crds/src/ids.ts'
import { DEFAULT_PLANS, type Plans } from '../../../../crds/src/plans.ts'
import {
  batchKey,
  dayOf,
  expiryKey,
  goneKey,
  JOIN,
  objectKey,
  optionsKey,
  recordKey,
  rewriteKey,
  tombstoneKey,
} from '../../../../crds/src/storage-keys.ts'
import { expire } from '../../../../operator/src/retention/expire.ts'
import { GoneAccounts, type OwnedKind } from '../../../../operator/src/retention/gone-accounts.ts'
import { toGoneText } from '../../../../operator/src/retention/marks.ts'
import { anAccount, at, NOON } from '../../../support/builders.ts'
import { markChecks, ring, signed } from '../../../support/mark-checks.ts'
import { MemoryBucket } from '../../../support/memory-bucket.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const DAY = 86_400
const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, retentionDays: 7 }, scale: { ...DEFAULT_PLANS.scale, retentionDays: 90 } }
const accounts = new Map([
  ['small', anAccount({ name: 'small', spec: { plan: 'free' } })],
  ['large', anAccount({ name: 'large', spec: { plan: 'scale' } })],
])
const idAt = (second: number): string => newId('scr', at(second))
const run = (bucket: MemoryBucket, mayWrite = () => true, { now = NOON, kinds = [] as OwnedKind[] } = {}, kept: Plans = plans) =>
  expire({
    ...markChecks,
    isAccountGone: async (name) => !accounts.has(name),
    findLive: () => undefined,
    storage: bucket.storage,
    findAccount: (name) => accounts.get(name),
    plans: kept,
    recordDays: 400,
    gone: new GoneAccounts({ ...markChecks, storage: bucket.storage, kinds, graceMilliseconds: DAY * 1_000, now: () => now }),
    mayWrite,
    now: () => now,
    log,
  })

t.test('expire removes files after the days of their account’s plan, of an unknown account’s after the longest', async (t) => {
  const bucket = new MemoryBucket()
  const ages = [1, 6.9, 7.1, 89, 91]
  for (const account of ['small', 'large', 'unknown'])
    for (const age of ages) bucket.objects.set(objectKey(account, idAt(-age * DAY), 'png'), String(age))
  await run(bucket)
  const left = (account: string) => bucket.keys(`users/${account}/`).map((key) => Number(bucket.objects.get(key)))
  t.strictSame(left('small'), [1, 6.9])
  t.strictSame(left('large'), [1, 6.9, 7.1, 89])
  t.strictSame(left('unknown'), [1, 6.9, 7.1, 89])
})

t.test('expire removes more files than one list holds', async (t) => {
  const bucket = new MemoryBucket()
  for (let n = 0; n < 2_500; n++) bucket.objects.set(objectKey('small', idAt(-8 * DAY - n), 'png'), '')
  await run(bucket)
  t.strictSame(bucket.keys(), [])
})

t.test('expire removes whole days of records, and only when all of the day is old enough', async (t) => {
  const bucket = new MemoryBucket()
  const ids = [1, 399, 400, 401, 402, 900].map((days) => idAt(-days * DAY))
  for (const id of ids) for (const key of [recordKey('small', id), tombstoneKey('small', id)]) bucket.objects.set(key, '')
  await run(bucket)
  const kept = ids.slice(0, 3)
  t.strictSame(bucket.keys(), kept.flatMap((id) => [recordKey('small', id), tombstoneKey('small', id)]).sort())
  t.ok(kept.every((id) => bucket.keys(`records/small/${dayOf(id)}/`).length === 2))
})

t.test('expire removes files that were marked, once their time has come, and their marks after them', async (t) => {
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

t.test('expire does nothing for a leader that is one no longer', async (t) => {
  const bucket = new MemoryBucket()
  bucket.objects.set(objectKey('small', idAt(-8 * DAY), 'png'), '')
  await run(bucket, () => false)
  t.equal(bucket.keys().length, 1)
})

t.test('expire keeps records as long as their account’s plan says, where it says something', async (t) => {
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
  ].sort()

t.test('expire removes all of an account once it has been gone for a day, whoever leads', async (t) => {
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
  t.strictSame([bucket.keys().length, bucket.keys('gone/'), objects.size], [15, [goneKey('unknown')], 2])
  await run(bucket, undefined, { kinds, now: at(DAY) })
  t.strictSame([...objects.keys()], ['small'])
  t.strictSame(bucket.keys(), [goneKey('unknown'), ...keysOf('small')].sort(), 'the mark stays until nothing more was found')
  await run(bucket, undefined, { kinds, now: at(DAY + 1) })
  t.strictSame(bucket.keys(), keysOf('small'))
})

t.test('expire removes the objects of an account of which nothing is in the bucket but its mark', async (t) => {
  const bucket = new MemoryBucket()
  bucket.objects.set(goneKey('unknown'), toGoneText('unknown', at(-DAY), ring))
  const left = [anAccount({ name: 'a-key' })]
  const remove = async () => void left.pop()
  await run(bucket, undefined, { kinds: [{ ofAccount: () => [...left], remove }] })
  t.strictSame(left, [])
})

t.test('expire forgets that an account was gone when it is there again', async (t) => {
  const bucket = new MemoryBucket()
  bucket.objects.set(goneKey('small'), toGoneText('small', at(-2 * DAY), ring))
  for (const key of keysOf('small')) bucket.objects.set(key, '')
  await run(bucket)
  t.strictSame(bucket.keys(), keysOf('small'))
})
