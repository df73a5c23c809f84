import t from 'tap'
import { attemptMilliseconds } from '../../../../../crds/src/dispatch/deadline.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import {
  buildClaim,
  buildFailure,
  buildNote,
  buildReuse,
  buildUnclaim,
  deadlineOf,
  uploadExpiryOf,
} from '../../../../../operator/src/controllers/screenshot/status.ts'
import { aScreenshot, at, completedStatus, NOON } from '../../../../support/fakes/builders.ts'

const runner = { pod: 'default-1', uid: 'pod-uid' }
const withoutNulls = (patch: object) => Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null))
const waiting = aScreenshot({ status: { phase: 'Pending', attempt: 1, lostRunners: 1 } })
const running = aScreenshot({ status: { phase: 'Running', runner, attempt: 2, lostRunners: 1, startTime: NOON.toISOString() } })

t.test('buildClaim starts the next attempt and clears the fields of an earlier one', async (t) => {
  const patch = buildClaim(waiting, runner, at(5))
  t.match(patch, { phase: 'Running', runner, attempt: 2, startTime: at(5).toISOString(), result: null, completionTime: null })
  t.match(patch.conditions, [{ type: 'Succeeded', status: 'Unknown', reason: 'Capturing', message: 'attempt 2 on pod default-1' }])
  t.ok(ScreenshotStatus.safeParse(withoutNulls(patch)).success)
})

t.test('kubectl shows the id, the file and the page of every Screenshot that was claimed or ended', async (t) => {
  const url = `https://example.com/${'a'.repeat(8_000)}`
  const shot = aScreenshot({ metadata: { name: 'by-hand' }, spec: { url, accountName: 'acme', options: { format: 'webp' } } })
  const id = screenshotIdOf(shot.metadata)
  const shown = { id, storagePath: objectKey('acme', id, 'webp'), url: `${url.slice(0, 79)}…` }
  const patches = [
    buildClaim(shot, runner, at(5)),
    buildNote(shot, 'PoolNotFound', 'there is none', NOON),
    buildFailure(shot, { code: 'CANCELLED', message: 'x' }, at(9)),
    buildReuse(shot, { format: 'webp' }, at(1), at(2)),
  ]
  for (const patch of patches) {
    t.match(patch, shown)
    t.ok(ScreenshotStatus.safeParse(withoutNulls(patch)).success)
  }
})

t.test('buildUnclaim queues a Screenshot again and counts its attempt', async (t) => {
  const patch = buildUnclaim(running, { reason: 'RunnerLost', message: 'gone', counts: true, lost: true }, at(9))
  t.match(patch, { phase: 'Pending', runner: null, startTime: null, attempt: 2, lostRunners: 2 })
  t.ok(ScreenshotStatus.safeParse(withoutNulls(patch)).success)
})

t.test('buildUnclaim does not count an attempt that never began', async (t) => {
  const patch = buildUnclaim(running, { reason: 'RunnerBusy', message: 'busy', counts: false, lost: false }, at(9))
  t.equal(patch.attempt, 1)
  t.notOk('lostRunners' in patch)
  const first = aScreenshot({ status: { phase: 'Running', runner, attempt: 1 } })
  t.equal(buildUnclaim(first, { reason: 'RunnerBusy', message: 'busy', counts: false, lost: false }, at(9)).attempt, null)
})

t.test('buildNote changes the condition, and sets the identifying fields', async (t) => {
  t.strictSame(Object.keys(buildNote(waiting, 'PoolNotFound', 'there is none', NOON)), ['id', 'storagePath', 'url', 'conditions'])
})

t.test('buildFailure fails a Screenshot with its code and sets Finished for kubectl wait', async (t) => {
  const patch = buildFailure(running, { code: 'PAGE_CRASHED', message: 'x'.repeat(5_000) }, at(9))
  t.match(patch, { phase: 'Failed', completionTime: at(9).toISOString(), result: { error: { code: 'PAGE_CRASHED' } } })
  t.match(patch.conditions, [
    { type: 'Succeeded', status: 'False', reason: 'PageCrashed' },
    { type: 'Finished', status: 'True', reason: 'PageCrashed' },
  ])
  t.ok(ScreenshotStatus.safeParse(withoutNulls(patch)).success, 'also with a long message')
})

t.test('a condition keeps its transition time while its status stays the same', async (t) => {
  const claimed = aScreenshot({ status: { phase: 'Running', conditions: buildClaim(waiting, runner, at(1)).conditions ?? [] } })
  t.equal(buildNote(claimed, 'AttemptFailed', 'again', at(60)).conditions?.[0]?.lastTransitionTime, at(1).toISOString())
})

t.test('uploadExpiryOf is a minute after the deadline of the attempt', async (t) => {
  t.equal(deadlineOf(running).getTime(), NOON.getTime() + attemptMilliseconds(undefined))
  t.equal(uploadExpiryOf(running).getTime() - deadlineOf(running).getTime(), 60_000)
})

t.test('deadlineOf is not a time when there is no open attempt', async (t) => {
  t.ok(Number.isNaN(deadlineOf(waiting).getTime()))
  t.notOk(Number.isNaN(deadlineOf(aScreenshot({ status: completedStatus() })).getTime()))
})

t.test('buildReuse completes without an attempt, and keeps the metadata of the page', async (t) => {
  const found = { format: 'png' as const, fileSizeBytes: 3, etag: 'e', size: '3 B', pageTitle: 'A page' }
  const patch = buildReuse(aScreenshot({ spec: { cachedFrom: 'a'.repeat(64) } }), found, at(1), at(2))
  t.match(patch, { phase: 'Completed', completionTime: at(2).toISOString(), result: { ...found, processingMilliseconds: 1_000 } })
  t.match(patch.conditions, [
    { type: 'Succeeded', status: 'True', reason: 'Cached' },
    { type: 'Finished', status: 'True', reason: 'Cached' },
  ])
  t.notOk('attempt' in patch)
})

t.test('buildUnclaim counts how often a Screenshot was returned', async (t) => {
  const unclaim = { reason: 'HandedBack', message: 'drained', counts: false, lost: false } as const
  const shot = aScreenshot({ status: { phase: 'Running', attempt: 1, handedBack: 2 } })
  t.match(buildUnclaim(shot, unclaim, NOON), { phase: 'Pending', attempt: null, handedBack: 3 })
  t.equal(buildUnclaim(aScreenshot({ status: { phase: 'Running', attempt: 1, handedBack: 100 } }), unclaim, NOON).handedBack, 100)
})
