import t from 'tap'
import {
  findOpenDeliveries,
  hasOpenDeliveries,
  isHidden,
} from '../../../../../../api-gateway/src/resources/screenshots/store/screenshot-state.ts'
import { newId, screenshotIdOf } from '../../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../../crds/src/identifiers/names.ts'
import type { Screenshot, ScreenshotStatus } from '../../../../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../../../../crds/src/options/catalog.ts'
import { aScreenshot, at, completedStatus } from '../../../../../support/fakes/builders.ts'
import { aScreenshot as aRecord, TestScreenshots } from '../../../fakes.ts'

function aWorld() {
  const screenshots = new TestScreenshots()
  const put = (object: Screenshot) => screenshots.put(object)
  const add = (second: number, accountName: string, status: ScreenshotStatus = { phase: 'Pending' }, options: CaptureOptions = {}) =>
    put(aScreenshot({ name: toObjectName(newId('scr', at(second))), spec: { accountName, options }, status }))
  return { queue: screenshots.queue, put, add }
}

t.test('KubeQueue counts what waits, by account, and what is being captured', async (t) => {
  const { queue, add } = aWorld()
  for (const second of [1, 2]) add(second, 'red')
  const waiting = add(3, 'blue')
  add(4, 'blue', { phase: 'Running' })
  add(5, 'green', completedStatus())
  t.strictSame([queue.of('screenshot').running, queue.accounts().sort()], [1, ['blue', 'red']])
  t.strictSame([queue.waitingOf('red'), queue.waitingOf('blue'), queue.waitingOf('green')], [2, 1, 0])
  t.ok(queue.has(screenshotIdOf(waiting.metadata)))
  t.notOk(queue.has(newId('scr', at(9))))
})

t.test('KubeQueue does not count what cannot run, and gives it no place', async (t) => {
  const { queue, add } = aWorld()
  const runnable = (status: 'True' | 'False'): ScreenshotStatus => ({
    phase: 'Pending',
    conditions: [{ type: 'Runnable', status, reason: 'PoolNotFound', message: 'm', lastTransitionTime: at(0).toISOString() }],
  })
  const stuck = add(1, 'red', runnable('False'))
  add(2, 'red', runnable('True'))
  t.strictSame([queue.waitingOf('red'), queue.countAhead(stuck)], [1, undefined])
})

t.test('KubeQueue measures captures as they end, each once, the newest counting a tenth', async (t) => {
  const { queue, put, add } = aWorld()
  t.equal(queue.of('screenshot').meanCaptureMilliseconds, undefined)
  const end = (seconds: number) => completedStatus({ startTime: at(10).toISOString(), completionTime: at(10 + seconds).toISOString() })
  const shot = add(1, 'red', end(2))
  t.equal(queue.of('screenshot').meanCaptureMilliseconds, 2_000)
  put({ ...shot, metadata: { ...shot.metadata, resourceVersion: '9' } })
  t.equal(queue.of('screenshot').meanCaptureMilliseconds, 2_000)
  add(2, 'red', end(12))
  t.equal(queue.of('screenshot').meanCaptureMilliseconds, 3_000)
  add(3, 'red', { phase: 'Failed', completionTime: at(3).toISOString() })
  t.equal(queue.of('screenshot').meanCaptureMilliseconds, 3_000, 'what was never begun says nothing')
})

t.test('KubeQueue counts and measures videos and screenshots separately', async (t) => {
  const { queue, add } = aWorld()
  const webm: CaptureOptions = { format: 'webm' }
  for (const second of [1, 2, 3]) add(second, 'red', undefined, webm)
  add(4, 'blue', { phase: 'Running' }, webm)
  const video = add(5, 'red', undefined, webm)
  const screenshot = add(6, 'red')
  t.strictSame([queue.countAhead(video), queue.countAhead(screenshot), queue.waitingOf('red')], [3, 0, 5])
  t.strictSame([queue.of('video').running, queue.of('screenshot').running], [1, 0])
  t.strictSame([queue.of('video').waitingOf('red'), queue.of('screenshot').waitingOf('red')], [4, 1])
  t.strictSame([queue.of('video').accounts(), queue.of('screenshot').accounts()], [['red'], ['red']])
  add(7, 'blue', completedStatus({ startTime: at(10).toISOString(), completionTime: at(40).toISOString() }), webm)
  t.strictSame([queue.of('video').meanCaptureMilliseconds, queue.of('screenshot').meanCaptureMilliseconds], [30_000, undefined])
})

t.test('isHidden sees the mark of a deletion, a deletion under way, and a Screenshot that shows its archived record', async (t) => {
  const shot = aRecord({})
  t.equal(isHidden(shot), false)
  const marked = { metadata: { ...shot.metadata, annotations: { 'tintype.dev/delete-requested': 'x' } } }
  t.equal(isHidden(marked), true)
  t.equal(isHidden({ metadata: { ...shot.metadata, deletionTimestamp: 'x' } }), true)
  const restored = { phase: 'Completed', restoredFrom: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd' } as const
  t.equal(isHidden({ ...shot, status: restored }), true)
  t.equal(isHidden({ ...shot, status: { ...restored, attempt: 1 } }), false, 'not of a runner')
})

t.test('findOpenDeliveries names each delivery that awaits another attempt, and hasOpenDeliveries finds one', async (t) => {
  const entry = (state: 'open' | 'ok' | 'failed') => ({ attempts: 1, at: '2026-11-21T10:00:00.000Z', state })
  const ended = { 'screenshot.queued': { b: entry('ok') }, 'screenshot.completed': { b: entry('failed') } }
  const deliveries = {
    'screenshot.queued': { a: entry('open'), b: entry('ok') },
    'screenshot.completed': { a: entry('open'), b: entry('failed'), _request: entry('open') },
  }
  const open = ['a/screenshot.queued', 'a/screenshot.completed', '_request/screenshot.completed']
  for (const [status, names] of [
    [{ deliveries }, open],
    [{ deliveries: ended }, []],
    [{}, []],
  ] as const) {
    t.strictSame(findOpenDeliveries({ status }), names)
    t.equal(hasOpenDeliveries({ status }), names.length > 0)
  }
})
