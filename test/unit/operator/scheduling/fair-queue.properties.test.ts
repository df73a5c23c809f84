import fc from 'fast-check'
import t from 'tap'
import { DEFAULT_PLANS } from '../../../../crds/src/usage/plans.ts'
import { FairQueue } from '../../../../operator/src/scheduling/fair-queue.ts'
import { percentile } from '../../../bench/report/statistics.ts'

// Invariants of the queue for any sequence of operations. The bounds are those of start-time fair queueing (Goyal, Vin and Cheng, 1996).

const ACCOUNTS = ['a', 'b', 'c', 'd'] as const
type Account = (typeof ACCOUNTS)[number]
const account = fc.constantFrom(...ACCOUNTS)
const weights = fc.record({
  a: fc.integer({ min: 1, max: 100 }),
  b: fc.integer({ min: 1, max: 100 }),
  c: fc.integer({ min: 1, max: 100 }),
  d: fc.integer({ min: 1, max: 100 }),
})
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), account, order: fc.nat(1_000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('take' as const), without: fc.option(account, { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), place: fc.nat() }) },
)

t.test('FairQueue loses nothing, returns nothing twice, and keeps the order within an account', async (t) => {
  fc.assert(
    fc.property(weights, fc.array(step, { maxLength: 200 }), (weight, steps) => {
      const queue = new FairQueue((name) => weight[name as Account])
      const waiting = new Map<string, { account: Account; order: number }>()
      for (const [n, each] of steps.entries()) {
        if (each.do === 'add') {
          queue.add({ key: String(n), account: each.account, order: each.order })
          waiting.set(String(n), each)
        } else if (each.do === 'remove') {
          const key = [...waiting.keys()][each.place % Math.max(1, waiting.size)] ?? 'none'
          queue.remove(key)
          waiting.delete(key)
        } else {
          const taken = queue.take((name) => name !== each.without)
          const allowed = [...waiting.values()].filter((item) => item.account !== each.without)
          const own = allowed.filter((item) => item.account === taken?.account)
          if ((taken === undefined) !== (allowed.length === 0)) return false
          if (taken && taken.order !== Math.min(...own.map(({ order }) => order))) return false
          if (waiting.delete(taken?.key ?? '') !== (taken !== undefined)) return false
        }
      }
      const countOf = (name: Account) => [...waiting.values()].filter((item) => item.account === name).length
      return queue.size === waiting.size && ACCOUNTS.every((name) => queue.countOf(name) === countOf(name))
    }),
    { numRuns: 50 },
  )
  t.pass()
})

t.test('FairQueue keeps two waiting accounts within one weighted capture of each other', async (t) => {
  fc.assert(
    fc.property(weights, fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 300 }), (weight, head, takes) => {
      const queue = new FairQueue((name) => weight[name as Account])
      const fill = (name: Account) => {
        for (let order = 0; order < 400; order++) queue.add({ key: `${name}${order}`, account: name, order })
      }
      // One account was alone before: it has no debt and no credit.
      fill('a')
      for (let n = 0; n < head; n++) queue.take()
      for (const name of ACCOUNTS.slice(1)) fill(name)
      const served = { a: 0, b: 0, c: 0, d: 0 }
      for (let n = 0; n < takes; n++) served[queue.take()?.account as Account]++
      return ACCOUNTS.every((one) =>
        ACCOUNTS.every((other) => {
          const apart = Math.abs(served[one] / weight[one] - served[other] / weight[other])
          return apart <= 1 / weight[one] + 1 / weight[other] + 1e-9
        }),
      )
    }),
  )
  t.pass()
})

t.test('FairQueue serves a new account after at most one capture of each other account', async (t) => {
  fc.assert(
    fc.property(weights, fc.nat(200), (weight, head) => {
      const queue = new FairQueue((name) => weight[name as Account])
      for (let order = 0; order < 200; order++)
        for (const name of ['a', 'b', 'c'] as const) queue.add({ key: `${name}${order}`, account: name, order })
      for (let n = 0; n < head; n++) queue.take()
      queue.add({ key: 'single', account: 'd', order: 1_000 })
      const turns = { a: 0, b: 0, c: 0, d: 0 }
      for (let taken = queue.take(); taken && taken.key !== 'single'; taken = queue.take()) turns[taken.account as Account]++
      return Math.max(turns.a, turns.b, turns.c) <= 1
    }),
  )
  t.pass()
})

t.test('FairQueue serves accounts of all plans by their weights, within a tenth, over 500 captures', async (t) => {
  const plans = Object.entries(DEFAULT_PLANS)
  const queue = new FairQueue((name) => DEFAULT_PLANS[name as keyof typeof DEFAULT_PLANS].weight)
  for (let order = 0; order < 500; order++) for (const [plan] of plans) queue.add({ key: `${plan}${order}`, account: plan, order })
  const served = new Map<string, number>()
  for (let n = 0; n < 500; n++) {
    const { account: plan = '' } = queue.take() ?? {}
    served.set(plan, (served.get(plan) ?? 0) + 1)
  }
  const sum = plans.reduce((total, [, { weight }]) => total + weight, 0)
  const counts = plans.map(([plan, { weight }]) => ({ plan, served: served.get(plan) ?? 0, due: (500 * weight) / sum }))
  t.strictSame(
    counts.filter(({ served, due }) => Math.abs(served - due) > due / 10),
    [],
  )
})

/**
 * Simulates runners with the given capture times, and single screenshots of three accounts behind 2,000 of another. Returns their waits.
 */
function simulate(runners: number, captureTimes: () => number, thinkTimes: () => number): number[] {
  const queue = new FairQueue()
  for (let n = 0; n < 2_000; n++) queue.add({ key: `flood${n}`, account: 'flood', order: n })
  const events: { at: number; act: (now: number) => void }[] = []
  const waits: number[] = []
  const since = new Map<string, { at: number; account: string }>()
  let idle = runners
  let count = 0
  const schedule = (at: number, act: (now: number) => void) => {
    const place = events.findIndex((event) => event.at > at)
    events.splice(place < 0 ? events.length : place, 0, { at, act })
  }
  const dispatch = (now: number) => {
    for (let item = idle > 0 ? queue.take() : undefined; item; item = --idle > 0 ? queue.take() : undefined) {
      const single = since.get(item.key)
      if (single) waits.push(now - single.at)
      schedule(now + captureTimes(), (end) => {
        idle++
        if (single) ask(single.account, end + thinkTimes())
        dispatch(end)
      })
    }
  }
  const ask = (name: string, at: number) =>
    schedule(at, (now) => {
      const key = `single${++count}`
      since.set(key, { at: now, account: name })
      queue.add({ key, account: name, order: 10_000 + count })
      dispatch(now)
    })
  for (const name of ['x', 'y', 'z']) ask(name, thinkTimes())
  dispatch(0)
  for (let event = events.shift(); event && waits.length < 300; event = events.shift()) event.act(event.at)
  return waits
}

t.test('FairQueue serves single screenshots behind 2,000 of another account within two capture times', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 10 }), fc.integer(), (runners, seed) => {
      let state = seed | 1
      // xorshift32: reproducible random numbers.
      const random = () => {
        state ^= state << 13
        state ^= state >>> 17
        state ^= state << 5
        return (state >>> 0) / 2 ** 32
      }
      const waits = simulate(
        runners,
        () => 0.5 + random(),
        () => 5 * random(),
      )
      return waits.length >= 100 && percentile(waits, 95) <= 2
    }),
    { numRuns: 30 },
  )
  t.pass()
})
