import t from 'tap'
import { BucketArchive } from '../../../../api-gateway/src/archive/bucket-archive.ts'
import { newId, screenshotIdOf } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { dayOf, JOIN, recordKey, rewriteKey, tombstoneKey } from '../../../../crds/src/records/storage-keys.ts'
import { aScreenshot, at, buildSegments, completedStatus } from '../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../support/fakes/memory-bucket.ts'
import { ring } from '../../../support/sources/mark-checks.ts'

const ACCOUNT = 'acme'
const HOUR = 3_600
const shot = (second: number, version = '1') =>
  aScreenshot({
    name: toObjectName(newId('scr', at(second), Buffer.alloc(10, 7))),
    metadata: { resourceVersion: version },
    spec: { accountName: ACCOUNT },
    status: completedStatus(),
  })
const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)

function anArchive(...segments: (readonly ReturnType<typeof shot>[])[]) {
  const bucket = new MemoryBucket()
  for (const records of segments) for (const { key, text } of buildSegments(ACCOUNT, records)) bucket.objects.set(key, text)
  return { bucket, archive: new BucketArchive(bucket.store, { keyRing: () => ring, now: () => at(86_400) }) }
}
async function scan(archive: BucketArchive, after?: string, order?: 'newest' | 'oldest'): Promise<string[]> {
  const ids: string[] = []
  for await (const record of archive.scan(ACCOUNT, after, order)) ids.push(idOf(record))
  return ids
}
/** Reads so many records and tells what was asked of the bucket for them. */
async function countCalls({ bucket, archive }: ReturnType<typeof anArchive>, records: number, after?: string, order?: 'newest' | 'oldest') {
  const calls: Record<string, number> = {}
  bucket.beforeCall = (what) => {
    calls[what] = (calls[what] ?? 0) + 1
  }
  let count = 0
  for await (const _ of archive.scan(ACCOUNT, after, order)) if (++count === records) break
  return { count, calls }
}
const range = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, n) => from + n * step)

t.test('scan merges segments that overlap, over days, newest first, each record once', async (t) => {
  const groups = [
    range(0, 90, 3),
    range(1, 90, 3),
    range(2, 90, 3),
    range(30, 60),
    range(-30 * HOUR, -29 * HOUR, 60),
    range(-80 * HOUR, -79 * HOUR, 60),
  ]
  const { archive } = anArchive(...groups.map((group) => group.map((second) => shot(second))))
  const all = [...new Set(groups.flat())].map((second) => idOf(shot(second))).sort()
  t.strictSame(await scan(archive), all)
  for (const place of [0, 1, 45, 89, 90, 120, all.length - 1])
    t.strictSame(await scan(archive, all[place]), all.slice(place + 1), `after ${place}`)
  t.strictSame(await scan(archive, newId('scr', at(-200 * HOUR))), [])
  t.strictSame(await scan(archive, undefined, 'oldest'), all.toReversed())
  for (const place of [0, 1, 45, 89, 90, 120, all.length - 1])
    t.strictSame(await scan(archive, all[place], 'oldest'), all.slice(0, place).toReversed(), `before ${place}`)
})

t.test('scan asks for a full day with one listing and one segment, wherever in the year it is', async (t) => {
  const days = range(0, 40).map((day) => range(-day * 24 * HOUR, -day * 24 * HOUR + 6_850, 10).map((second) => shot(second)))
  const archive = anArchive(...days)
  for (const record of days.flat()) archive.bucket.objects.set(recordKey(ACCOUNT, idOf(record)), '')
  const ids = days[25]!.map(idOf).sort()
  t.strictSame(await countCalls(archive, 101, ids[100]), { count: 101, calls: { list: 1, read: 1 } })
  t.strictSame(await countCalls(archive, 101, ids[600]), { count: 101, calls: { list: 2, read: 1 } })
  t.strictSame(await countCalls(archive, 101, ids[300], 'oldest'), { count: 101, calls: { list: 2 } })
  t.strictSame(await countCalls(archive, 101), { count: 101, calls: { list: 2, read: 1 } })
})

t.test('scan goes through many small days with few listings, over days of which there is nothing', async (t) => {
  const records = range(0, 400, 3).map((day) => shot(-day * 24 * HOUR))
  const archive = anArchive(...records.map((record) => [record]))
  for (const record of records) archive.bucket.objects.set(recordKey(ACCOUNT, idOf(record)), '')
  const { count, calls } = await countCalls(archive, 101, idOf(records[5]!))
  t.equal(count, 101)
  t.ok(calls.list! <= 6, `${calls.list} listings`)
  await archive.archive.deleteArchived(ACCOUNT, idOf(records[50]!))
  t.notOk((await scan(archive.archive)).includes(idOf(records[50]!)))
  t.equal((await scan(archive.archive, undefined, 'oldest')).length, records.length - 1)
})

t.test('scan gives the later of two versions of a record', async (t) => {
  const { archive } = anArchive([shot(1, '9')], [shot(1, '10'), shot(2)], [shot(1, '8')])
  for await (const record of archive.scan(ACCOUNT, idOf(shot(2)))) t.equal(record.metadata.resourceVersion, '10')
})

t.test('scan leaves out what is deleted, as it is now', async (t) => {
  const { archive } = anArchive([shot(1), shot(2)], [shot(3)])
  t.equal((await scan(archive)).length, 3)
  await archive.deleteArchived(ACCOUNT, idOf(shot(2)))
  t.strictSame(await scan(archive), [idOf(shot(3)), idOf(shot(1))])
})

t.test('scan knows thousands of deletions', async (t) => {
  const seconds = range(0, 2_500)
  const { archive, bucket } = anArchive(seconds.map((second) => shot(second)))
  for (const second of seconds) if (second % 2 === 0 || second < 1_100) bucket.objects.set(tombstoneKey(ACCOUNT, idOf(shot(second))), '')
  const kept = seconds.filter((second) => second >= 1_100 && second % 2 === 1).map((second) => idOf(shot(second)))
  t.strictSame(await scan(archive), kept.sort())
  t.strictSame(await scan(archive, undefined, 'oldest'), kept.toReversed())
})

t.test('scan reads only the segments that it needs and a few ahead, and remembers them', async (t) => {
  const { archive, bucket } = anArchive(...range(0, 20).map((n) => range(n * 100, n * 100 + 50).map((second) => shot(second))))
  const read: string[] = []
  bucket.beforeCall = (what, key) => void (what === 'read' && read.push(key))
  for (let again = 0; again < 2; again++) {
    let count = 0
    for await (const _ of archive.scan(ACCOUNT, undefined)) if (++count === 60) break
    t.equal(read.length, 5)
  }
})

t.test('scan goes on when segments are replaced under it', async (t) => {
  const { archive, bucket } = anArchive(...range(0, 5).map((n) => [shot(n * 10), shot(n * 10 + 5)]))
  const wanted = range(0, 50, 5)
    .map((second) => idOf(shot(second)))
    .sort()
  const names = bucket.keys('records/')
  const joined = buildSegments(
    ACCOUNT,
    range(0, 50, 5).map((second) => shot(second)),
  )[0]!
  const seen: string[] = []
  for await (const record of archive.scan(ACCOUNT, undefined)) {
    if (seen.push(idOf(record)) !== 3) continue
    bucket.objects.set(joined.key, joined.text)
    for (const name of names) bucket.objects.delete(name)
  }
  t.strictSame(seen, wanted)
})

t.test('find gives a record of that account unless it is deleted', async (t) => {
  const { archive } = anArchive()
  await archive.put(ACCOUNT, [shot(1), shot(2)])
  t.match(await archive.find(ACCOUNT, idOf(shot(1))), { metadata: { name: toObjectName(idOf(shot(1))) }, status: { phase: 'Completed' } })
  t.equal(await archive.find('other', idOf(shot(1))), undefined)
  t.equal(await archive.find(ACCOUNT, idOf(shot(3))), undefined)
  t.equal(await archive.deleteArchived(ACCOUNT, idOf(shot(1))), true)
  t.equal(await archive.find(ACCOUNT, idOf(shot(1))), undefined)
})

t.test('put writes a record for each id, segments for lists, and a mark that they may be joined', async (t) => {
  const { archive, bucket } = anArchive()
  const records = [shot(1), shot(2)]
  await archive.put(ACCOUNT, records)
  t.strictSame(
    bucket.keys(),
    [
      ...records.map((record) => recordKey(ACCOUNT, idOf(record))),
      buildSegments(ACCOUNT, records)[0]!.key,
      rewriteKey(ACCOUNT, dayOf(idOf(shot(1))), JOIN),
    ].sort(),
  )
  t.strictSame(await scan(archive), records.map(idOf).sort())
})

t.test('deleteArchived marks a record that is not there, but asks for nothing to be written anew', async (t) => {
  const { archive, bucket } = anArchive()
  t.equal(await archive.deleteArchived(ACCOUNT, idOf(shot(1))), false)
  t.strictSame(bucket.keys(), [tombstoneKey(ACCOUNT, idOf(shot(1)))])
})

t.test('findBatch gives the ids of a batch in the order of its creation', async (t) => {
  const { archive } = anArchive()
  const batch = newId('batch', at(0))
  const ids = [idOf(shot(2)), idOf(shot(1))]
  await archive.putBatch(ACCOUNT, batch, ids)
  t.strictSame(await archive.findBatch(ACCOUNT, batch), ids)
  t.equal(await archive.findBatch('other', batch), undefined)
})
