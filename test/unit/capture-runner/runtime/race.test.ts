import t from 'tap'
import { abortable, awaitResponse, bounded, pause } from '../../../../capture-runner/src/runtime/race.ts'
import { stopClock } from '../../../support/fakes/stop-clock.ts'

const never = new Promise<never>(() => {})

t.test('abortable returns the promise’s result if it comes first', async (t) => {
  t.equal(await abortable(Promise.resolve(1), new AbortController().signal), 1)
  await t.rejects(abortable(Promise.reject(new Error('own')), new AbortController().signal), { message: 'own' })
})

t.test('abortable throws the reason of a signal that aborts, before or during the wait', async (t) => {
  const reason = new Error('over')
  await t.rejects(abortable(never, AbortSignal.abort(reason)), reason)
  const controller = new AbortController()
  const waiting = abortable(never, controller.signal)
  controller.abort(reason)
  await t.rejects(waiting, reason)
})

t.test('abortable ignores a promise that rejects after the abort', async (t) => {
  const { promise, reject } = Promise.withResolvers<never>()
  await t.rejects(abortable(promise, AbortSignal.abort(new Error('over'))), { message: 'over' })
  reject(new Error('unheard'))
  await new Promise((resolve) => setImmediate(resolve))
  t.pass('no unhandled rejection ended the process')
})

t.test('bounded aborts with its parent, or by itself, or not at all once disposed', async (t) => {
  const clock = stopClock(t)
  const parent = new AbortController()
  const own = bounded(parent.signal, 100, () => new Error('late'))
  const other = bounded(parent.signal, 1_000, () => new Error('later'))
  const disposed = bounded(new AbortController().signal, 100, () => new Error('never'))
  disposed[Symbol.dispose]()
  clock.tick(100)
  t.match([own.signal.reason, other.signal.aborted, disposed.signal.aborted], [{ message: 'late' }, false, false])
  parent.abort(new Error('parent'))
  t.match(other.signal.reason, { message: 'parent' })
  other[Symbol.dispose]()
})

t.test('awaitResponse fails with TIMEOUT for a page that does not respond', async (t) => {
  const clock = stopClock(t)
  const waiting = awaitResponse(never, new AbortController().signal)
  clock.tick(30_000)
  await t.rejects(waiting, { code: 'TIMEOUT' })
})

t.test('pause ends by itself or with the signal’s reason', async (t) => {
  await pause(1, new AbortController().signal)
  const reason = new Error('over')
  await t.rejects(pause(60_000, AbortSignal.abort(reason)), reason)
})
