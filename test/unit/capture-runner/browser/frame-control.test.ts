import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { FrameClock } from '../../../../capture-runner/src/browser/frame-clock.ts'
import { FrameControl, FrameLock } from '../../../../capture-runner/src/browser/frame-control.ts'
import { Lifecycle } from '../../../../capture-runner/src/browser/lifecycle.ts'
import type { Tab } from '../../../../capture-runner/src/browser/tab.ts'
import { FrameHungError } from '../../../../capture-runner/src/runtime/errors.ts'
import { eventually } from '../../../support/eventually.ts'

const { signal } = new AbortController()
const turn = () => new Promise<void>((next) => setImmediate(next))

/** A tab whose frames end when the test says so, and whose clock reads 5 s. */
function open(lock: FrameLock, { isLate = false, hasDamage = true } = {}) {
  const gone = new AbortController()
  const events = new EventEmitter()
  const frames: { frameTimeTicks?: number; end: () => void }[] = []
  const session = {
    on: events.on.bind(events),
    send: async (method: string, parameters: { policy?: string; frameTimeTicks?: number }) => {
      if (method === 'Performance.getMetrics') return { metrics: [{ name: 'Timestamp', value: 5 }] }
      if (parameters.policy === 'advance' && !isLate) setImmediate(() => events.emit('Emulation.virtualTimeBudgetExpired'))
      if (method !== 'HeadlessExperimental.beginFrame') return { virtualTimeTicksBase: 1_000 }
      const { promise, resolve } = Promise.withResolvers<{ hasDamage: boolean }>()
      frames.push({ ...parameters, end: () => resolve({ hasDamage }) })
      return promise
    },
  } as unknown as Tab['session']
  const control = new FrameControl(session, gone.signal, lock, () => {})
  t.teardown(() => gone.abort(new Error('the test is over')))
  return { control, frames, gone, session, events }
}

/** Ends each frame at once. */
function endAll(frames: { end: () => void }[]): void {
  const { push } = frames
  frames.push = (...added) => {
    for (const { end } of added) end()
    return push.apply(frames, added)
  }
}

t.test('FrameControl begins a frame only when no other tab of the browser draws', async (t) => {
  const lock = new FrameLock()
  const [one, other] = [open(lock), open(lock)]
  const first = one.control.begin({}, signal)
  const second = other.control.begin({}, signal)
  await turn()
  t.strictSame([one.frames.length, other.frames.length], [1, 0])
  one.frames[0]?.end()
  t.strictSame(await first, { hasDamage: true })
  await turn()
  other.frames[0]?.end()
  t.strictSame(await second, { hasDamage: true })
})

t.test('FrameControl begins none beside a tab that takes its picture', async (t) => {
  const lock = new FrameLock()
  const [one, other] = [open(lock), open(lock)]
  endAll(one.frames)
  endAll(other.frames)
  await one.control.hold(signal)
  const waiting = other.control.begin({}, signal)
  for (let frame = 0; frame < 3; frame++) await one.control.begin({}, signal)
  t.strictSame([one.frames.length, other.frames.length], [3, 0])
  one.control.release()
  await waiting
  t.equal(other.frames.length, 1)
})

t.test('FrameControl goes on after a tab that ended in a frame, and after one that gave up', async (t) => {
  const lock = new FrameLock()
  const [one, other, third] = [open(lock), open(lock), open(lock)]
  const first = one.control.begin({}, signal)
  const given = new AbortController()
  const second = other.control.begin({}, given.signal)
  const last = third.control.begin({}, signal)
  given.abort(new Error('given up'))
  await t.rejects(second, { message: 'given up' })
  t.equal(third.frames.length, 0)
  one.gone.abort(new Error('crashed'))
  await t.rejects(first, { message: 'crashed' })
  await turn()
  third.frames[0]?.end()
  t.strictSame(await last, { hasDamage: true })
})

t.test('a page was never drawn, because a frame was under way when it replaced the blank page', async (t) => {
  const tab = open(new FrameLock())
  endAll(tab.frames)
  const main = { document: undefined as string | undefined, isNavigating: true }
  tab.control.follow(main)
  tab.control.start()
  await pause(50)
  t.equal(tab.frames.length, 0)
  Object.assign(main, { document: 'page', isNavigating: false })
  await eventually('a frame begins', async () => tab.frames.length > 0)
  await tab.control.stop(signal)
  t.ok(tab.control.hasDrawn)
  main.document = 'other'
  t.notOk(tab.control.hasDrawn)
})

t.test('a frame whose result nobody awaits any more still keeps other tabs from drawing', async (t) => {
  const lock = new FrameLock()
  const [one, other] = [open(lock), open(lock)]
  const given = new AbortController()
  const first = one.control.begin({}, given.signal)
  await turn()
  given.abort(new Error('given up'))
  await t.rejects(first, { message: 'given up' })
  const second = other.control.begin({}, signal)
  await turn()
  t.equal(other.frames.length, 0)
  one.frames[0]?.end()
  await turn()
  other.frames[0]?.end()
  t.ok(await second)
})

const clockOf = async (tab: ReturnType<typeof open>): Promise<FrameClock> => {
  const lifecycle = new Lifecycle(tab.session, 'main')
  const clock = await FrameClock.take({ session: tab.session, lifecycle, foreignFrames: () => [] }, tab.control, () => {}, signal)
  t.teardown(() => {
    lifecycle.dispose()
    clock.close()
  })
  return clock
}

t.test('FrameClock gives each frame the time of the page, and a later one than the frame before', async (t) => {
  const tab = open(new FrameLock())
  endAll(tab.frames)
  const clock = await clockOf(tab)
  t.strictSame(await clock.advance(66, true, signal), { milliseconds: 66, hasDamage: true })
  await clock.whileDrawing(Promise.resolve('drawn'), signal)
  await clock.advance(100, false, signal)
  t.strictSame(
    tab.frames.map(({ frameTimeTicks }) => frameTimeTicks),
    [1_066, 1_066.05, 1_166],
  )
})

t.test('FrameClock reads the page’s clock after an advance that did not end', async (t) => {
  const tab = open(new FrameLock(), { isLate: true })
  endAll(tab.frames)
  const clock = await clockOf(tab)
  t.strictSame(await clock.advance(66, true, signal), { milliseconds: 4_000, hasDamage: true })
  t.equal(tab.frames[0]?.frameTimeTicks, 5_000)
  tab.events.emit('Emulation.virtualTimeBudgetExpired')
})

t.test('a picture of a page that the browser never drew took until the deadline', async (t) => {
  const tab = open(new FrameLock(), { hasDamage: false })
  endAll(tab.frames)
  const clock = await clockOf(tab)
  const { promise: drawing } = Promise.withResolvers<string>()
  await t.rejects(clock.whileDrawing(drawing, signal), new FrameHungError())
  t.ok(tab.control.isHung)
})
