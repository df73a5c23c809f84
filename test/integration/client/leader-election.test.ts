import t, { type Test } from 'tap'
import { pods } from '../../../crds/client/core-resources.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { HOLDER_POD_ANNOTATION, holderPodProbe } from '../../../operator/src/controller-runtime/holder-pod.ts'
import { LeaderElection, type LeaderElectionOptions } from '../../../operator/src/controller-runtime/leader-election.ts'
import { leaseStore } from '../../../operator/src/controller-runtime/lease.ts'
import { eventually } from '../../support/eventually.ts'
import { startPlane, startProxy } from './plane.ts'

const plane = await startPlane(t, { own: true })
const quick = { leaseDurationMilliseconds: 8_000, renewDeadlineMilliseconds: 6_000, retryMilliseconds: 500, pollMilliseconds: 300 }
/** Lease durations that do not expire during a test. */
const long = { leaseDurationMilliseconds: 600_000, renewDeadlineMilliseconds: 500_000 }

/** A candidate with its own connection to the API server. */
async function startCandidate(t: Test, lease: string, identity: string, options: Partial<LeaderElectionOptions> = {}) {
  const proxy = await startProxy(t, plane.url)
  const reported: string[] = []
  const election = new LeaderElection({
    leases: leaseStore(plane.connect(t, { server: proxy.url }), lease),
    identity,
    ...quick,
    onStartedLeading: () => void reported.push('started'),
    onStoppedLeading: (reason) => reported.push(reason),
    ...options,
  })
  t.teardown(() => election.stop())
  election.start()
  const vanish = () => {
    proxy.refuse(true)
    proxy.cut()
  }
  return { election, reported, proxy, vanish }
}

type Candidate = Awaited<ReturnType<typeof startCandidate>>

/** Counts every few milliseconds how many candidates consider themselves the leader. Returns the maximum. */
function watchLeaders(t: Test, candidates: readonly Candidate[]): () => number {
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, candidates.filter(({ election }) => election.isLeader()).length)
  }, 5)
  t.teardown(() => clearInterval(timer))
  return () => most
}

const leads = (candidate: Candidate) => async () => candidate.election.isLeader()

t.test('leader election hands over on release, and never has two leaders', async (t) => {
  const first = await startCandidate(t, 'release', 'first', long)
  await eventually('the first leader', leads(first))
  const second = await startCandidate(t, 'release', 'second', long)
  const most = watchLeaders(t, [first, second])
  await eventually('the standby knows the leader', async () => second.election.holder === 'first')
  await first.election.stop()
  await eventually('the second leader', leads(second))
  t.strictSame(first.reported, ['started', 'stopped'])
  t.equal(second.election.term, first.election.term + 1)
  t.equal(most(), 1)
})

t.test('leader election replaces a leader without a connection to the API server after it has stopped leading', async (t) => {
  const first = await startCandidate(t, 'vanish', 'first')
  await eventually('the first leader', leads(first))
  const second = await startCandidate(t, 'vanish', 'second')
  const most = watchLeaders(t, [first, second])
  await eventually('the standby knows the leader', async () => second.election.holder === 'first')
  first.vanish()
  await eventually('the second leader', leads(second))
  t.equal(first.election.isLeader(), false)
  t.equal(first.reported[1], 'expired')
  first.proxy.refuse(false)
  await eventually('the first knows the new leader', async () => first.election.holder === 'second')
  t.equal(most(), 1)
})

t.test('leader election keeps its leader during a restart of the API server that is shorter than the renew deadline', async (t) => {
  const candidates = await Promise.all(['a', 'b', 'c'].map((identity) => startCandidate(t, 'restart', identity, long)))
  const leader = () => candidates.find(({ election }) => election.isLeader())
  await eventually('a leader', async () => leader() !== undefined)
  const before = leader()
  const most = watchLeaders(t, candidates)
  await plane.restart()
  const { term } = before!.election
  const lease = leaseStore(plane.connect(t), 'restart')
  const renewTime = async () => (await lease.find(AbortSignal.timeout(30_000)))?.spec?.renewTime
  const then = await renewTime()
  await eventually('a renewal after the restart', async () => (await renewTime()) !== then)
  t.equal(leader(), before)
  t.equal(before!.election.term, term)
  t.equal(most(), 1)
})

t.test('leader election replaces a leader whose pod was killed long before its lease expires', async (t) => {
  const client = new Resource(plane.connect(t), pods)
  const container = { name: 'operator', image: 'none' }
  const pod = await client.create({ metadata: { name: 'operator-1' }, spec: { containers: [container] } })
  const running = {
    name: 'operator',
    state: { running: { startedAt: new Date(0).toISOString() } },
    ready: true,
    restartCount: 0,
    image: '',
    imageID: '',
  }
  await client.patch('operator-1', mergePatch({ status: { phase: 'Running', containerStatuses: [running] } }), { subresource: 'status' })
  const first = await startCandidate(t, 'pod', pod.metadata.uid!, { ...long, holderAnnotations: { [HOLDER_POD_ANNOTATION]: 'operator-1' } })
  await eventually('the first leader', leads(first))
  const isHolderAlive = holderPodProbe({ http: plane.connect(t), container: 'operator' })
  const second = await startCandidate(t, 'pod', 'second', { ...long, isHolderAlive })
  await eventually('the standby knows the leader', async () => second.election.holder === pod.metadata.uid)
  first.vanish()
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  t.equal(second.election.isLeader(), false, 'a silent leader whose container runs keeps its lease')
  const killed = { ...running, state: { terminated: { exitCode: 137, startedAt: new Date(0).toISOString() } } }
  await client.patch('operator-1', mergePatch({ status: { containerStatuses: [killed] } }), { subresource: 'status' })
  await eventually('the second leader', leads(second))
  t.equal(second.election.term, 1)
})
