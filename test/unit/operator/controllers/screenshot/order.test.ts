import t from 'tap'
import { CaptureOrder } from '../../../../../crds/src/dispatch/dispatch.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { spanIds } from '../../../../../crds/src/runtime/trace-context.ts'
import { buildOrder, filesOf, toOrderTrace } from '../../../../../operator/src/controllers/screenshot/order.ts'
import { deadlineOf, uploadExpiryOf } from '../../../../../operator/src/controllers/screenshot/status.ts'
import { aScreenshot, at, NOON } from '../../../../support/fakes/builders.ts'

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

t.test('filesOf ends with a dot, so that it is no prefix of other Screenshots’ files', async (t) => {
  t.equal(filesOf(shot), `users/red/${screenshotIdOf(shot.metadata)}.`)
})

t.test('toOrderTrace makes the runner’s spans children of the attempt, even without sampling', async (t) => {
  const annotations = { 'tintype.dev/traceparent': '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' }
  const traced = aScreenshot({ metadata: { annotations }, status: { phase: 'Running', attempt: 2 } })
  const spanId = spanIds.capture(traced.metadata.uid, 2)
  t.strictSame(toOrderTrace(traced), { traceId: '0af7651916cd43dd8448eb211c80319c', spanId, isSampled: false })
  t.equal(toOrderTrace(aScreenshot()), undefined)
})
