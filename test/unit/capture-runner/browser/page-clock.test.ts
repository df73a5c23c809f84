import { EventEmitter } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { Lifecycle } from '../../../../capture-runner/src/browser/lifecycle.ts'
import { PageClock } from '../../../../capture-runner/src/browser/page-clock.ts'
import type { Tab } from '../../../../capture-runner/src/browser/tab.ts'

const signal = new AbortController().signal
const soon = () => performance.now() + 10_000

/** A session whose page time advances only under these policies. */
function open(policies: readonly string[], frames: readonly Tab['session'][] = []) {
  const events = new EventEmitter()
  const granted: { policy: string; budget: number }[] = []
  const session = {
    on: events.on.bind(events),
    send: async (_: string, grant: { policy: string; budget: number }) => {
      granted.push({ policy: grant.policy, budget: grant.budget })
      if (policies.includes(grant.policy)) setImmediate(() => events.emit('Emulation.virtualTimeBudgetExpired'))
    },
  } as unknown as Tab['session']
  const lifecycle = new Lifecycle(session, 'main')
  t.teardown(() => lifecycle.dispose())
  return { clock: new PageClock({ session, lifecycle, foreignFrames: async () => [...frames] }), granted, events }
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

t.test('PageClock catches up with real time, because frames would be late by the difference', async (t) => {
  const { clock, granted } = open(['advance', 'pauseIfNetworkFetchesPending'])
  await clock.advance(1, () => false, soon(), signal)
  await setTimeout(30)
  t.ok(clock.lead < 0)
  await clock.advance(200, () => false, soon(), signal)
  t.ok((granted.at(-1)?.budget ?? 0) > 200, `${granted.at(-1)?.budget}`)
  t.ok(clock.lead > 0)
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
