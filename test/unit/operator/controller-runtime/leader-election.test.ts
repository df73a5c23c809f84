import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LeaderElection, type LeaderElectionOptions, type Liveness } from '../../../../operator/src/controller-runtime/leader-election.ts'
import { ManualClock } from './manual-clock.ts'
import { MemoryLease } from './memory-lease.ts'

/** A candidate with its own clock, and its recorded callbacks. */
function startCandidate(t: Test, server: MemoryLease, identity: string, options: Partial<LeaderElectionOptions> = {}) {
  const clock = new ManualClock()
  const reported: string[] = []
  const election = new LeaderElection({
    leases: server.store,
    identity,
    clock,
    onStartedLeading: (signal) => {
      reported.push('started')
      signal.addEventListener('abort', () => reported.push('work ends'))
    },
    onStoppedLeading: (reason) => reported.push(reason),
    ...options,
  })
  t.teardown(async () => {
    server.mood = 'refusing'
    await stop({ election, clock })
  })
  election.start()
  return { server, election, clock, reported }
}

/** The only candidate. It leads. */
async function startLeader(t: Test, options: Partial<LeaderElectionOptions> = {}) {
  const leader = startCandidate(t, new MemoryLease(), 'a', options)
  await breathe()
  t.ok(leader.election.isLeader(), 'it leads')
  return leader
}

/** A candidate that has found a lease of another holder. */
async function startStandby(t: Test, lease: Parameters<MemoryLease['put']>[0], options: Partial<LeaderElectionOptions> = {}) {
  const server = new MemoryLease()
  server.put({ leaseDurationSeconds: 15, ...lease })
  const standby = startCandidate(t, server, 'b', options)
  await breathe()
  return standby
}

/** Advances a candidate's clock in small steps, with its requests in between, until the condition holds. Returns the milliseconds. */
async function advanceUntil(clock: ManualClock, isSo: () => boolean, limitMilliseconds: number): Promise<number> {
  for (let advanced = 0; ; advanced += 100) {
    if (isSo()) return advanced
    if (advanced >= limitMilliseconds) throw new Error(`not within ${limitMilliseconds} ms`)
    clock.advance(100)
    await breathe()
  }
}

/** Lets a candidate find and write the lease. */
async function breathe(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate()
}

async function stop({ election, clock }: { election: LeaderElection; clock: ManualClock }): Promise<void> {
  let isStopped = false
  const stopped = election.stop().then(() => {
    isStopped = true
  })
  for (; !isStopped; await breathe()) clock.advance(1_000)
  await stopped
}

t.test('leader election makes the first candidate the leader and renews every two seconds', async (t) => {
  const { server, election, clock } = await startLeader(t, { holderAnnotations: { pod: 'operator-1' } })
  const spec = { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 }
  t.match(server.lease, { metadata: { annotations: { pod: 'operator-1' } }, spec })
  t.equal(await advanceUntil(clock, () => server.writes.length === 6, 60_000), 10_000, '5 renewals')
  t.ok(election.isLeader())
  t.equal(election.holder, 'a')
})

t.test('leader election lets only one of many candidates lead', async (t) => {
  const server = new MemoryLease()
  const candidates = ['a', 'b', 'c', 'd', 'e'].map((identity) => startCandidate(t, server, identity))
  await breathe()
  const leaders: number[] = []
  for (let round = 0; round < 50; round++) {
    for (const { clock } of candidates) clock.advance(500)
    await breathe()
    leaders.push(candidates.filter(({ election }) => election.isLeader()).length)
  }
  t.strictSame(leaders, Array(50).fill(1))
  t.equal(new Set(server.writes).size, 1)
})

t.test('leader election measures expiry by its own clock, not by the times on the lease', async (t) => {
  const { election, clock } = await startStandby(t, {
    holderIdentity: 'dead',
    renewTime: '2001-01-01T00:00:00.000000Z',
    leaseTransitions: 3,
  })
  const milliseconds = await advanceUntil(clock, () => election.isLeader(), 20_000)
  t.equal(milliseconds, 15_000)
  t.equal(election.term, 4)
})

t.test('leader election keeps waiting as long as the holder renews', async (t) => {
  const { server, election, clock, reported } = await startStandby(t, { holderIdentity: 'a' })
  const led: number[] = []
  for (let second = 0; second < 40; second++) {
    if (second % 10 === 0) server.put({ renewTime: String(second) })
    clock.advance(1_000)
    await breathe()
    if (election.isLeader()) led.push(second)
  }
  t.strictSame(led, [])
  t.strictSame(reported, [])
  t.equal(election.holder, 'a')
})

t.test('leader election takes over a released lease at once', async (t) => {
  const first = await startLeader(t)
  const second = startCandidate(t, first.server, 'b')
  await breathe()
  t.equal(second.election.holder, 'a', 'the standby has seen the leader')
  await stop(first)
  t.strictSame(first.reported, ['started', 'work ends', 'stopped'])
  t.ok((await advanceUntil(second.clock, () => second.election.isLeader(), 5_000)) <= 1_500)
})

t.test('leader election takes over from itself after a restart in the same pod', async (t) => {
  const { election } = await startStandby(t, { holderIdentity: 'b', leaseTransitions: 7 })
  t.ok(election.isLeader())
  t.equal(election.term, 8, 'a new term distinguishes the work of the old process')
})

for (const { liveness, after } of [
  // The grace period of 1,500 ms ends between two looks at the lease.
  { liveness: 'gone', after: 2_000 },
  { liveness: 'alive', after: 15_000 },
  { liveness: 'unknown', after: 15_000 },
] as const) {
  t.test(`leader election takes over after ${after} ms when the holder is ${liveness}`, async (t) => {
    const asked: unknown[] = []
    const isHolderAlive = async (holder: unknown): Promise<Liveness> => {
      asked.push(holder)
      return liveness
    }
    const { election, clock } = await startStandby(t, { holderIdentity: 'killed', renewTime: 'then' }, { isHolderAlive })
    const milliseconds = await advanceUntil(clock, () => election.isLeader(), 20_000)
    t.equal(milliseconds, after)
    t.strictSame(asked[0], { identity: 'killed', annotations: {}, renewTime: 'then' })
  })
}

t.test('leader election uses the lease duration when the state of the holder is unknown', async (t) => {
  const isHolderAlive = () => Promise.reject(new Error('forbidden'))
  const { election, clock } = await startStandby(t, { holderIdentity: 'killed' }, { isHolderAlive })
  t.ok((await advanceUntil(clock, () => election.isLeader(), 20_000)) >= 15_000)
})

t.test('leader election does not take over from a holder that renews while it is reported gone', async (t) => {
  const isHolderAlive = async (): Promise<Liveness> => {
    server.put({ renewTime: 'a moment later' })
    return 'gone'
  }
  const { server, election, clock } = await startStandby(t, { holderIdentity: 'a' }, { isHolderAlive })
  for (let step = 0; step < 200; step++) {
    clock.advance(100)
    await breathe()
  }
  t.equal(election.isLeader(), false)
  t.strictSame(server.writes, [])
})

t.test('leader election takes over from a holder that keeps renewing after its pod was deleted', async (t) => {
  const { server, election, clock } = await startStandby(t, { holderIdentity: 'a' }, { isHolderAlive: async () => 'gone' })
  let renewals = 0
  let milliseconds = 0
  for (; milliseconds < 20_000 && !election.isLeader(); milliseconds += 100) {
    if (milliseconds % 1_000 === 0) server.put({ renewTime: `renewal ${renewals++}` })
    clock.advance(100)
    await breathe()
  }
  t.ok(election.isLeader(), 'it leads')
  t.ok(milliseconds <= 7_000, `after ${milliseconds} ms`)
})

for (const mood of ['refusing', 'silent'] as const) {
  t.test(`leader election stops leading ten seconds after the last renewal when the API server is ${mood}`, async (t) => {
    const { server, election, clock, reported } = await startLeader(t)
    server.mood = mood
    const milliseconds = await advanceUntil(clock, () => reported.includes('expired'), 15_000)
    t.equal(milliseconds, 10_000)
    t.equal(election.isLeader(), false)
    t.strictSame(reported, ['started', 'work ends', 'expired'])
    server.mood = 'well'
    await advanceUntil(clock, () => election.isLeader(), 20_000)
    t.equal(reported.at(-1), 'started', 'it leads again when the API server is back')
    t.equal(election.term, 1)
  })
}

t.test('leader election survives a renewal whose response was lost', async (t) => {
  const { server, election, clock, reported } = await startLeader(t)
  server.mood = 'forgetful'
  await advanceUntil(clock, () => server.writes.length === 2, 5_000)
  server.mood = 'well'
  await advanceUntil(clock, () => server.writes.length >= 6, 20_000)
  t.ok(election.isLeader())
  t.strictSame(reported, ['started'])
})

t.test('leader election stops leading at once when another process holds the lease', async (t) => {
  const { server, election, clock, reported } = await startLeader(t)
  server.put({ holderIdentity: 'b' })
  await advanceUntil(clock, () => reported.includes('taken'), 3_000)
  t.equal(election.isLeader(), false)
  t.equal(election.holder, 'b')
  t.strictSame(reported, ['started', 'work ends', 'taken'])
})

t.test('isLeader is false at once after the deadline passed in a frozen process or a suspended machine', async (t) => {
  const frozen = await startLeader(t)
  frozen.clock.freeze(9_999)
  t.equal(frozen.election.isLeader(), true)
  frozen.clock.freeze(1)
  t.equal(frozen.election.isLeader(), false)
  const asleep = await startLeader(t)
  asleep.clock.suspend(10_000)
  t.equal(asleep.election.isLeader(), false)
})

t.test('leader election keeps the lease until the work of the leader has ended', async (t) => {
  const { promise, resolve: finishWork } = Promise.withResolvers<void>()
  const { server, election, clock } = await startLeader(t, { onStartedLeading: () => promise })
  let isStopped = false
  const stopped = election.stop().then(() => {
    isStopped = true
  })
  await advanceUntil(clock, () => server.writes.length >= 4, 20_000)
  t.equal(isStopped, false)
  t.equal(election.isLeader(), true, 'it keeps renewing')
  t.notOk(server.writes.includes('nobody'))
  finishWork()
  await stopped
  t.equal(server.writes.at(-1), 'nobody')
  t.equal(election.isLeader(), false)
})

t.test('leader election continues when the work of the leader throws', async (t) => {
  const { server, election, clock } = await startLeader(t, { onStartedLeading: () => Promise.reject(new Error('a bug')) })
  await advanceUntil(clock, () => server.writes.length >= 3, 20_000)
  t.ok(election.isLeader())
})

t.test('leader election rejects inconsistent durations', async (t) => {
  const common = { leases: new MemoryLease().store, identity: 'a', onStartedLeading: () => {} }
  t.throws(() => new LeaderElection({ ...common, leaseDurationMilliseconds: 10_000 }), { message: /must last longer/ })
  t.throws(() => new LeaderElection({ ...common, renewDeadlineMilliseconds: 2_000 }), { message: /must be longer than the retry/ })
})
