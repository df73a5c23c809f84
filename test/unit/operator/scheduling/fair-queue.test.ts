import fc from 'fast-check'
import t from 'tap'
import { FairQueue, MAX_DEBT } from '../../../../operator/src/scheduling/fair-queue.ts'

const wait = (account: string, order: number) => ({ key: `${account}${order}`, account, order })

/** A queue in which these accounts wait with as many Screenshots each. */
function aQueue(accounts: string[], count: number, weightOf?: (account: string) => number): FairQueue {
  const queue = new FairQueue(weightOf)
  for (let order = 0; order < count; order++) for (const account of accounts) queue.add(wait(account, order))
  return queue
}

function drain(queue: FairQueue, count = queue.size): string[] {
  return Array.from({ length: count }, () => queue.take()?.key ?? 'none')
}

t.test('FairQueue gives no account an advantage for emptying its queue after each screenshot', async (t) => {
  const queue = aQueue(['a'], 20)
  const served: (string | undefined)[] = []
  for (let order = 0; order < 10; order++) {
    if (queue.countOf('b') === 0) queue.add(wait('b', order))
    served.push(queue.take()?.account)
  }
  t.equal(served.filter((account) => account === 'b').length, 5)
})

t.test('FairQueue lets accounts with queues keep the open browser for a quantum of four captures', async (t) => {
  const queue = aQueue(['a', 'b', 'c'], 8)
  let open = ''
  let served = ''
  for (let item = queue.take(); item; item = queue.take(undefined, (account) => account === open)) {
    open = item.account
    served += open
  }
  t.match(served, /^(aaaa|bbbb|cccc){6}$/)
  t.equal(new Set(served.match(/.{4}/g)?.slice(0, 3)).size, 3, 'each is served once before any is served twice')
})

for (const runners of [1, 3, 4, 5])
  t.test(`FairQueue keeps each 500 captures by ${runners} runners within a tenth of the weights, quanta included`, async (t) => {
    const weights: Record<string, number> = { a: 1, b: 2, c: 4, d: 8 }
    const queue = aQueue(Object.keys(weights), 2_000, (account) => weights[account] ?? 0)
    const open: (string | undefined)[] = Array.from({ length: runners })
    const served = Array.from({ length: 2_000 }, (_, n) => {
      const account = queue.take(undefined, (other) => other === open[n % runners])?.account ?? ''
      open[n % runners] = account
      return account
    })
    for (const [account, weight] of Object.entries(weights)) {
      const due = (500 * weight) / 15
      const counts = Array.from({ length: 1_500 }, (_, from) => served.slice(from, from + 500).filter((other) => other === account).length)
      const furthest = Math.max(...counts.map((count) => Math.abs(count - due)))
      t.ok(furthest <= due / 10 + 1e-9, `${account}: off by ${furthest} of ${due}`)
    }
  })

t.test('FairQueue does not let a single Screenshot wait for a quantum to end', async (t) => {
  const queue = aQueue(['a', 'b'], 20)
  const isWarm = (account: string) => account === 'a'
  t.equal(queue.take(undefined, isWarm)?.account, 'a')
  queue.add(wait('c', 99))
  const next = [queue.take(undefined, isWarm)?.account, queue.take(undefined, isWarm)?.account]
  t.ok(next.includes('c'), String(next))
})

t.test('FairQueue stores a key once', async (t) => {
  const queue = new FairQueue()
  for (let n = 0; n < 2; n++) queue.add(wait('a', 1))
  t.equal(queue.size, 1)
  t.strictSame(drain(queue), ['a1'])
})

t.test('FairQueue removes the right one of several with the same time', async (t) => {
  const queue = new FairQueue()
  for (const key of ['x', 'y', 'z']) queue.add({ key, account: 'a', order: 7 })
  queue.remove('y')
  t.strictSame(drain(queue), ['x', 'z'], 'in the order of arrival')
})

t.test('FairQueue counts a long video like several short ones', async (t) => {
  const queue = new FairQueue()
  for (let order = 0; order < 3; order++) queue.add({ ...wait('long', order), units: 12 })
  for (let order = 0; order < 20; order++) queue.add(wait('short', order))
  const keys = drain(queue)
  const before = (key: string) => keys.slice(0, keys.indexOf(key)).filter((other) => other.startsWith('short')).length
  t.ok(before('long1') >= 11 && before('long1') <= 13, String(before('long1')))
  t.equal(keys.length, 23)
})

t.test('FairQueue serves an account less often whose captures use their runners for long', async (t) => {
  const queue = aQueue(['slow', 'fast'], 40)
  let served = ''
  for (let taken = 0; taken < 20; taken++) {
    const { account = '' } = queue.take() ?? {}
    served += account[0]
    // Each of its captures takes four times as long.
    if (account === 'slow') queue.charge(account, 3)
  }
  t.equal(served.replaceAll('f', '').length, 4, served)
})

t.test('FairQueue charges an account that has no more captures in the queue, too', async (t) => {
  const queue = new FairQueue()
  queue.add(wait('slow', 0))
  queue.take()
  queue.charge('slow', 3)
  for (let order = 1; order < 5; order++) for (const account of ['slow', 'fast']) queue.add(wait(account, order))
  t.strictSame(drain(queue, 3), ['fast1', 'fast2', 'fast3'])
})

t.test('FairQueue forgives an account what is over its largest debt', async (t) => {
  const queue = new FairQueue()
  queue.charge('slow', 10 * MAX_DEBT)
  for (let order = 0; order < 2 * MAX_DEBT; order++) for (const account of ['slow', 'fast']) queue.add(wait(account, order))
  const keys = drain(queue)
  t.equal(
    keys.findIndex((key) => key.startsWith('slow')),
    MAX_DEBT,
  )
})

// Invariants of the queue for any sequence of operations. The bounds are those of start-time fair queueing (Goyal, Vin and Cheng, 1996).

const ACCOUNTS = ['a', 'b', 'c', 'd'] as const
type Account = (typeof ACCOUNTS)[number]
const account = fc.constantFrom(...ACCOUNTS)
const weight = fc.integer({ min: 1, max: 100 })
const weights = fc.record({ a: weight, b: weight, c: weight, d: weight })
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
      // One account was alone before: it has no debt and no credit.
      const queue = aQueue(['a'], 400, (name) => weight[name as Account])
      drain(queue, head)
      for (let order = 0; order < 400; order++) for (const name of ACCOUNTS.slice(1)) queue.add(wait(name, order))
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
      const queue = aQueue(['a', 'b', 'c'], 200, (name) => weight[name as Account])
      drain(queue, head)
      queue.add({ key: 'single', account: 'd', order: 1_000 })
      const turns = { a: 0, b: 0, c: 0, d: 0 }
      for (let taken = queue.take(); taken && taken.key !== 'single'; taken = queue.take()) turns[taken.account as Account]++
      return Math.max(turns.a, turns.b, turns.c) <= 1
    }),
  )
  t.pass()
})
