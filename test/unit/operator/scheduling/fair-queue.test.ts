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

t.test('FairQueue serves one account in the order of creation, not of arrival', async (t) => {
  const queue = new FairQueue()
  for (const order of [3, 1, 2]) queue.add(wait('a', order))
  t.strictSame(drain(queue), ['a1', 'a2', 'a3'])
  t.equal(queue.size, 0)
})

t.test('FairQueue delays a single screenshot by one capture when another account has a batch', async (t) => {
  const queue = aQueue(['a'], 100)
  drain(queue, 10)
  queue.add(wait('b', 50))
  const next = [queue.take()?.key, queue.take()?.key]
  t.ok(next.includes('b50'), String(next))
})

t.test('FairQueue alternates between accounts that both have work', async (t) => {
  const accounts = drain(aQueue(['a', 'b'], 3)).map((key) => key[0])
  for (const half of [accounts.slice(0, 2), accounts.slice(2, 4), accounts.slice(4)]) t.strictSame(half.toSorted(), ['a', 'b'])
})

t.test('FairQueue gives no credit for idle time', async (t) => {
  const queue = aQueue(['a'], 20)
  drain(queue, 10)
  for (let order = 0; order < 20; order++) queue.add(wait('b', order))
  const accounts = drain(queue, 6).map((key) => key[0])
  t.strictSame(accounts, ['b', 'b', 'a', 'b', 'a', 'b'], 'one ahead, then alternating: no credit for the ten that the other had')
})

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

t.test('FairQueue gives an account with twice the weight twice the captures', async (t) => {
  const queue = aQueue(['a', 'b'], 30, (account) => (account === 'a' ? 2 : 1))
  let open = 'a'
  let served = ''
  for (let count = 0; count < 30; count++) {
    open = queue.take(undefined, (account) => account === open)?.account ?? ''
    served += open
  }
  t.ok(Math.abs(served.split('a').length - 1 - 20) <= 4, served)
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

t.test('FairQueue removes a Screenshot from any position', async (t) => {
  const queue = new FairQueue()
  for (const order of [1, 2, 3]) queue.add(wait('a', order))
  queue.remove('a2')
  queue.remove('unknown')
  t.notOk(queue.has('a2'))
  t.strictSame(drain(queue), ['a1', 'a3'])
  queue.add(wait('b', 1))
  queue.remove('b1')
  t.strictSame(queue.accounts(), [])
})

t.test('FairQueue removes the right one of several with the same time', async (t) => {
  const queue = new FairQueue()
  for (const key of ['x', 'y', 'z']) queue.add({ key, account: 'a', order: 7 })
  queue.remove('y')
  t.strictSame(drain(queue), ['x', 'z'], 'in the order of arrival')
})

t.test('FairQueue serves accounts by their weights while both wait', async (t) => {
  const queue = aQueue(['a', 'b'], 40, (account) => (account === 'a' ? 3 : 1))
  for (let n = 0; n < 10; n++) {
    const accounts = drain(queue, 4).map((key) => key[0])
    t.equal(accounts.toSorted().join(''), 'aaab', 'all the time')
  }
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
  t.equal(
    drain(queue).findIndex((key) => key.startsWith('slow')),
    MAX_DEBT,
  )
})
