import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import type { RunnerPool } from '../../../../crds/src/kinds/runner-pool.ts'
import { type AccountLimits, Dispatcher } from '../../../../operator/src/scheduling/dispatcher.ts'
import { QUANTUM } from '../../../../operator/src/scheduling/fair-queue.ts'
import { aRunnerPool, NOON } from '../../../support/fakes/builders.ts'
import { aPod, unschedulableStatus } from '../../../support/fakes/runners.ts'
import { stopClock } from '../../../support/fakes/stop-clock.ts'
import { runnerStores } from '../runner/runner-stores.ts'

/** A dispatcher for a pool with these runners. `matched` has the keys that got a runner. */
function setUp(names: string[], spec: Partial<RunnerPool['spec']> = {}) {
  const stores = runnerStores(...names)
  const pools = new Store<RunnerPool>()
  pools.set(aRunnerPool({ spec }))
  const matched: string[] = []
  const gate = { isOpen: true }
  const clock = { now: NOON.getTime() }
  const shares: Record<string, AccountLimits> = {}
  const running: Record<string, number> = {}
  const dispatcher = new Dispatcher({
    runners: stores.runners,
    pools,
    namespace: 'default',
    limitsOf: (account) => shares[account] ?? { weight: 1 },
    runningOf: (account) => running[account] ?? 0,
    isOpen: () => gate.isOpen,
    now: () => clock.now,
    onAssigned: (key) => void matched.push(key),
  })
  /** Queues Screenshots. The account and the order are in the key: `red1`. */
  const add = (...keys: string[]) => {
    for (const key of keys) dispatcher.add('default', itemOf(key))
  }
  return { ...stores, dispatcher, matched, gate, shares, running, clock, add }
}
const itemOf = (key: string) => ({ key, account: key.replace(/\d+$/, ''), order: Number(/\d+$/.exec(key)) })

t.test('Dispatcher reserves each runner once', async (t) => {
  const { dispatcher, matched, runners, add } = setUp(['a', 'b'])
  add('red1', 'red2', 'red3')
  t.strictSame(matched, ['red1', 'red2'])
  t.equal(dispatcher.queued('default'), 1)
  t.not(runners.reservedFor('red1')?.uid, runners.reservedFor('red2')?.uid)
  t.equal(runners.reservedFor('red3'), undefined)
})

t.test('Dispatcher assigns nothing while it is closed, and everything when it opens', async (t) => {
  const { dispatcher, matched, gate, add } = setUp(['a', 'b'])
  gate.isOpen = false
  add('red1', 'red2')
  t.strictSame(matched, [])
  gate.isOpen = true
  dispatcher.wakeAll()
  t.strictSame(matched, ['red1', 'red2'])
})

t.test('Dispatcher drops the reservation of a deleted pod', async (t) => {
  const { dispatcher, pods, runners, add } = setUp(['a'])
  add('red1')
  pods.delete('default/a')
  t.equal(runners.reservedFor('red1'), undefined)
  runners.forget('uid-of-a')
  add('red1')
  t.equal(dispatcher.queued('default'), 1)
})

t.test('Dispatcher keeps Screenshots of a missing pool queued', async (t) => {
  const { dispatcher, matched } = setUp(['a'])
  dispatcher.add('large', itemOf('red1'))
  t.strictSame(matched, [])
  t.strictSame(dispatcher.accountsWaiting('large'), ['red'])
  dispatcher.drop('red1')
  t.equal(dispatcher.queued('large'), 0)
})

t.test('Dispatcher moves a Screenshot whose pool has changed', async (t) => {
  const { dispatcher, gate, add } = setUp([])
  gate.isOpen = false
  dispatcher.add('large', itemOf('red1'))
  add('red1')
  t.strictSame([dispatcher.queued('large'), dispatcher.queued('default')], [0, 1])
})

t.test('Dispatcher limits the concurrent captures of an account, and assigns other runners to the next accounts', async (t) => {
  const { dispatcher, matched, shares, running, add } = setUp(['a', 'b', 'c'])
  shares.red = { weight: 8, maxRunning: 2 }
  running.red = 1
  add('red1', 'red2', 'blue3')
  t.strictSame(matched, ['red1', 'blue3'])
  t.strictSame([dispatcher.queued('default'), [...dispatcher.heldBack('default').values()]], [1, [1]])
})

t.test('Dispatcher starts the next Screenshot of an account when one has ended or its reservation was released', async (t) => {
  const { dispatcher, matched, shares, running, add } = setUp(['a', 'b'])
  shares.red = { weight: 1, maxRunning: 1 }
  add('red1', 'red2', 'red3')
  t.strictSame(matched, ['red1'])
  dispatcher.drop('red1')
  t.strictSame(matched, ['red1', 'red2'], 'the reservation was released')
  running.red = 1
  dispatcher.drop('red2')
  t.strictSame(matched, ['red1', 'red2'], 'it was claimed')
  running.red = 0
  dispatcher.wake('default')
  t.strictSame(matched, ['red1', 'red2', 'red3'])
})

t.test('Dispatcher gives an account the runner whose browser belongs to it, for a few captures while others wait', async (t) => {
  const { dispatcher, runners, matched, gate, add } = setUp(['a', 'b'])
  runners.noteTaken('uid-of-b', 'red')
  add('red1')
  t.equal(runners.reservedFor('red1')?.uid, 'uid-of-b')
  gate.isOpen = false
  add('blue2', 'blue3', 'red4', 'red5', 'red6', 'red7')
  runners.noteTaken('uid-of-a', 'red')
  gate.isOpen = true
  for (const key of ['red1', 'red4', 'red5']) dispatcher.drop(key)
  t.strictSame(matched, ['red1', 'red4', 'red5', 'red6', 'blue2'])
})

t.test('Dispatcher charges an account for runner time that its units do not stand for', async (t) => {
  const { dispatcher, matched, gate, add } = setUp(['a'])
  gate.isOpen = false
  add('slow0', 'fast0', 'slow1', 'fast1')
  dispatcher.chargeTime('default', { account: 'slow', units: 1 }, 8_000)
  dispatcher.chargeTime('default', { account: 'fast', units: 1 }, 500)
  gate.isOpen = true
  dispatcher.wake('default')
  for (let n = 0; n < 3; n++) dispatcher.drop(matched.at(-1) ?? '')
  t.strictSame(matched, ['fast0', 'fast1', 'slow0', 'slow1'])
})

const WITH_OTHERS: AccountLimits = { weight: 1, hasOthers: true }

t.test('Dispatcher keeps the last runner of a pool for an account that runs nothing', async (t) => {
  const { dispatcher, matched, shares, clock, add } = setUp(['a', 'b'], { maxPods: 2 })
  shares.red = shares.blue = WITH_OTHERS
  add('red1', 'red2')
  t.strictSame(matched, ['red1'], 'red gets one of two runners')
  add('blue3')
  t.strictSame(matched, ['red1', 'blue3'], 'blue gets the other one')
  clock.now += 2_000
  dispatcher.drop('red1')
  t.strictSame(matched, ['red1', 'blue3', 'red2'])
})

t.test('Dispatcher gives an account the last runner, while its other one stores a picture and takes the next', async (t) => {
  const { runners, matched, shares, running, claim, add } = setUp(['a', 'b'], { maxPods: 2 })
  shares.red = shares.blue = WITH_OTHERS
  for (const name of ['one', 'two']) claim(name)
  runners.noteTakenPicture('uid-of-a', 'default/one')
  running.red = 2
  add('red3')
  t.strictSame(matched, [], 'red runs a capture')
  add('blue4')
  t.strictSame(matched, ['blue4'])
})

t.test('Dispatcher keeps the last runner from an account that has had its share, until the other runners stop moving', async (t) => {
  const timers = stopClock(t)
  const { dispatcher, matched, shares, clock, add } = setUp(['a', 'b'], { maxPods: 2 })
  shares.red = shares.blue = WITH_OTHERS
  add('blue1', 'red2', 'red3', 'blue4')
  t.strictSame(matched, ['blue1', 'red2'], 'each account gets a runner')
  dispatcher.drop('blue1')
  t.strictSame(matched, ['blue1', 'red2'], 'blue has had its share')
  clock.now += 2_000
  timers.tick(2_000)
  t.strictSame(matched, ['blue1', 'red2', 'blue4'], 'nothing has moved for two seconds')
})

t.test('Dispatcher gives accounts captures by their weights, although the last runner is kept while the others move', async (t) => {
  const { dispatcher, matched, shares, clock, add } = setUp(['a', 'b', 'c', 'd'], { maxPods: 4 })
  const weights = { free: 1, basic: 2, growth: 4, scale: 8 }
  const CAPTURES = 150
  for (const [account, weight] of Object.entries(weights)) {
    shares[account] = { weight, hasOthers: true }
    for (let n = 0; n < CAPTURES; n++) add(`${account}${n}`)
  }
  for (let ended = 0; matched.length < CAPTURES; ended++) {
    clock.now += 50
    dispatcher.drop(matched[ended] ?? '')
  }
  for (const [account, weight] of Object.entries(weights)) {
    const captures = matched.slice(0, CAPTURES).filter((key) => key.startsWith(account)).length
    t.ok(Math.abs(captures - weight * 10) <= QUANTUM + 4, `${account}: ${captures} of ${weight * 10}`)
  }
})

t.test('single screenshots wait for at most two captures of each runner behind batches of another account', async (t) => {
  const { dispatcher, runners, matched, shares, add } = setUp(['a', 'b', 'c', 'd'], { maxPods: 4 })
  shares.flood = shares.one = shares.two = shares.three = WITH_OTHERS
  add(...Array.from({ length: 100 }, (_, n) => `flood${n}`))
  for (const name of ['a', 'b', 'c', 'd']) runners.noteTaken(`uid-of-${name}`, 'flood')
  const singles = ['one100', 'two100', 'three100']
  const waited = matched.length
  add(...singles)
  for (let ended = 0; ended < 8; ended++) dispatcher.drop(matched[ended] ?? '')
  const next = matched.slice(waited, waited + 8)
  t.ok(
    singles.every((key) => next.includes(key)),
    next.join(),
  )
})

const unschedulable = aPod({ name: 'c', status: unschedulableStatus() })
for (const { name, maxPods, runners = ['a', 'b'], limits = WITH_OTHERS, running = 0, pod, keys = ['red1', 'red2'], matched } of [
  { name: 'counts captures in other pools', maxPods: 2, running: 1, keys: ['blue1', 'red2'], matched: ['blue1'] },
  {
    name: 'gives all runners to the only account of a release',
    maxPods: 2,
    limits: { weight: 1, hasOthers: false },
    matched: ['red1', 'red2'],
  },
  { name: 'gives out every runner of a pool that can grow further', maxPods: 3, matched: ['red1', 'red2'] },
  { name: 'keeps the last runner of a pool whose next pod fits on no node', maxPods: 10, pod: unschedulable, matched: ['red1'] },
  { name: 'keeps no runner of a pool with a single one', maxPods: 1, runners: ['a'], running: 1, matched: ['red1'] },
]) {
  t.test(`Dispatcher ${name}`, async (t) => {
    const seen = setUp(runners, { maxPods })
    seen.shares.red = seen.shares.blue = limits
    seen.running.red = running
    if (pod) seen.pods.set(pod)
    seen.add(...keys)
    t.strictSame(seen.matched, matched)
  })
}
