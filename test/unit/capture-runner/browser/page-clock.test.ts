import { EventEmitter } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { Lifecycle } from '../../../../capture-runner/src/browser/lifecycle.ts'
import { PageClock } from '../../../../capture-runner/src/browser/page-clock.ts'
import type { Tab } from '../../../../capture-runner/src/browser/tab.ts'

const signal = new AbortController().signal
const soon = () => performance.now() + 10_000

/** Milliseconds on the clock that the browser's timestamps count. */
const monotonic = () => Number(process.hrtime.bigint()) / 1e6

/** A session whose page time advances only under these policies. `ahead`: what its metrics say, relative to real time. */
function open(policies: readonly string[], frames: readonly Tab['session'][] = []) {
  const events = new EventEmitter()
  const granted: { policy: string; budget: number }[] = []
  const page = { ahead: 0 }
  const session = {
    on: events.on.bind(events),
    send: async (method: string, grant: { policy: string; budget: number }) => {
      if (method === 'Performance.getMetrics') return { metrics: [{ name: 'Timestamp', value: (monotonic() + page.ahead) / 1_000 }] }
      if (method !== 'Emulation.setVirtualTimePolicy') return {}
      granted.push({ policy: grant.policy, budget: grant.budget })
      if (policies.includes(grant.policy)) setImmediate(() => events.emit('Emulation.virtualTimeBudgetExpired'))
      return {}
    },
  } as unknown as Tab['session']
  const lifecycle = new Lifecycle(session, 'main')
  const clock = new PageClock({ session, lifecycle, foreignFrames: async () => [...frames] })
  t.teardown(() => {
    lifecycle.dispose()
    clock.close()
  })
  return { clock, granted, events, page }
}

t.test('PageClock stops the clock of a page for its requests', async (t) => {
  const { clock, granted } = open(['pauseIfNetworkFetchesPending'])
  await clock.advance(500, () => true, soon(), signal)
  t.strictSame(granted, [{ policy: 'pauseIfNetworkFetchesPending', budget: 500 }])
})

t.test('PageClock continues when no pending request counts', async (t) => {
  const { clock, granted } = open(['advance'])
  await clock.advance(500, () => false, soon(), signal)
  t.strictSame(
    granted.map(({ policy }) => policy),
    ['pauseIfNetworkFetchesPending', 'advance'],
  )
})

t.test('PageClock does not stop for a stream that stays open', async (t) => {
  const { clock, granted, events } = open(['advance'])
  events.emit('Network.requestWillBeSent', { requestId: '1', loaderId: '1', type: 'EventSource', request: { url: '' } })
  await clock.advance(500, () => false, soon(), signal)
  t.strictSame(granted, [{ policy: 'advance', budget: 500 }])
})

t.test('PageClock gives up after its time limit, and ends with its signal', async (t) => {
  const { clock } = open([])
  await clock.advance(500, () => true, performance.now(), signal)
  await t.rejects(
    clock.advance(500, () => true, soon(), AbortSignal.abort(new Error('over'))),
    { message: 'over' },
  )
})

t.test('PageClock never grants arrears, because a page that is slower than its timers would fall behind ever further', async (t) => {
  const { clock, granted } = open(['advance', 'pauseIfNetworkFetchesPending'])
  await clock.advance(1, () => false, soon(), signal)
  await setTimeout(30)
  t.ok(clock.lead < 0)
  t.equal(await clock.advance(200, () => false, soon(), signal), 200)
  t.equal(granted.at(-1)?.budget, 200)
})

t.test('PageClock stops the scripts of a page that is behind, and then catches up', async (t) => {
  const { clock, granted } = open(['advance', 'pauseIfNetworkFetchesPending'])
  await clock.advance(1, () => false, soon(), signal)
  await setTimeout(30)
  const stopped: number[] = []
  const stopScripts = async () => void stopped.push(granted.length)
  t.equal(await clock.catchUp(stopScripts, signal), true)
  t.strictSame(stopped, [1], 'before the grant')
  t.ok((granted.at(-1)?.budget ?? 0) > 500, `${granted.at(-1)?.budget}`)
  t.equal(await clock.catchUp(stopScripts, signal), false)
  t.equal(stopped.length, 1)
})

t.test('PageClock reads the page’s clock after an advance that did not end, because its end may come later', async (t) => {
  const { clock, granted, events, page } = open([])
  page.ahead = 120
  const passed = await clock.advance(500, () => false, performance.now(), signal)
  t.ok(passed > 50 && passed < 500, `${passed}`)
  page.ahead = 2_000
  const next = clock.advance(300, () => false, soon(), signal)
  await setTimeout(10)
  events.emit('Emulation.virtualTimeBudgetExpired')
  t.ok((await next) > 300)
  page.ahead = 0
  const behind = clock.advance(300, () => false, soon(), signal)
  await setTimeout(10)
  const before = granted.length
  events.emit('Emulation.virtualTimeBudgetExpired')
  await setTimeout(30)
  t.equal(granted.length, before + 1, 'the rest is granted again')
  clock.close()
  events.emit('Emulation.virtualTimeBudgetExpired')
  page.ahead = 3_000
  events.emit('Emulation.virtualTimeBudgetExpired')
  await behind
})

t.test('PageClock stays ahead of real time while the browser draws', async (t) => {
  const { clock, granted } = open(['advance', 'pauseIfNetworkFetchesPending'])
  await clock.advance(1, () => false, soon(), signal)
  t.equal(await clock.whileDrawing(setTimeout(120, 'picture'), signal), 'picture')
  t.ok(clock.lead > 0)
  t.ok(granted.length > 1)
  const before = granted.length
  await clock.advance(60_000, () => false, soon(), signal)
  await clock.whileDrawing(setTimeout(120), signal)
  t.equal(granted.length, before + 1, 'a page that is far ahead is not advanced')
  await t.rejects(clock.whileDrawing(Promise.reject(new Error('no picture')), signal), { message: 'no picture' })
})

t.test('PageClock advances the clocks of out-of-process frames without waiting for them', async (t) => {
  const sent: unknown[] = []
  const frame = { send: (_: string, grant: { budget: number }) => sent.push(grant.budget) && new Promise(() => {}), on: () => {} }
  const { clock } = open(['pauseIfNetworkFetchesPending'], [frame as unknown as Tab['session']])
  await clock.advance(500, () => true, soon(), signal)
  t.strictSame(sent, [500])
})
