import t from 'tap'
import { screenshots } from '../../../../../crds/client/kinds.ts'
import { newId, screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot, ScreenshotSpec } from '../../../../../crds/src/kinds/screenshot.ts'
import { toArchivedLine } from '../../../../../crds/src/records/archive.ts'
import { digestOf } from '../../../../../crds/src/records/named-record.ts'
import { cacheEntryKey, namedRecordKey, objectKey, recordKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import type { Whole } from '../../../../../crds/src/schema/custom-resource.ts'
import { aScreenshot, at, completedStatus, failedStatus, NOON } from '../../../../support/fakes/builders.ts'
import { invalid } from '../../../../support/fakes/memory-cluster.ts'
import { type CaptureStage, startCaptures } from './stage.ts'

const before = aScreenshot({ name: 'home', spec: { accountName: 'red' }, status: completedStatus() })
const id = screenshotIdOf(before.metadata)
type Given = Parameters<typeof aScreenshot>[0] & { name: string }
const again = (more: Partial<Given> = {}): Given => ({ name: 'home', ...more, spec: { accountName: 'red', ...more.spec } })

/** Archives a record under its name. */
function archive({ bucket }: CaptureStage, record: Whole<Screenshot> = before, named?: object): void {
  const recordId = screenshotIdOf(record.metadata)
  const text = JSON.stringify(named ?? { version: 1, id: recordId, digest: digestOf(record) })
  bucket.objects.set(namedRecordKey('red', 'home'), text).set(recordKey('red', recordId), toArchivedLine(record))
}

t.test('an equal Screenshot with the name of an archived record shows that record, without an attempt or a charge', async (t) => {
  const stage = await startCaptures(t, async () => t.fail('charged') as never)
  archive(stage)
  const { status } = await stage.add(again())
  const { startTime, completionTime, result } = before.status!
  t.match(status, { phase: 'Completed', id, storagePath: `users/red/${id}.png`, restoredFrom: id, startTime, completionTime, result })
  t.strictSame(stage.conditionsOf('home'), ['Succeeded=True Restored', 'Finished=True Restored'])
  t.strictSame([status?.attempt, stage.orders], [undefined, []])
})

const others: [what: string, given: Given][] = [
  ['with another spec', again({ spec: { options: { fullPage: true } } })],
  ['of another account', again({ spec: { accountName: 'default' } })],
  ['with another name', again({ name: 'other' })],
  ['that was claimed before', again({ status: { phase: 'Pending', attempt: 1 } })],
  ['that a pod returned', again({ status: { phase: 'Pending', handedBack: 1 } })],
]
for (const [what, given] of others) {
  t.test(`a Screenshot ${what} is captured`, async (t) => {
    const stage = await startCaptures(t)
    archive(stage)
    t.match((await stage.add(given)).status, { phase: 'Running', restoredFrom: undefined })
  })
}

const renamed = aScreenshot({ ...again({ name: 'other' }), metadata: { uid: before.metadata.uid }, status: completedStatus() })
const unusable: [what: string, set: (stage: CaptureStage) => unknown][] = [
  ['failed', (stage) => archive(stage, { ...before, status: failedStatus() })],
  ['was deleted', (stage) => stage.bucket.objects.set(tombstoneKey('red', id), '')],
  ['has another name', (stage) => archive(stage, renamed, { version: 1, id, digest: digestOf(before) })],
  ['is not valid', (stage) => archive(stage, before, { version: 2 })],
]
for (const [what, set] of unusable) {
  t.test(`a Screenshot is captured if the record with its name ${what}`, async (t) => {
    const stage = await startCaptures(t)
    archive(stage)
    await set(stage)
    t.match((await stage.add(again())).status, { phase: 'Running' })
    t.strictSame(stage.ignored, what === 'is not valid' ? ['name content names/red/home.json'] : [])
  })
}

t.test('a Screenshot is captured if the API server refuses the result of its record', async (t) => {
  const stage = await startCaptures(t)
  archive(stage)
  let refusals = 0
  stage.cluster.fault = ({ verb }) => (verb === 'patch' && refusals++ === 0 ? invalid('status.result') : undefined)
  await stage.add(again())
  await stage.passTo(1)
  t.match(stage.get('home')?.status, { phase: 'Running', restoredFrom: undefined })
  await stage.remove('home')
  const later = await stage.add(again())
  t.match(later.status, { phase: 'Completed', restoredFrom: id }, 'a later one is another object')
})

t.test('the bucket is asked once for the record of a Screenshot, and never for names of the programs', async (t) => {
  const stage = await startCaptures(t)
  let reads = 0
  stage.bucket.beforeCall = (what, key) => {
    if (what === 'read' && key.startsWith('names/')) reads++
  }
  stage.runner.accept = () => ({ outcome: 'busy', with: { uid: 'other', attempt: 1, state: 'running' } })
  await stage.add(again({ spec: { poolName: 'none' } }))
  await stage.add({ spec: { accountName: 'red', poolName: 'none' } })
  await stage.passTo(100)
  t.equal(reads, 1)
})

t.test('a Screenshot with 300 KB of html that is applied again shows its record, although the cache has no html', async (t) => {
  const options = { html: 'x'.repeat(300_000), fullPage: true }
  const captured = aScreenshot({ ...again({ spec: { options } }), status: completedStatus() })
  for (const [html, phase] of [
    [options.html, 'Completed'],
    [`${options.html}y`, 'Running'],
  ] as const) {
    const stage = await startCaptures(t)
    archive(stage, captured)
    t.match((await stage.add(again({ spec: { options: { ...options, html } } }))).status, { phase })
  }
})

const hash = 'a'.repeat(64)
const newName = () => toObjectName(newId('scr', NOON))
const wants = (spec: Partial<ScreenshotSpec> = {}) => ({
  name: newName(),
  spec: { cachedFrom: hash, options: { saveHtml: true }, ...spec },
})

/** A stage whose bucket has the picture of a capture that has just ended. */
async function withPicture(t: Parameters<typeof startCaptures>[0]) {
  const stage = await startCaptures(t)
  const finish = async (given: Given, status: Screenshot['status'] = completedStatus()) => {
    const shot = await stage.add({ ...given, spec: { poolName: 'none', ...given.spec } })
    const known = screenshotIdOf(shot.metadata)
    for (const extension of ['png', 'html']) stage.bucket.objects.set(objectKey('default', known, extension), extension)
    const etag = (extension: string) => stage.bucket.etagOf(objectKey('default', known, extension)) ?? ''
    const artifacts = [{ type: 'html' as const, fileSizeBytes: 3, etag: etag('html') }]
    const result = { ...status?.result, etag: etag('png'), timings: { navigate: 1 }, artifacts }
    stage.cluster.put<Screenshot>(screenshots, { ...shot, status: { ...status, result } })
    await stage.settle()
    return known
  }
  const earlier = await finish({ name: newName(), spec: { cacheAs: hash, options: { saveHtml: true } } })
  return { ...stage, finish, earlier }
}

t.test('a Screenshot that may reuse a picture completes with copies of its files, and keeps nothing of its time', async (t) => {
  const stage = await withPicture(t)
  const { metadata, status } = await stage.add(wants())
  const own = screenshotIdOf(metadata)
  t.match(status, {
    phase: 'Completed',
    ...{ attempt: undefined, completionTime: NOON.toISOString() },
    result: { width: 1920, etag: String, artifacts: [{ type: 'html', etag: String }], timings: undefined, processingMilliseconds: 0 },
  })
  t.strictSame(stage.conditionsOf(metadata.name), ['Succeeded=True Cached', 'Finished=True Cached'])
  t.strictSame(
    stage.bucket.keys(`users/default/${own}`),
    ['html', 'png'].map((extension) => objectKey('default', own, extension)),
  )
  t.strictSame(stage.orders, [])
})

t.test('a Screenshot is captured if a file of the picture is gone, or a runner was requested before', async (t) => {
  const stage = await withPicture(t)
  stage.runner.accept = () => ({ outcome: 'accepted' })
  stage.bucket.objects.delete(objectKey('default', stage.earlier, 'html'))
  const { metadata } = await stage.add(wants())
  await stage.passTo(1)
  t.match(stage.get(metadata.name)?.status, { phase: 'Running' })
  for (const status of [{ attempt: 1 }, { handedBack: 1 }] as const) {
    const other = await withPicture(t)
    t.match((await other.add({ ...wants(), status: { phase: 'Pending', ...status } })).status, { phase: 'Running' })
  }
})

t.test('only a new picture gets an entry for later requests, so that reuse does not extend its age', async (t) => {
  const stage = await withPicture(t)
  const entryOf = (known: string) => JSON.parse(stage.bucket.objects.get(cacheEntryKey('default', known)) ?? '{}')
  t.match(entryOf(hash), { id: stage.earlier, keptUntil: undefined, result: { etag: String } })
  await stage.add(wants())
  await stage.finish({ name: newName(), spec: { cacheAs: 'b'.repeat(64) } }, failedStatus())
  t.strictSame(stage.bucket.keys('cache/'), [cacheEntryKey('default', hash)])
  t.equal(entryOf(hash).id, stage.earlier)
  await stage.finish({ name: newName(), spec: { cacheAs: 'c'.repeat(64), retentionDays: 2 } })
  t.equal(entryOf('c'.repeat(64)).keptUntil, at(2 * 86_400).toISOString())
  stage.bucket.objects.delete(objectKey('default', stage.earlier, 'png'))
  const { metadata } = await stage.add(wants())
  await stage.passTo(1)
  t.equal(stage.get(metadata.name)?.status?.phase, 'Running', 'its picture is gone')
  const taken = await stage.finish({ name: newName(), spec: { cachedFrom: 'd'.repeat(64) } })
  t.equal(entryOf('d'.repeat(64)).id, taken, 'one that was captured after all')
})

t.test('a Screenshot waits for the store to reuse a picture, and its own picture is not kept without it', async (t) => {
  const stage = await withPicture(t)
  const end = stage.bucket.goAway()
  const { metadata, status } = await stage.add(wants())
  t.equal(status?.phase, 'Pending')
  await stage.finish({ name: newName(), spec: { cacheAs: 'b'.repeat(64) } })
  end()
  await stage.passTo(10)
  t.equal(stage.get(metadata.name)?.status?.phase, 'Completed')
  t.equal(stage.bucket.keys('cache/').length, 1)
})
