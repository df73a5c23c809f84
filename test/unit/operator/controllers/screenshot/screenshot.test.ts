import t from 'tap'
import { CaptureOrder } from '../../../../../crds/src/dispatch/dispatch.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { spanIds } from '../../../../../crds/src/runtime/trace-context.ts'
import { buildOrder, toOrderTrace } from '../../../../../operator/src/controllers/screenshot/dispatch.ts'
import { toLogLine, toSpans } from '../../../../../operator/src/controllers/screenshot/finished.ts'
import {
  buildClaim,
  buildFailure,
  buildNote,
  buildReuse,
  buildUnclaim,
  deadlineOf,
  type Unclaim,
  uploadExpiryOf,
} from '../../../../../operator/src/controllers/screenshot/status.ts'
import { aScreenshot, at, completedStatus, failedStatus, NOON } from '../../../../support/fakes/builders.ts'

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
  t.match(patches.at(-1)?.result, { processingMilliseconds: 1_000 }, 'the time of a reuse')
})

t.test('buildUnclaim queues a Screenshot again, and counts attempts that began, lost pods and returns', async (t) => {
  const unclaimed = (status: ScreenshotStatus, unclaim: Partial<Unclaim>) => {
    const shot = aScreenshot({ status: { phase: 'Running', runner, startTime: NOON.toISOString(), ...status } })
    const patch = buildUnclaim(shot, { reason: 'RunnerBusy', message: 'busy', counts: false, lost: false, ...unclaim }, at(9))
    t.hasStrict(patch, { phase: 'Pending', runner: null, startTime: null })
    t.ok(ScreenshotStatus.safeParse(withoutNulls(patch)).success)
    return patch
  }
  const lost = { attempt: 2, lostRunners: 1 }
  t.match(unclaimed(lost, { reason: 'RunnerLost', counts: true, lost: true }), { attempt: 2, lostRunners: 2 })
  t.match(unclaimed(lost, {}), { attempt: 1, lostRunners: undefined, handedBack: undefined })
  t.equal(unclaimed({ attempt: 1 }, {}).attempt, null)
  const returned = [2, 100].map((handedBack) => unclaimed({ attempt: 1, handedBack }, { reason: 'HandedBack' }).handedBack)
  t.strictSame(returned, [3, 100])
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

t.test('deadlineOf is not a time when there is no open attempt', async (t) => {
  t.ok(Number.isNaN(deadlineOf(waiting).getTime()))
  t.notOk(Number.isNaN(deadlineOf(aScreenshot({ status: completedStatus() })).getTime()))
})

const status = { phase: 'Running', runner: { pod: 'default-1', uid: 'pod-uid' }, attempt: 2, startTime: NOON.toISOString() } as const
const shot = aScreenshot({ spec: { accountName: 'red', options: { format: 'webp' } }, status })
const asked: object[] = []
const storage = {
  presignGet: (read: object) => {
    asked.push(read)
    return { url: 'http://minio/get', headers: { 'if-match': '"e"' } }
  },
  presignPut: (upload: object) => {
    asked.push(upload)
    return { url: 'http://minio/put', headers: { 'if-none-match': '*' } }
  },
}

t.test('buildOrder contains the file, the attempt and the deadline', async (t) => {
  const opened = { options: { format: 'webp', styles: 'from the bucket' } as const, privateOptions: { authorization: 'Bearer x' } }
  const order = buildOrder(shot, storage, { ...opened, maxFileBytes: 1_000, now: at(1) })
  t.ok(CaptureOrder.safeParse(order).success)
  t.match(order, {
    uid: shot.metadata.uid,
    accountName: 'red',
    attempt: 2,
    url: 'https://example.com/',
    ...opened,
    upload: { url: 'http://minio/put', maxBytes: 1_000 },
    deadline: deadlineOf(shot).getTime(),
  })
  const key = `users/red/${screenshotIdOf(shot.metadata)}.webp`
  t.match(asked, [{ key, contentType: 'image/webp', expiresAt: uploadExpiryOf(shot) }])
})

t.test('buildOrder contains the batch of a Screenshot that has one', async (t) => {
  const parts = { options: undefined, maxFileBytes: 1_000, now: at(1) }
  const ofBatch = buildOrder({ ...shot, spec: { ...shot.spec, batchId: 'batch_1' } }, storage, parts)
  t.equal(CaptureOrder.parse(ofBatch).batchId, 'batch_1')
  t.notOk('batchId' in buildOrder(shot, storage, parts))
})

t.test('buildOrder contains the hosts that the key of the Screenshot is limited to', async (t) => {
  const parts = { options: undefined, maxFileBytes: 1_000, now: at(1) }
  const capturePolicy = { keyId: 'key_1', allowedHosts: ['example.com'], allowedRequestHosts: [] }
  const limited = buildOrder({ ...shot, spec: { ...shot.spec, capturePolicy } }, storage, parts)
  t.strictSame(CaptureOrder.parse(limited).capturePolicy, capturePolicy)
  t.notOk('capturePolicy' in buildOrder(shot, storage, parts))
})

t.test('buildOrder signs a read of the picture to compare with', async (t) => {
  asked.length = 0
  const ignored = [{ selector: '#clock', boxes: [{ x: 1, y: 2, width: 3, height: 4 }] }]
  const baseline = { key: 'users/red/scr_1.png', etag: 'e', ignored }
  const order = buildOrder(shot, storage, { maxFileBytes: 1_000, now: at(1), baseline })
  t.strictSame(CaptureOrder.parse(order).baseline, { url: 'http://minio/get', headers: { 'if-match': '"e"' }, maxBytes: 1_000, ignored })
  t.match(asked, [{}, { key: 'users/red/scr_1.png', etag: 'e', expiresAt: uploadExpiryOf(shot) }].slice(0, 2))
  t.notOk('baseline' in buildOrder(shot, storage, { maxFileBytes: 1_000, now: at(1) }))
})

t.test(
  'the first run of a schedule waited less than those that are compared with it, and learned nothing about a page that gains content',
  async (t) => {
    const parts = { options: undefined, maxFileBytes: 1_000, now: at(1) }
    const scheduleRef = { name: 'home', uid: 'u', time: NOON.toISOString() }
    const ofSchedule = (more: object) => ({ ...shot, spec: { ...shot.spec, scheduleRef: { ...scheduleRef, ...more } } })
    const order = buildOrder(ofSchedule({ wasFit: true }), storage, parts)
    t.equal(CaptureOrder.parse(order).isWatched, true)
    t.equal(order.deadline, deadlineOf(shot).getTime() + 7_000, 'with time for it')
    t.notOk('isWatched' in buildOrder(ofSchedule({}), storage, parts), 'of a schedule that compares nothing')
  },
)

t.test('toOrderTrace makes the runner’s spans children of the attempt, even without sampling', async (t) => {
  const annotations = { 'tintype.dev/traceparent': '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' }
  const traced = aScreenshot({ metadata: { annotations }, status: { phase: 'Running', attempt: 2 } })
  const spanId = spanIds.capture(traced.metadata.uid, 2)
  t.strictSame(toOrderTrace(traced), { traceId: '0af7651916cd43dd8448eb211c80319c', spanId, isSampled: false })
  t.equal(toOrderTrace(aScreenshot()), undefined)
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const traced = (flags = '01') => ({ annotations: { 'tintype.dev/traceparent': `00-${TRACE}-${SPAN}-${flags}` } })

t.test('toSpans covers a capture from its creation to its end, as a child of its request', async (t) => {
  const status = completedStatus()
  const shot = aScreenshot({ metadata: traced(), status: { ...status, result: { ...status.result, timings: { navigate: 300 } } } })
  const { uid } = shot.metadata
  t.match(toSpans(shot), [
    {
      traceId: TRACE,
      spanId: spanIds.screenshot(uid),
      parentSpanId: SPAN,
      startMilliseconds: at(0).getTime(),
      endMilliseconds: at(2).getTime(),
      error: undefined,
    },
    {
      traceId: TRACE,
      spanId: spanIds.capture(uid, 1),
      parentSpanId: spanIds.screenshot(uid),
      startMilliseconds: at(1).getTime(),
      attributes: { 'tintype.step.navigate.milliseconds': 300, 'k8s.pod.name': 'default-1' },
    },
  ])
})

t.test('toSpans contains the error of a failed capture', async (t) => {
  const spans = toSpans(aScreenshot({ metadata: traced(), status: failedStatus() }))
  t.strictSame(
    spans.map(({ error }) => error),
    Array.from({ length: 2 }, () => 'DNS_FAILED: example.com does not resolve'),
  )
})

t.test('toSpans is empty when the trace is not sampled', async (t) => {
  t.strictSame(toSpans(aScreenshot({ status: completedStatus() })), [])
  t.strictSame(toSpans(aScreenshot({ metadata: traced('00'), status: completedStatus() })), [])
})

t.test('toLogLine contains nothing about the page', async (t) => {
  const line = toLogLine(aScreenshot({ metadata: traced(), spec: { url: 'https://example.com/?secret' }, status: completedStatus() }))
  t.match(line, {
    key: /^default\/scr-/,
    accountId: 'default',
    phase: 'Completed',
    attempt: 1,
    runnerPod: 'default-1',
    format: 'png',
    waitMilliseconds: 1_000,
    durationMilliseconds: 1_000,
    traceId: TRACE,
  })
  t.notMatch(JSON.stringify(line), /secret|example/)
})
