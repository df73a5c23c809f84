import t from 'tap'
import { toCached } from '../../../../../crds/client/cached-form.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { toArchivedLine } from '../../../../../crds/src/records/archive.ts'
import { digestOf } from '../../../../../crds/src/records/named-record.ts'
import { namedRecordKey, recordKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { Restorer } from '../../../../../operator/src/controllers/screenshot/restore.ts'
import { buildRestored } from '../../../../../operator/src/controllers/screenshot/status.ts'
import { aScreenshot, at, completedStatus, failedStatus } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'

const before = aScreenshot({ name: 'home', spec: { accountName: 'red' }, status: completedStatus() })
const id = screenshotIdOf(before.metadata)

function start(record = before, named: object = { version: 1, id, digest: digestOf(before) }, stored?: Screenshot) {
  const bucket = new MemoryBucket()
  bucket.objects.set(namedRecordKey('red', 'home'), JSON.stringify(named))
  bucket.objects.set(recordKey('red', screenshotIdOf(record.metadata)), toArchivedLine(record))
  const reported: unknown[] = []
  let reads = 0
  const readText = (key: string) => {
    reads++
    return bucket.storage.readText(key, Number.POSITIVE_INFINITY)
  }
  const storage = { ...bucket.storage, readText }
  const clients = { screenshots: { find: async () => stored } }
  const restorer = new Restorer({ clients, storage, report: (object) => reported.push(object), now: () => at(60) })
  return { bucket, restorer, reported, reads: () => reads }
}
const again = (more: Parameters<typeof aScreenshot>[0] = {}) => aScreenshot({ name: 'home', spec: { accountName: 'red' }, ...more })

t.test('find returns the record of an equal Screenshot with the same name', async (t) => {
  const { restorer } = start()
  const shot = again()
  const record = await restorer.find(shot)
  t.equal(record && screenshotIdOf(record.metadata), id)
  restorer.forbid(shot)
  t.equal(await restorer.find(shot), undefined)
  t.ok(await restorer.find(again()), 'a later one is another object')
})

for (const [what, shot] of Object.entries({
  'with another spec': again({ spec: { accountName: 'red', options: { fullPage: true } } }),
  'of another account': again({ spec: { accountName: 'blue' } }),
  'with another name': again({ name: 'other' }),
  'that was claimed before': again({ status: { phase: 'Pending', attempt: 1 } }),
  'that a pod returned': again({ status: { phase: 'Pending', handedBack: 1 } }),
  'that runs': again({ status: { phase: 'Running' } }),
})) {
  t.test(`find returns nothing for a Screenshot ${what}`, async (t) => {
    t.equal(await start().restorer.find(shot), undefined)
  })
}

t.test('find does not read the bucket twice for one Screenshot, and never for names of the programs', async (t) => {
  const { restorer, reads } = start()
  const shot = again({ name: 'new' })
  for (let n = 0; n < 3; n++) await restorer.find(shot)
  t.equal(reads(), 1)
  await restorer.find(aScreenshot({ spec: { accountName: 'red' } }))
  t.equal(reads(), 1)
})

t.test('find returns no record that failed, was deleted, or has another name', async (t) => {
  t.equal(await start({ ...before, status: failedStatus() }).restorer.find(again()), undefined)
  const { bucket, restorer } = start()
  bucket.objects.set(tombstoneKey('red', id), '')
  t.equal(await restorer.find(again()), undefined)
  const renamed = aScreenshot({
    name: 'other',
    spec: { accountName: 'red' },
    metadata: { uid: before.metadata.uid },
    status: completedStatus(),
  })
  t.equal(screenshotIdOf(renamed.metadata), id)
  t.equal(await start(renamed).restorer.find(again()), undefined)
})

t.test('find treats a malformed object as absent, and reports it', async (t) => {
  const { restorer, reported } = start(before, { version: 2 })
  t.equal(await restorer.find(again()), undefined)
  t.strictSame(reported, [{ kind: 'name', reason: 'content', key: 'names/red/home.json' }])
})

t.test('buildRestored shows the record, without an attempt or a charge', async (t) => {
  const { attempt: _, runner: _runner, ...status } = completedStatus()
  const patch = buildRestored(again(), before, at(60))
  t.match(patch, {
    ...{ phase: 'Completed', id, storagePath: `users/red/${id}.png`, restoredFrom: id },
    ...{ startTime: status.startTime, completionTime: status.completionTime, result: status.result },
    conditions: [
      { type: 'Succeeded', status: 'True', reason: 'Restored' },
      { type: 'Finished', status: 'True', reason: 'Restored' },
    ],
  })
  t.notOk('attempt' in patch)
})

t.test('a Screenshot with 300 KB of html that is applied again shows its record, although the cache has no html', async (t) => {
  const options = { html: 'x'.repeat(300_000), fullPage: true }
  const captured = aScreenshot({ name: 'home', spec: { accountName: 'red', options }, status: completedStatus() })
  const named = { version: 1, id: screenshotIdOf(captured.metadata), digest: digestOf(captured) }
  const find = (stored: Screenshot) => start(captured, named, stored).restorer.find(toCached(stored))
  t.ok(await find(again({ spec: { accountName: 'red', options } })))
  t.equal(await find(again({ spec: { accountName: 'red', options: { ...options, html: `${options.html}y` } } })), undefined)
})
