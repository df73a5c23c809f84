import t from 'tap'
import { toCached } from '../../../../../crds/client/cached-form.ts'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { silentLog } from '../../../../../crds/client/log.ts'
import { newId, screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { parseArchivedLine, toArchivedLine } from '../../../../../crds/src/records/archive.ts'
import { recordKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { isOpenIn, type Undelivered } from '../../../../../crds/src/webhooks/undelivered.ts'
import { archive } from '../../../../../operator/src/controllers/retention/archive.ts'
import { Archiving } from '../../../../../operator/src/storage/archiving.ts'
import { aScreenshot, at, completedStatus } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'
import { markChecks, signed } from '../../../../support/sources/mark-checks.ts'

const ACCOUNT = 'default'
const aRecord = (second: number): Screenshot =>
  aScreenshot({ name: toObjectName(newId('scr', at(second), Buffer.alloc(10, 7))), status: completedStatus() })
const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)
const refusal = (status: number) => new KubeError({ status, reason: status === 404 ? 'NotFound' : 'Conflict', message: 'no' })

type OnDelete = (screenshot: Screenshot, bucket: MemoryBucket, place: number, see: (screenshot: Screenshot) => void) => void

const metrics = { archived: { inc() {} } } as never

/** An API server that reports each deletion to `onDelete`, and then to the cache. */
const aCluster = (onDelete: (name: string) => void, onNoted: (screenshot: Screenshot) => void = () => {}) => ({
  clients: { screenshots: { delete: async (name: string) => onDelete(name) } } as never,
  reflectors: { screenshots: { noteDeleted: onNoted } } as never,
})

/** Archives two records. `onDelete` is called for each deletion and may reject it. The watch reports both deletions. */
async function archiveTwo(onDelete: OnDelete = () => {}) {
  const bucket = new MemoryBucket()
  const archiving = new Archiving()
  const handedBack: Screenshot[] = []
  archiving.onReleased = (screenshot) => handedBack.push(screenshot)
  const records = [aRecord(1), aRecord(2)]
  const evaluated: Screenshot[] = []
  const see = (screenshot: Screenshot) => {
    if (!archiving.noteDeleted(screenshot)) evaluated.push(screenshot)
  }
  let questions = 0
  const ended = archive(records, {
    ...markChecks,
    ...aCluster((name) => {
      const place = records.findIndex(({ metadata }) => metadata.name === name)
      onDelete(records[place]!, bucket, place, see)
    }, see),
    storage: { ...bucket.storage, exists: async (key: string) => ++questions > 0 && bucket.objects.has(key) } as never,
    archiving,
    mayContinue: () => true,
    metrics,
    log: silentLog as never,
  })
  const error = await ended.catch((reason: unknown) => reason)
  return { bucket, records, handedBack, evaluated, see, error, questions: () => questions }
}

t.test('archive does not evaluate the deletion of a record that it deleted itself', async (t) => {
  const { bucket, records, handedBack, evaluated, questions } = await archiveTwo()
  for (const record of records) t.ok(bucket.objects.has(recordKey(ACCOUNT, idOf(record))))
  t.strictSame([handedBack, evaluated, questions()], [[], [], 0])
})

t.test('archive releases a record that its owner deletes during the archiving', async (t) => {
  const { bucket, records, handedBack } = await archiveTwo((record, store, place) => {
    const key = tombstoneKey(ACCOUNT, idOf(record))
    if (place === 1) store.objects.set(key, signed(key))
  })
  t.strictSame(handedBack, [records[1]])
  t.ok(bucket.objects.has(recordKey(ACCOUNT, idOf(records[0]!))))
})

t.test('archive releases a record that another client deleted first', async (t) => {
  const gone: Screenshot[] = []
  const bury = (record: Screenshot) => {
    gone.push(record)
    throw refusal(404)
  }
  const { records, handedBack, evaluated, see } = await archiveTwo(bury)
  t.strictSame(handedBack, [], 'the deletion was not seen yet')
  for (const record of gone) see(record)
  t.strictSame(evaluated, records, 'evaluated once the deletion is seen')
})

t.test('archive releases a record at once whose deletion was seen before it could delete it', async (t) => {
  const { records, handedBack, evaluated } = await archiveTwo((record, _, __, see) => {
    see(record)
    throw refusal(404)
  })
  t.strictSame([handedBack, evaluated], [records, []])
})

t.test('archive skips a record that has changed, and evaluates its deletion later', async (t) => {
  const { records, handedBack, evaluated, see } = await archiveTwo(() => {
    throw refusal(409)
  })
  t.strictSame([handedBack, evaluated], [[], []])
  for (const record of records) see(record)
  t.strictSame(evaluated, records)
})

t.test('archive releases deleted records when it cannot read their tombstones', async (t) => {
  const { records, handedBack, error } = await archiveTwo((_, bucket) => {
    bucket.beforeCall = (what) => {
      if (what === 'list') throw new Error('unavailable')
    }
  })
  t.match(error, { message: 'unavailable' })
  t.strictSame(handedBack, records)
})

t.test('archive hands over open deliveries: the record names them, and a Screenshot with a running post stays', async (t) => {
  const bucket = new MemoryBucket()
  const archiving = new Archiving()
  const [idle, busy] = [aRecord(1), aRecord(2)]
  const open: Undelivered = {
    ...{
      version: 1,
      delivery: newId('dlv', at(2), Buffer.alloc(10)),
      event: newId('evt', at(2), Buffer.alloc(10)),
      type: 'screenshot.completed',
    },
    ...{ screenshot: idOf(idle), webhook: 'hook', attempts: 2, at: at(4_500).toISOString() },
  }
  const kept: Undelivered[] = []
  archiving.openDeliveries = {
    of(screenshot) {
      t.ok(archiving.isHeld(screenshot), 'no post may start')
      return screenshot === busy ? undefined : [open]
    },
    async keep(_, deliveries) {
      const record = parseArchivedLine(bucket.objects.get(recordKey(ACCOUNT, idOf(idle)))!)
      t.strictSame(record.status?.deliveries, { 'screenshot.completed': { hook: { attempts: 2, at: open.at, state: 'open' } } })
      t.ok(isOpenIn(record, open))
      t.notOk(isOpenIn(record, { ...open, attempts: 1 }), 'an older state')
      t.notOk(isOpenIn(record, { ...open, at: at(4_501).toISOString() }), 'the same number of attempts at another time')
      t.ok(isOpenIn(record, { ...open, attempts: 3, at: at(9_000).toISOString() }), 'a later state')
      t.notOk(isOpenIn(record, { ...open, webhook: 'other' }))
      kept.push(...deliveries)
    },
  }
  const deleted: string[] = []
  await archive([idle, busy], {
    ...markChecks,
    ...aCluster((name) => deleted.push(name)),
    storage: bucket.storage as never,
    archiving,
    mayContinue: () => true,
    metrics: { archived: { inc: (count: number) => t.equal(count, 1) } } as never,
    log: silentLog as never,
  })
  t.strictSame(kept, [open])
  t.strictSame(deleted, [idle.metadata.name])
  t.notOk(bucket.objects.has(recordKey(ACCOUNT, idOf(busy))))
  t.notOk(archiving.isHeld(busy))
})

t.test('5,000 records with 1.2 MB of html were in memory together: four large ones are archived at a time, each whole', async (t) => {
  const bucket = new MemoryBucket()
  const stored = Array.from({ length: 6 }, (_, n) => {
    const { metadata, status } = aRecord(n)
    return aScreenshot({ name: metadata.name, spec: { options: { html: `${n}${'x'.repeat(20_000)}`, delay: 5 } }, status: status! })
  })
  const gone = stored[2]!
  const small = aRecord(100)
  const begun = new Set<string>()
  let peak = 0
  const deleted: string[] = []
  await archive([...stored.map(toCached), small], {
    ...markChecks,
    clients: {
      screenshots: {
        async find(name: string) {
          begun.add(name)
          peak = Math.max(peak, begun.size)
          return stored.find(({ metadata }) => metadata.name === name && name !== gone.metadata.name)
        },
        async delete(name: string) {
          begun.clear()
          deleted.push(name)
        },
      },
    } as never,
    reflectors: { screenshots: { noteDeleted() {} } } as never,
    storage: bucket.storage as never,
    archiving: new Archiving(),
    mayContinue: () => true,
    metrics,
    log: silentLog as never,
  })
  for (const one of stored.filter((other) => other !== gone))
    t.equal(bucket.objects.get(recordKey(ACCOUNT, idOf(one))), toArchivedLine(one))
  t.equal(peak, 4)
  t.notOk(bucket.objects.has(recordKey(ACCOUNT, idOf(gone))), 'it was deleted before it was read')
  t.strictSame(
    deleted.toSorted(),
    [small, ...stored]
      .filter((one) => one !== gone)
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  )
})
