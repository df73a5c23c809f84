import t, { type Test } from 'tap'
import { LeaderElection, type LeaderElectionOptions, type Liveness } from '../../../../operator/src/controller-runtime/leader-election.ts'
import { leaseStore } from '../../../../operator/src/controller-runtime/lease.ts'
import { until } from '../../crds/client/scripted-server.ts'
import { startLeaseServer } from './lease-server.ts'
import { ManualClock } from './manual-clock.ts'

type LeaseServer = Awaited<ReturnType<typeof startLeaseServer>>

/** A candidate with its own clock, and its recorded callbacks. */
function startCandidate(t: Test, server: LeaseServer, identity: string, options: Partial<LeaderElectionOptions> = {}) {
  const clock = new ManualClock()
  const reported: string[] = []
  const election = new LeaderElection({
    leases: leaseStore(server.http, 'tintype'),
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
    server.behave('refusing')
    await stop({ election, clock })
  })
  election.start()
  return { election, clock, reported }
}

/** Advances a candidate's clock in small steps and lets its requests finish in between, until the condition holds. */
async function advanceUntil(clock: ManualClock, isSo: () => boolean, limitMilliseconds: number): Promise<number> {
  let advanced = 0
  while (!isSo()) {
    if (advanced >= limitMilliseconds) throw new Error(`not within ${limitMilliseconds} ms`)
    await until(() => clock.pending > 0, 'the candidate waits')
    clock.advance(100)
    advanced += 100
    await breathe()
  }
  return advanced
}

/** Waits long enough for pending requests on loopback. */
const breathe = () => new Promise((resolve) => setTimeout(resolve, 5))

async function stop({ election, clock }: { election: LeaderElection; clock: ManualClock }): Promise<void> {
  let isStopped = false
  const stopped = election.stop().then(() => {
    isStopped = true
  })
  while (!isStopped) {
    clock.advance(1_000)
    await breathe()
  }
  await stopped
}

t.test('leader election makes the first candidate the leader and renews every two seconds', async (t) => {
  const server = await startLeaseServer(t)
  const { election, clock } = startCandidate(t, server, 'a', { holderAnnotations: { pod: 'operator-1' } })
  await until(() => election.isLeader(), 'the leader')
  t.match(server.lease(), {
    metadata: { annotations: { pod: 'operator-1' } },
    spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 },
  })
  await advanceUntil(clock, () => server.writes.length === 6, 60_000).then((milliseconds) =>
    t.ok(milliseconds >= 10_000, `5 renewals in ${milliseconds} ms`),
  )
  t.ok(election.isLeader())
  t.equal(election.holder, 'a')
})

t.test('leader election lets only one of many candidates lead', async (t) => {
  const server = await startLeaseServer(t)
  const candidates = ['a', 'b', 'c', 'd', 'e'].map((identity) => startCandidate(t, server, identity))
  await until(() => candidates.some(({ election }) => election.isLeader()), 'a leader')
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
  const server = await startLeaseServer(t)
  server.put({ holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: '2001-01-01T00:00:00.000000Z', leaseTransitions: 3 })
  const { election, clock } = startCandidate(t, server, 'b')
  const milliseconds = await advanceUntil(clock, () => election.isLeader(), 20_000)
  t.ok(milliseconds >= 15_000 && milliseconds <= 15_500, `took over after ${milliseconds} ms`)
  t.equal(election.term, 4)
})

t.test('leader election keeps waiting as long as the holder renews', async (t) => {
  const server = await startLeaseServer(t)
  server.put({ holderIdentity: 'a', leaseDurationSeconds: 15 })
  const { election, clock, reported } = startCandidate(t, server, 'b')
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
  const server = await startLeaseServer(t)
  const first = startCandidate(t, server, 'a')
  await until(() => first.election.isLeader(), 'the first leader')
  const second = startCandidate(t, server, 'b')
  await until(() => second.election.holder === 'a', 'the standby has seen the leader')
  await stop(first)
  t.strictSame(first.reported, ['started', 'work ends', 'stopped'])
  t.ok((await advanceUntil(second.clock, () => second.election.isLeader(), 5_000)) <= 1_500)
})

t.test('leader election takes over from itself after a restart in the same pod', async (t) => {
  const server = await startLeaseServer(t)
  server.put({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 7 })
  const { election } = startCandidate(t, server, 'a')
  await until(() => election.isLeader(), 'the leader')
  t.equal(election.term, 8, 'a new term distinguishes the work of the old process')
})

for (const { liveness, within } of [
  { liveness: 'gone', within: [1_500, 3_500] },
  { liveness: 'alive', within: [15_000, 15_500] },
  { liveness: 'unknown', within: [15_000, 15_500] },
] as const) {
  t.test(`leader election takes over after ${within[0]} ms when the holder is ${liveness}`, async (t) => {
    const server = await startLeaseServer(t)
    server.put({ holderIdentity: 'killed', leaseDurationSeconds: 15, renewTime: 'then' })
    const asked: unknown[] = []
    const isHolderAlive = async (holder: unknown): Promise<Liveness> => {
      asked.push(holder)
      return liveness
    }
    const { election, clock } = startCandidate(t, server, 'b', { isHolderAlive })
    const milliseconds = await advanceUntil(clock, () => election.isLeader(), 20_000)
    t.ok(milliseconds >= within[0] && milliseconds <= within[1], `took over after ${milliseconds} ms`)
    t.strictSame(asked[0], { identity: 'killed', annotations: {}, renewTime: 'then' })
  })
}

t.test('leader election uses the lease duration when the state of the holder is unknown', async (t) => {
  const server = await startLeaseServer(t)
  server.put({ holderIdentity: 'killed', leaseDurationSeconds: 15 })
  const { election, clock } = startCandidate(t, server, 'b', { isHolderAlive: () => Promise.reject(new Error('forbidden')) })
  t.ok((await advanceUntil(clock, () => election.isLeader(), 20_000)) >= 15_000)
})

t.test('leader election does not take over from a holder that renews while it is reported gone', async (t) => {
  const server = await startLeaseServer(t)
  server.put({ holderIdentity: 'a', leaseDurationSeconds: 15 })
  const isHolderAlive = async (): Promise<Liveness> => {
    server.put({ renewTime: 'a moment later' })
    return 'gone'
  }
  const { election, clock } = startCandidate(t, server, 'b', { isHolderAlive })
  for (let step = 0; step < 200; step++) {
    clock.advance(100)
    await breathe()
  }
  t.equal(election.isLeader(), false)
  t.strictSame(server.writes, [])
})

t.test('leader election takes over from a holder that keeps renewing after its pod was deleted', async (t) => {
  const server = await startLeaseServer(t)
  server.put({ holderIdentity: 'a', leaseDurationSeconds: 15 })
  const { election, clock } = startCandidate(t, server, 'b', { isHolderAlive: async () => 'gone' })
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
    const server = await startLeaseServer(t)
    const { election, clock, reported } = startCandidate(t, server, 'a')
    await until(() => election.isLeader() && clock.pending > 0, 'the leader')
    server.behave(mood)
    const milliseconds = await advanceUntil(clock, () => reported.includes('expired'), 15_000)
    t.ok(milliseconds >= 9_900 && milliseconds <= 10_200, `stopped after ${milliseconds} ms`)
    t.equal(election.isLeader(), false)
    t.strictSame(reported, ['started', 'work ends', 'expired'])
    server.behave('well')
    await advanceUntil(clock, () => election.isLeader(), 20_000)
    t.equal(reported.at(-1), 'started', 'it leads again when the API server is back')
    t.equal(election.term, 1)
  })
}

t.test('leader election survives a renewal whose response was lost', async (t) => {
  const server = await startLeaseServer(t)
  const { election, clock, reported } = startCandidate(t, server, 'a')
  await until(() => election.isLeader() && clock.pending > 0, 'the leader')
  server.behave('forgetful')
  await advanceUntil(clock, () => server.writes.length === 2, 5_000)
  server.behave('well')
  await advanceUntil(clock, () => server.writes.length >= 6, 20_000)
  t.ok(election.isLeader())
  t.strictSame(reported, ['started'])
})

t.test('leader election stops leading at once when another process holds the lease', async (t) => {
  const server = await startLeaseServer(t)
  const { election, clock, reported } = startCandidate(t, server, 'a')
  await until(() => election.isLeader() && clock.pending > 0, 'the leader')
  server.put({ holderIdentity: 'b' })
  await advanceUntil(clock, () => reported.includes('taken'), 3_000)
  t.equal(election.isLeader(), false)
  t.equal(election.holder, 'b')
  t.strictSame(reported, ['started', 'work ends', 'taken'])
})

t.test('isLeader is false at once after the deadline passed in a frozen process or a suspended machine', async (t) => {
  const server = await startLeaseServer(t)
  const frozen = startCandidate(t, server, 'a')
  await until(() => frozen.election.isLeader(), 'the leader')
  frozen.clock.freeze(9_999)
  t.equal(frozen.election.isLeader(), true)
  frozen.clock.freeze(1)
  t.equal(frozen.election.isLeader(), false)
  const other = await startLeaseServer(t)
  const asleep = startCandidate(t, other, 'a')
  await until(() => asleep.election.isLeader(), 'the leader')
  asleep.clock.suspend(10_000)
  t.equal(asleep.election.isLeader(), false)
})

t.test('leader election keeps the lease until the work of the leader has ended', async (t) => {
  const server = await startLeaseServer(t)
  let finishWork = () => {}
  const onStartedLeading = () =>
    new Promise<void>((resolve) => {
      finishWork = resolve
    })
  const { election, clock } = startCandidate(t, server, 'a', { onStartedLeading })
  await until(() => election.isLeader() && clock.pending > 0, 'the leader')
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
  const server = await startLeaseServer(t)
  const { election, clock } = startCandidate(t, server, 'a', { onStartedLeading: () => Promise.reject(new Error('a bug')) })
  await until(() => election.isLeader(), 'the leader')
  await advanceUntil(clock, () => server.writes.length >= 3, 20_000)
  t.ok(election.isLeader())
})

t.test('leader election rejects inconsistent durations', async (t) => {
  const server = await startLeaseServer(t)
  const leases = leaseStore(server.http, 'tintype')
  const common = { leases, identity: 'a', onStartedLeading: () => {} }
  t.throws(() => new LeaderElection({ ...common, leaseDurationMilliseconds: 10_000 }), { message: /must last longer/ })
  t.throws(() => new LeaderElection({ ...common, renewDeadlineMilliseconds: 2_000 }), { message: /must be longer than the retry/ })
})
