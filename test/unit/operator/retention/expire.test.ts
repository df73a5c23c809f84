import t from 'tap'
import { newId } from '../../../../crds/src/ids.ts'
import { DEFAULT_PLANS } from '../../../../crds/src/plans.ts'
import { batchKey, dayOf, JOIN, objectKey, optionsKey, recordKey, rewriteKey, tombstoneKey } from '../../../../crds/src/storage-keys.ts'
import { expire } from '../../../../operator/src/retention/expire.ts'
import { GoneAccounts } from '../../../../operator/src/retention/gone-accounts.ts'
import { anAccount, at, NOON } from '../../../support/builders.ts'
import { MemoryBucket } from '../../../support/memory-bucket.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const DAY = 86_400
const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, retentionDays: 7 }, scale: { ...DEFAULT_PLANS.scale, retentionDays: 90 } }
const accounts = new Map([
  ['small', anAccount({ name: 'small', spec: { plan: 'free' } })],
  ['large', anAccount({ name: 'large', spec: { plan: 'scale' } })],
])
const idAt = (second: number): string => newId('scr', at(second))
const run = (
  bucket: MemoryBucket,
  mayWrite = () => true,
  { now = NOON, gone = new GoneAccounts(), countLive = (_: string): number => 0 } = {},
) =>
  expire({
    storage: bucket.storage,
    findAccount: (name) => accounts.get(name),
    plans,
    recordDays: 400,
    countLive,
    gone,
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

t.test('expire does nothing for a leader that is one no longer', async (t) => {
  const bucket = new MemoryBucket()
  bucket.objects.set(objectKey('small', idAt(-8 * DAY), 'png'), '')
  await run(bucket, () => false)
  t.equal(bucket.keys().length, 1)
})

t.test('expire removes all of an account once it has been gone for a day', async (t) => {
  const id = idAt(-60)
  const keysOf = (account: string) =>
    [
      objectKey(account, id, 'png'),
      recordKey(account, id),
      tombstoneKey(account, id),
      batchKey(account, 'batch_1'),
      rewriteKey(account, dayOf(id), JOIN),
      optionsKey(account, 'scr-1'),
    ].sort()
  const bucket = new MemoryBucket()
  for (const key of [...keysOf('unknown'), ...keysOf('small')]) bucket.objects.set(key, '')
  const gone = new GoneAccounts()
  await run(bucket, undefined, { gone })
  await run(bucket, undefined, { gone, now: at(DAY - 1) })
  t.equal(bucket.keys().length, 12)
  await run(bucket, undefined, { gone, now: at(DAY), countLive: (account) => (account === 'unknown' ? 1 : 0) })
  t.equal(bucket.keys().length, 12, 'not while it has live screenshots')
  await run(bucket, undefined, { gone, now: at(DAY + 1) })
  await run(bucket, undefined, { gone, now: at(2 * DAY + 1) })
  t.strictSame(bucket.keys(), keysOf('small'))
})
