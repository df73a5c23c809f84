import t, { type Test } from 'tap'
import { type ConfigMap, configMaps, pods } from '../../../crds/client/kinds.ts'
import { Reflector, type ReflectorEvent, type ReflectorOptions } from '../../../crds/client/reflector.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import {
  HOLDER_POD_ANNOTATION,
  holderPodProbe,
  LeaderElection,
  type LeaderElectionOptions,
} from '../../../operator/src/controller-runtime/leader-election.ts'
import { leaseStore } from '../../../operator/src/controller-runtime/lease.ts'
import { eventually } from '../../support/eventually.ts'
import { startPlane, startProxy } from './plane.ts'

// Leaders and reflectors during restarts of the API server, and on connections that break.

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

/** A reflector of one test's config maps, and a client that does not use its connections. */
function startReflector(t: Test, label: string, options: Partial<ReflectorOptions<ConfigMap>> & { server?: string } = {}) {
  const { server, ...rest } = options
  const http = plane.connect(t, server ? { server } : {})
  const events: ReflectorEvent<ConfigMap>[] = []
  const relists: string[] = []
  const ends: string[] = []
  let missed = 0
  const reflector = new Reflector({
    http,
    resource: configMaps,
    labelSelector: `test=${label}`,
    metrics: {
      onRelist: ({ reason }) => relists.push(reason),
      onWatchEnd: ({ reason }) => ends.push(reason),
      onMissed: ({ count }) => {
        missed += count
      },
    },
    ...rest,
  })
  reflector.addListener((event) => events.push(event))
  t.teardown(() => reflector.stop())
  reflector.start()
  const client = new Resource(plane.connect(t), configMaps)
  const create = (name: string) => client.create({ metadata: { name: `${label}-${name}`, labels: { test: label } }, data: { at: '1' } })
  const has = (name: string) => reflector.lister.has(`${plane.namespace}/${label}-${name}`)
  const reported = () => events.map(({ type, object }) => `${type} ${object.metadata.name.slice(label.length + 1)}`)
  return { reflector, client, create, has, reported, events, relists, ends, missed: () => missed }
}

t.test('reflector survives an API server that is unavailable for two seconds, and misses nothing', async (t) => {
  const { reflector, create, has, relists } = startReflector(t, 'restart')
  await reflector.whenSynced()
  await create('before')
  await eventually('the first event', async () => has('before'))
  await plane.restart(2_000)
  await create('after')
  await eventually('the event after the restart', async () => has('after'))
  t.ok(has('before'))
  t.ok(relists.filter((reason) => reason === 'initial').length === 1, `lists: ${relists.join()}`)
})

t.test('reflector catches up after deletions and a compaction during a disconnection', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const { reflector, client, create, has, reported, relists } = startReflector(t, 'compact', { server: proxy.url })
  await reflector.whenSynced()
  for (const name of ['kept', 'changed', 'deleted', 'replaced']) await create(name)
  await eventually('the four', async () => reflector.lister.size === 4)
  const before = reflector.lister.get(`${plane.namespace}/compact-replaced`)?.metadata.uid
  proxy.refuse(true)
  proxy.cut()
  await client.patch('compact-changed', mergePatch({ data: { at: '2' } }))
  await client.delete('compact-deleted')
  await client.delete('compact-replaced')
  await create('replaced')
  await create('new')
  await plane.compact()
  await plane.restart()
  // Objects of other kinds advance the store, so that the old version is beyond the watch cache of the new API server.
  for (let n = 0; n < 5; n++) await client.create({ metadata: { name: `compact-noise-${n}` } })
  proxy.refuse(false)
  await eventually('the object created meanwhile', async () => has('new'))
  t.strictSame(relists, ['initial', 'expired'])
  t.strictSame(reported().slice(4).sort(), ['added new', 'deleted deleted', 'modified changed', 'modified replaced'])
  t.not(reflector.lister.get(`${plane.namespace}/compact-replaced`)?.metadata.uid, before)
  await create('afterwards')
  await eventually('an event of the new watch', async () => has('afterwards'))
})

t.test('reflector detects a connection that drops all traffic', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const { reflector, create, has, ends } = startReflector(t, 'swallow', { server: proxy.url, idleMilliseconds: 1_500 })
  await reflector.whenSynced()
  await create('heard')
  await eventually('the first event', async () => has('heard'))
  proxy.swallow()
  await create('swallowed')
  await eventually('the event that was dropped', async () => has('swallowed'))
  t.ok(ends.includes('idle'), ends.join())
})

t.test('reflector continues after resets during many writes, and reports each change once', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const { reflector, create, events, missed } = startReflector(t, 'storm', { server: proxy.url, rewatchMilliseconds: 50 })
  await reflector.whenSynced()
  const cutting = setInterval(() => proxy.cut(), 100)
  t.teardown(() => clearInterval(cutting))
  for (let n = 0; n < 150; n++) await create(String(n))
  clearInterval(cutting)
  await eventually('all objects', async () => reflector.lister.size === 150)
  t.equal(events.length, 150)
  t.equal(new Set(events.map(({ object }) => object.metadata.uid)).size, 150)
  t.equal(missed(), 0)
  const paged = startReflector(t, 'storm', { pageSize: 40 })
  await paged.reflector.whenSynced()
  t.equal(paged.reflector.lister.size, 150, 'the pages of a list have all of them')
})
