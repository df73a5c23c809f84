import t from 'tap'
import type { Pod } from '../../../../crds/client/core-resources.ts'
import { Store } from '../../../../crds/client/lister.ts'
import { Label } from '../../../../crds/src/identifiers/names.ts'
import { poolDefaults, type RunnerPool } from '../../../../crds/src/kinds/runner-pool.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { Expectations } from '../../../../operator/src/runner/expectations.ts'
import type { RunnerIdentity } from '../../../../operator/src/runner/identity.ts'
import {
  CLAIM_INDEX,
  chooseRunner,
  claimedBy,
  isIdle,
  mayServe,
  POOL_INDEX,
  RUNNER_INDEX,
  Runners,
  UID_INDEX,
} from '../../../../operator/src/runner/runners.ts'
import type { AccountLimits } from '../../../../operator/src/scheduling/account-limits.ts'
import { Dispatcher } from '../../../../operator/src/scheduling/dispatcher.ts'
import { QUANTUM } from '../../../../operator/src/scheduling/fair-queue.ts'
import { aRunnerPool, aScreenshot, at, completedStatus, NOON } from '../../../support/fakes/builders.ts'
import { aPod, aRunner } from '../../../support/fakes/runners.ts'
import { stopClock } from '../../../support/fakes/stop-clock.ts'

const withoutSandbox = { chromiumSandbox: false, jail: false, detail: 'no' }
const pool = aRunnerPool()
const now = NOON.getTime()

const choices = [
  {
    name: 'one whose browser belongs to the account',
    idle: [aRunner({ name: 'fresh' }), aRunner({ name: 'own', accountName: 'red' }), aRunner({ name: 'other', accountName: 'blue' })],
    chosen: 'own',
  },
  {
    name: 'else one with an unused browser',
    idle: [aRunner({ name: 'other', accountName: 'blue' }), aRunner({ name: 'fresh' })],
    chosen: 'fresh',
  },
  {
    name: 'else the one that has been idle longest',
    idle: [aRunner({ name: 'young', accountName: 'blue', idleSince: at(9).getTime() }), aRunner({ name: 'old', accountName: 'green' })],
    chosen: 'old',
  },
  {
    name: 'one that is not storing before one that is',
    idle: [aRunner({ name: 'storing', workingOn: 'default/a', isStoring: true }), aRunner({ name: 'young', idleSince: at(9).getTime() })],
    chosen: 'young',
  },
  {
    name: 'never one without a sandbox that another account has used',
    idle: [aRunner({ accountName: 'blue', sandbox: withoutSandbox })],
    chosen: undefined,
  },
]
for (const { name, idle, chosen } of choices) {
  t.test(`chooseRunner chooses ${name}`, async (t) => t.equal(chooseRunner(idle, 'red')?.name, chosen))
}

const able = { available: true, detail: '' }
const unable = { available: false, detail: 'no ffmpeg' }
const idleness = [
  { name: 'a ready runner with a proved identity', runner: aRunner(), idle: true },
  { name: 'a runner without an identity', runner: aRunner({ sandbox: undefined }), idle: false },
  { name: 'a busy runner', runner: aRunner({ workingOn: 'default/a' }), idle: false },
  { name: 'a runner that is storing its capture', runner: aRunner({ workingOn: 'default/a', isStoring: true }), idle: true },
  { name: 'a runner that is not ready', runner: aRunner({ state: 'waiting' }), idle: false },
  { name: 'a runner in backoff', runner: aRunner({ backoffUntil: now + 1 }), idle: false },
  { name: 'a runner at its capture limit', runner: aRunner({ captures: poolDefaults.capturesPerPod }), idle: false },
  { name: 'a runner without a sandbox', runner: aRunner({ sandbox: withoutSandbox }), idle: true },
  {
    name: 'a runner without a sandbox where one is required',
    runner: aRunner({ sandbox: withoutSandbox }),
    mode: 'required' as const,
    idle: false,
  },
  { name: 'a runner that does not report videos in a pool that records them', runner: aRunner(), video: true, idle: false },
  { name: 'a runner that cannot record videos where it must', runner: aRunner({ video: unable }), video: true, idle: false },
  { name: 'a runner that records videos where it must', runner: aRunner({ video: able }), video: true, idle: true },
  { name: 'a runner that cannot record videos where it need not', runner: aRunner({ video: unable }), idle: true },
]
for (const { name, runner, mode = 'auto' as const, video = false, idle } of idleness) {
  t.test(`isIdle is ${idle} for ${name}`, async (t) => t.equal(isIdle(runner, { ...pool.spec, sandbox: { mode }, video }, now), idle))
}

t.test('mayServe dedicates a runner without a sandbox to one account', async (t) => {
  t.ok(mayServe(aRunner({ sandbox: withoutSandbox }), 'red'))
  t.ok(mayServe(aRunner({ sandbox: withoutSandbox, accountName: 'red' }), 'red'))
  t.notOk(mayServe(aRunner({ sandbox: withoutSandbox, accountName: 'red' }), 'blue'))
  t.ok(mayServe(aRunner({ accountName: 'red' }), 'blue'))
})

const identity = {
  key: {},
  sandbox: { chromiumSandbox: true, jail: true, detail: '' },
  version: '1',
  captures: 0,
  accountName: undefined,
} as RunnerIdentity

function setUpWith(poolSpec: Partial<RunnerPool['spec']>, ...names: string[]) {
  const pods = new Store<Pod>()
    .addIndex(POOL_INDEX, ({ metadata }) => metadata.labels?.[Label.pool])
    .addIndex(UID_INDEX, ({ metadata }) => metadata.uid)
  const screenshots = new Store<Screenshot>().addIndex(CLAIM_INDEX, claimedBy).addIndex(RUNNER_INDEX, ({ status }) => status?.runner?.uid)
  const pools = new Store<RunnerPool>()
  pools.set(aRunnerPool({ spec: poolSpec }))
  const expectations = new Expectations()
  const runners = new Runners({ pods, screenshots, expectations })
  for (const name of names) {
    pods.set(aPod({ name }))
    runners.noteIdentity(`uid-of-${name}`, identity, now)
  }
  const matched: string[] = []
  const gate = { isOpen: true }
  const clock = { now }
  const shares: Record<string, AccountLimits> = {}
  const running: Record<string, number> = {}
  const dispatcher = new Dispatcher({
    runners,
    pools,
    namespace: 'default',
    limitsOf: (account) => shares[account] ?? { weight: 1 },
    runningOf: (account) => running[account] ?? 0,
    isOpen: () => gate.isOpen,
    now: () => clock.now,
    onAssigned: (key) => void matched.push(key),
  })
  return { pods, screenshots, runners, expectations, dispatcher, matched, gate, shares, running, clock }
}
const setUp = (...names: string[]) => setUpWith({}, ...names)
const item = (key: string, account = 'red', order = 0) => ({ key, account, order })

t.test('Runners restores from the records how much a runner was used', async (t) => {
  const { screenshots, runners } = setUp('a')
  screenshots.set(aScreenshot({ spec: { accountName: 'red' }, status: completedStatus({ runner: { pod: 'a', uid: 'uid-of-a' } }) }))
  runners.noteIdentity('uid-of-a', identity, now)
  t.match(runners.find('default/a', now), { captures: 1, accountName: 'red', workingOn: undefined })
})

t.test('Runners reports a runner with an open claim as busy, whichever leader made the claim', async (t) => {
  const { screenshots, runners } = setUp('a')
  screenshots.set(aScreenshot({ name: 'shot', status: { phase: 'Running', runner: { pod: 'a', uid: 'uid-of-a' } } }))
  t.equal(runners.find('default/a', now)?.workingOn, 'default/shot')
})

t.test('Runners offers a runner that has taken a picture for one more order, but not while both are stored', async (t) => {
  const { screenshots, runners } = setUp('a')
  const claim = (name: string) =>
    screenshots.set(aScreenshot({ name, status: { phase: 'Running', runner: { pod: 'a', uid: 'uid-of-a' } } }))
  const found = () => {
    const runner = runners.find('default/a', now)
    const isFound = runners.idle('default', pool.spec, now).length === 1
    t.equal(isFound, runner !== undefined && isIdle(runner, pool.spec, now), 'idle() returns the same')
    return runner
  }
  runners.noteIdentity('uid-of-a', identity, now)
  t.match(found(), { workingOn: undefined })
  claim('one')
  t.match(found(), { workingOn: 'default/one', isStoring: false })
  runners.noteTakenPicture('uid-of-a', 'default/one')
  t.match(found(), { workingOn: 'default/one', isStoring: true })
  runners.reserve('uid-of-a', 'default/two')
  t.match(found(), { isStoring: false }, 'promised')
  runners.release('default/two', now)
  claim('two')
  t.match(found(), { isStoring: false }, 'the second one is being captured')
  runners.noteTakenPicture('uid-of-a', 'default/two')
  t.match(found(), { isStoring: false }, 'both are being stored')
  screenshots.delete('default/one')
  t.match(found(), { workingOn: 'default/two', isStoring: true })
  screenshots.delete('default/two')
  t.match(found(), { workingOn: undefined, isStoring: false })
})

t.test('Runners reports a runner as terminating when this leader has deleted it, before the watch does', async (t) => {
  const { runners, expectations } = setUp('a')
  expectations.expectDeletion('uid-of-a', now)
  t.equal(runners.find('default/a', now)?.state, 'terminating')
})

t.test('Runners doubles the backoff of a runner after each order that it did not accept, until it accepts one', async (t) => {
  const { runners } = setUp('a')
  const rest = () => (runners.find('default/a', now)?.backoffUntil ?? 0) - now
  const rests = [0, 0, 0, 0, 0, 0].map(() => {
    runners.noteLoss('uid-of-a', now)
    return rest()
  })
  t.strictSame(rests, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
  runners.noteEnded('uid-of-a', now)
  t.equal(runners.find('default/a', now)?.losses, 0)
})

t.test('Dispatcher reserves each runner once', async (t) => {
  const { dispatcher, matched, runners } = setUp('a', 'b')
  for (const key of ['1', '2', '3']) dispatcher.add('default', item(key))
  t.strictSame(matched, ['1', '2'])
  t.equal(dispatcher.queued('default'), 1)
  t.not(runners.reservedFor('1')?.uid, runners.reservedFor('2')?.uid)
  t.equal(runners.reservedFor('3'), undefined)
})

t.test('Dispatcher assigns a runner that becomes idle to the next Screenshot at once', async (t) => {
  const { dispatcher, matched } = setUp('a')
  dispatcher.add('default', item('1'))
  dispatcher.add('default', item('2'))
  dispatcher.drop('1')
  t.strictSame(matched, ['1', '2'])
})

t.test('Dispatcher assigns nothing while it is closed, and everything when it opens', async (t) => {
  const { dispatcher, matched, gate } = setUp('a', 'b')
  gate.isOpen = false
  dispatcher.add('default', item('1'))
  dispatcher.add('default', item('2'))
  t.strictSame(matched, [])
  gate.isOpen = true
  dispatcher.wakeAll()
  t.strictSame(matched, ['1', '2'])
})

t.test('Dispatcher drops the reservation of a deleted pod', async (t) => {
  const { dispatcher, pods, runners } = setUp('a')
  dispatcher.add('default', item('1'))
  pods.delete('default/a')
  t.equal(runners.reservedFor('1'), undefined)
  runners.forget('uid-of-a')
  dispatcher.add('default', item('1'))
  t.equal(dispatcher.queued('default'), 1)
})

t.test('Dispatcher keeps Screenshots of a missing pool queued', async (t) => {
  const { dispatcher, matched } = setUp('a')
  dispatcher.add('large', item('1'))
  t.strictSame(matched, [])
  t.strictSame(dispatcher.accountsWaiting('large'), ['red'])
  dispatcher.drop('1')
  t.equal(dispatcher.queued('large'), 0)
})

t.test('Dispatcher limits the concurrent captures of an account, and assigns other runners to the next accounts', async (t) => {
  const { dispatcher, matched, shares, running } = setUp('a', 'b', 'c')
  shares.red = { weight: 8, maxRunning: 2 }
  running.red = 1
  for (const [key, account] of [
    ['1', 'red'],
    ['2', 'red'],
    ['3', 'blue'],
  ] as const)
    dispatcher.add('default', item(key, account))
  t.strictSame(matched, ['1', '3'])
  t.strictSame([dispatcher.queued('default'), [...dispatcher.heldBack('default').values()]], [1, [1]])
})

t.test('Dispatcher starts the next Screenshot of an account when one has ended or its reservation was released', async (t) => {
  const { dispatcher, matched, shares, running } = setUp('a', 'b')
  shares.red = { weight: 1, maxRunning: 1 }
  for (const key of ['1', '2', '3']) dispatcher.add('default', item(key))
  t.strictSame(matched, ['1'])
  dispatcher.drop('1')
  t.strictSame(matched, ['1', '2'], 'the reservation was released')
  running.red = 1
  dispatcher.drop('2')
  t.strictSame(matched, ['1', '2'], 'it was claimed')
  running.red = 0
  dispatcher.wake('default')
  t.strictSame(matched, ['1', '2', '3'])
})

t.test('Dispatcher serves accounts by the weights of their plans', async (t) => {
  const { dispatcher, matched, shares, gate } = setUp('a')
  shares.red = { weight: 2 }
  gate.isOpen = false
  for (let order = 0; order < 9; order++)
    for (const account of ['red', 'blue']) dispatcher.add('default', item(`${account}${order}`, account, order))
  gate.isOpen = true
  for (let n = 0; n < 9; n++) {
    dispatcher.wake('default')
    dispatcher.drop(matched.at(-1) ?? '')
  }
  t.equal(matched.slice(0, 9).filter((key) => key.startsWith('red')).length, 6)
})

t.test('Runners remembers how a deleted runner ended', async (t) => {
  const { runners } = setUp('a')
  const status = { ...aPod().status, conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }] }
  runners.noteDeletedPod(aPod({ name: 'a', status }))
  t.match(runners.endOf('uid-of-a'), { cause: 'drained' })
  t.equal(runners.identityOf('uid-of-a'), undefined)
  runners.noteDeletedPod(aPod({ name: 'b' }))
  t.equal(runners.endOf('uid-of-b'), undefined, 'its status did not say')
})

t.test('Runners says of an ended pod that it was shared by accounts, until its last claim is released', async (t) => {
  const { screenshots, runners } = setUp('a')
  const claim = (name: string, accountName: string) =>
    screenshots.set(aScreenshot({ name, spec: { accountName }, status: { phase: 'Running', runner: { pod: 'a', uid: 'uid-of-a' } } }))
  claim('one', 'red')
  claim('two', 'red')
  t.equal(runners.wasShared('uid-of-a'), false)
  claim('two', 'blue')
  t.equal(runners.wasShared('uid-of-a'), true)
  screenshots.delete('default/two')
  t.equal(runners.wasShared('uid-of-a'), true)
  t.equal(runners.wasShared('uid-of-b'), false)
})

t.test('Runners does not record a loss of a deleted runner', async (t) => {
  const { runners, pods } = setUp()
  pods.set(aPod({ name: 'a' }))
  runners.noteLoss('uid-of-a', now)
  t.match(runners.find('default/a', now), { losses: 0, backoffUntil: 0 })
})

t.test('Dispatcher moves a Screenshot whose pool has changed', async (t) => {
  const { dispatcher, gate } = setUp()
  gate.isOpen = false
  dispatcher.add('large', item('1'))
  dispatcher.add('default', item('1'))
  t.strictSame([dispatcher.queued('large'), dispatcher.queued('default')], [0, 1])
})

const WITH_OTHERS: AccountLimits = { weight: 1, hasOthers: true }

t.test('Dispatcher keeps the last runner of a pool for an account that runs nothing', async (t) => {
  const { dispatcher, matched, shares, clock } = setUpWith({ maxPods: 2 }, 'a', 'b')
  shares.red = shares.blue = WITH_OTHERS
  dispatcher.add('default', item('default/1'))
  dispatcher.add('default', item('default/2'))
  t.strictSame(matched, ['default/1'], 'red gets one of two runners')
  dispatcher.add('default', item('default/3', 'blue'))
  t.strictSame(matched, ['default/1', 'default/3'], 'blue gets the other one')
  clock.now += 2_000
  dispatcher.drop('default/1')
  t.strictSame(matched, ['default/1', 'default/3', 'default/2'])
})

t.test('Dispatcher gives an account the last runner, while its other one stores a picture and takes the next', async (t) => {
  const { screenshots, runners, dispatcher, matched, shares, running } = setUpWith({ maxPods: 2 }, 'a', 'b')
  shares.red = shares.blue = WITH_OTHERS
  for (const name of ['one', 'two'])
    screenshots.set(
      aScreenshot({ name, spec: { accountName: 'red' }, status: { phase: 'Running', runner: { pod: 'a', uid: 'uid-of-a' } } }),
    )
  runners.noteTakenPicture('uid-of-a', 'default/one')
  running.red = 2
  dispatcher.add('default', item('default/3'))
  t.strictSame(matched, [], 'red runs a capture')
  dispatcher.add('default', item('default/4', 'blue'))
  t.strictSame(matched, ['default/4'])
})

t.test('Dispatcher keeps the last runner from an account that has had its share, until the other runners stop moving', async (t) => {
  const timers = stopClock(t)
  const { dispatcher, matched, shares, clock } = setUpWith({ maxPods: 2 }, 'a', 'b')
  shares.red = shares.blue = WITH_OTHERS
  const queued = [item('default/1', 'blue', 1), item('default/2', 'red', 2), item('default/3', 'red', 3), item('default/4', 'blue', 4)]
  for (const each of queued) dispatcher.add('default', each)
  t.strictSame(matched, ['default/1', 'default/2'], 'each account gets a runner')
  dispatcher.drop('default/1')
  t.strictSame(matched, ['default/1', 'default/2'], 'blue has had its share')
  clock.now += 2_000
  timers.tick(2_000)
  t.strictSame(matched, ['default/1', 'default/2', 'default/4'], 'nothing has moved for two seconds')
})

t.test('Dispatcher gives accounts captures by their weights, although the last runner is kept while the others move', async (t) => {
  const { dispatcher, matched, shares, clock } = setUpWith({ maxPods: 4 }, 'a', 'b', 'c', 'd')
  const weights = { free: 1, basic: 2, growth: 4, scale: 8 }
  const CAPTURES = 150
  for (const [account, weight] of Object.entries(weights)) {
    shares[account] = { weight, hasOthers: true }
    for (let n = 0; n < CAPTURES; n++) dispatcher.add('default', item(`default/${account}-${n}`, account, n))
  }
  for (let ended = 0; matched.length < CAPTURES; ended++) {
    clock.now += 50
    dispatcher.drop(matched[ended] ?? '')
  }
  for (const [account, weight] of Object.entries(weights)) {
    const captures = matched.slice(0, CAPTURES).filter((key) => key.startsWith(`default/${account}-`)).length
    t.ok(Math.abs(captures - weight * 10) <= QUANTUM + 4, `${account}: ${captures} of ${weight * 10}`)
  }
})

t.test('Dispatcher counts captures in other pools when it keeps the last runner', async (t) => {
  const { dispatcher, matched, shares, running } = setUpWith({ maxPods: 2 }, 'a', 'b')
  shares.red = shares.blue = WITH_OTHERS
  running.red = 1
  dispatcher.add('default', item('default/1', 'blue'))
  dispatcher.add('default', item('default/2'))
  t.strictSame(matched, ['default/1'])
})

t.test('Dispatcher gives all runners to the only account of a release', async (t) => {
  const { dispatcher, matched, shares } = setUpWith({ maxPods: 2 }, 'a', 'b')
  shares.red = { weight: 1, hasOthers: false }
  dispatcher.add('default', item('default/1'))
  dispatcher.add('default', item('default/2'))
  t.strictSame(matched, ['default/1', 'default/2'])
})

t.test('Dispatcher gives out every runner of a pool that can grow further', async (t) => {
  const { dispatcher, matched, shares } = setUpWith({ maxPods: 3 }, 'a', 'b')
  shares.red = WITH_OTHERS
  dispatcher.add('default', item('default/1'))
  dispatcher.add('default', item('default/2'))
  t.strictSame(matched, ['default/1', 'default/2'])
})

t.test('Dispatcher keeps the last runner of a pool whose next pod fits on no node', async (t) => {
  const { pods, dispatcher, matched, shares } = setUpWith({ maxPods: 10 }, 'a', 'b')
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'Insufficient memory' }]
  const { metadata } = aPod({ name: 'c' })
  pods.set({ metadata, status: { phase: 'Pending', conditions } } as Pod)
  shares.red = WITH_OTHERS
  dispatcher.add('default', item('default/1'))
  dispatcher.add('default', item('default/2'))
  t.strictSame(matched, ['default/1'])
})

t.test('Dispatcher keeps no runner of a pool with a single one', async (t) => {
  const { dispatcher, matched, shares, running } = setUpWith({ maxPods: 1 }, 'a')
  shares.red = WITH_OTHERS
  running.red = 1
  dispatcher.add('default', item('default/1'))
  t.strictSame(matched, ['default/1'])
})

t.test('Dispatcher charges an account for runner time that its units do not stand for', async (t) => {
  const { dispatcher, matched, gate } = setUp('a')
  gate.isOpen = false
  for (const order of [0, 1])
    for (const account of ['slow', 'fast']) dispatcher.add('default', item(`default/${account}${order}`, account, order))
  dispatcher.chargeTime('default', { account: 'slow', units: 1 }, 8_000)
  dispatcher.chargeTime('default', { account: 'fast', units: 1 }, 500)
  gate.isOpen = true
  dispatcher.wake('default')
  for (let n = 0; n < 3; n++) dispatcher.drop(matched.at(-1) ?? '')
  t.strictSame(matched, ['default/fast0', 'default/fast1', 'default/slow0', 'default/slow1'])
})
