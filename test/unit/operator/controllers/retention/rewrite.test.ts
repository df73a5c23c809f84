import t from 'tap'
import { newId, screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { readSegment } from '../../../../../crds/src/records/archive.ts'
import {
  dayOf,
  JOIN,
  objectKey,
  parseSegmentKey,
  recordKey,
  rewriteKey,
  segmentsPrefix,
  tombstoneKey,
} from '../../../../../crds/src/records/storage-keys.ts'
import { rewrite } from '../../../../../operator/src/controllers/retention/rewrite.ts'
import { aScreenshot, at, buildSegments, completedStatus } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'
import { markChecks, signed } from '../../../../support/sources/mark-checks.ts'

const ACCOUNT = 'acme'
const log = { debug() {}, info() {}, warn() {}, error() {} }
const shot = (second: number) =>
  aScreenshot({
    name: toObjectName(newId('scr', at(second), Buffer.alloc(10, 7))),
    spec: { accountName: ACCOUNT },
    status: completedStatus(),
  })
const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)
const DAY = dayOf(idOf(shot(0)))
/** After the end of the day and the time for late records. */
const LATER = at(15 * 3_600)

function aBucket(...groups: number[][]) {
  const bucket = new MemoryBucket()
  for (const group of groups) for (const { key, text } of buildSegments(ACCOUNT, group.map(shot))) bucket.objects.set(key, text)
  bucket.objects.set(rewriteKey(ACCOUNT, DAY, JOIN), '')
  return bucket
}
function bury(bucket: MemoryBucket, second: number): void {
  const id = idOf(shot(second))
  for (const key of [tombstoneKey(ACCOUNT, id), rewriteKey(ACCOUNT, DAY, id), recordKey(ACCOUNT, id), objectKey(ACCOUNT, id, 'png')])
    bucket.objects.set(key, signed(key))
}
const run = (bucket: MemoryBucket, now: Date, mayContinue = () => true) =>
  rewrite({ ...markChecks, storage: bucket.storage, mayContinue, now: () => now, log })
const segmentsOf = (bucket: MemoryBucket) => bucket.keys(segmentsPrefix(ACCOUNT, DAY))
const idsIn = (bucket: MemoryBucket): string[] =>
  segmentsOf(bucket).flatMap((key) => readSegment(bucket.objects.get(key) ?? '').map(({ id }) => id))
const ids = (...seconds: number[]): string[] => seconds.map((second) => idOf(shot(second))).sort()

t.test('rewrite joins the small segments of a past day', async (t) => {
  const bucket = aBucket([1, 5], [2, 6], [3])
  await run(bucket, LATER)
  t.equal(segmentsOf(bucket).length, 1)
  t.strictSame(idsIn(bucket), ids(1, 2, 3, 5, 6))
  t.strictSame(bucket.keys('rewrites/'), [])
})

t.test('rewrite skips a day that is not over, and keeps its mark', async (t) => {
  const bucket = aBucket([1], [2])
  await run(bucket, at(60))
  t.equal(segmentsOf(bucket).length, 2)
  t.equal(bucket.keys('rewrites/').length, 1)
})

t.test('rewrite keeps large segments unchanged', async (t) => {
  const large = Array.from({ length: 600 }, (_, n) => n)
  const bucket = aBucket(large, [700])
  const [kept] = buildSegments(ACCOUNT, large.map(shot))
  await run(bucket, LATER)
  t.ok(segmentsOf(bucket).some((key) => parseSegmentKey(key)?.first === kept?.first && parseSegmentKey(key)?.count === 600))
})

t.test('rewrite removes deleted records at once, with all their remaining data', async (t) => {
  const bucket = aBucket([1, 2, 3], [10, 11])
  bury(bucket, 2)
  const others = segmentsOf(bucket).filter((key) => parseSegmentKey(key)?.count === 2)
  await run(bucket, at(60))
  t.strictSame(idsIn(bucket).sort(), ids(1, 3, 10, 11))
  t.ok(bucket.objects.has(others[0]!), 'a segment without deleted records stays')
  t.strictSame(bucket.keys('users/'), [])
  t.strictSame(bucket.keys('rewrites/'), [rewriteKey(ACCOUNT, DAY, JOIN)])
  const id = idOf(shot(2))
  t.notOk(bucket.objects.has(recordKey(ACCOUNT, id)))
  t.ok(bucket.objects.has(tombstoneKey(ACCOUNT, id)), 'the tombstone stays')
})

t.test('rewrite deletes a segment whose records are all deleted', async (t) => {
  const bucket = aBucket([1])
  bury(bucket, 1)
  await run(bucket, at(60))
  t.strictSame(segmentsOf(bucket), [])
})

t.test('rewrite writes before it deletes, and may be repeated after any failure', async (t) => {
  for (let step = 1; step <= 4; step++) {
    const bucket = aBucket([1, 5], [2, 6], [3])
    bury(bucket, 5)
    let calls = 0
    bucket.beforeCall = () => {
      if (++calls === step) throw new Error('away')
    }
    await run(bucket, LATER).catch(() => {})
    t.ok(
      ids(1, 2, 3, 6).every((id) => idsIn(bucket).includes(id)),
      `nothing is lost after step ${step}`,
    )
    bucket.beforeCall = () => {}
    await run(bucket, LATER)
    t.strictSame(idsIn(bucket), ids(1, 2, 3, 6))
  }
})

t.test('rewrite does nothing after it lost leadership', async (t) => {
  const bucket = aBucket([1], [2])
  await run(bucket, LATER, () => false)
  t.equal(segmentsOf(bucket).length, 2)
})

t.test('rewrite read all segments of a day with 1,000 large records together: it reads 8 MiB at a time', async (t) => {
  const bucket = new MemoryBucket()
  const large = Array.from({ length: 14 }, (_, n) => {
    const one = shot(n)
    return { ...one, spec: { ...one.spec, options: { html: 'x'.repeat(1_200_000) } } }
  })
  for (const one of large) for (const { key, text } of buildSegments(ACCOUNT, [one])) bucket.objects.set(key, text)
  bucket.objects.set(rewriteKey(ACCOUNT, DAY, JOIN), '')
  let reads = 0
  let peak = 0
  const storage = {
    ...bucket.storage,
    readText(key: string) {
      if (bucket.objects.get(key)?.includes('html')) peak = Math.max(peak, ++reads)
      return bucket.storage.readText(key, Number.POSITIVE_INFINITY)
    },
    write(key: string, text: string) {
      reads = 0
      return bucket.storage.write(key, text)
    },
  }
  await rewrite({ ...markChecks, storage, mayContinue: () => true, now: () => LATER, log })
  t.equal(peak, 7)
  t.equal(segmentsOf(bucket).length, 6)
  t.strictSame(idsIn(bucket), large.map(idOf).sort())
})
