import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { toObjectName } from '../../crds/src/identifiers/names.ts'
import { signalDaemon } from '../cluster/host/daemons.ts'
import { runSteps } from '../cluster/host/steps.ts'
import { place } from '../cluster/kubernetes/network.ts'
import type { ClusterFacts } from '../cluster/kubernetes/prerequisites.ts'
import { clusterSteps } from '../cluster/up.ts'
import { call, download, finished, type RecordBody } from '../support/cluster/api-client.ts'
import { kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { createPool, idleRunners, readyRunners } from '../support/cluster/pools.ts'
import { claimed, createScreenshot, ended, fileOf } from '../support/cluster/screenshots.ts'
import { STORE, sharedCluster } from '../support/cluster/tested-release.ts'
import { finishedVideo, launchPlayer, play, startVideo } from '../support/cluster/videos.ts'
import { eventually } from '../support/eventually.ts'
import { decode, isNear } from '../support/picture.ts'
import { findContainerProcess } from '../support/processes/node-processes.ts'
import { page } from '../support/servers/pages.ts'

// Kills each part of the system during captures. Every Screenshot must still end completed or failed with a correct reason, and with its
// own picture.

/** A page of one color, so that its picture shows which request it belongs to. */
const colorOf = (n: number): [number, number, number] => [(n * 37) % 256, (n * 91) % 256, (n * 151) % 256]
const hex = (n: number): string =>
  colorOf(n)
    .map((channel) => channel.toString(16).padStart(2, '0'))
    .join('')
const colorPage = (n: number): string => page(`/solid?color=${hex(n)}`)

const create = async (url: string, options: object = {}): Promise<string> => {
  const { body, status } = await call<RecordBody>('/api/v1/screenshots', { method: 'POST', body: { url, options } })
  if (status !== 202) throw new Error(`create answered ${status}: ${JSON.stringify(body)}`)
  return body.id
}

const running = (id: string) => claimed(toObjectName(id))

const small = { viewport_width: 64, viewport_height: 64 }
const smallOptions = { viewportWidth: 64, viewportHeight: 64 }

t.test('a screenshot survives a runner that is killed during its capture, with one more attempt', async (t) => {
  const id = await create(colorPage(1), { ...small, delay: 6000 })
  const { status } = await running(id)
  process.kill(await findContainerProcess(status?.runner?.pod ?? '', 'runner'), 'SIGKILL')
  const record = await finished(id, 120_000)
  t.equal(record.status, 'completed', JSON.stringify(record.error))
  t.equal(record.attempts, 2)
  t.ok(isNear((await decode(await download(record))).at(32, 32), colorOf(1)))
})

t.test('a video survives a runner that is killed during its recording, with one more attempt', { timeout: 400_000 }, async (t) => {
  const moving = { viewport_width: 320, viewport_height: 240, format: 'mp4', video_duration: 4, delay: 3_000 }
  const id = await startVideo(colorPage(3), moving)
  const { status } = await running(id)
  process.kill(await findContainerProcess(status?.runner?.pod ?? '', 'runner'), 'SIGKILL')
  const video = await finishedVideo(id, { milliseconds: 300_000 })
  t.match(video, { status: 'completed', frames: 120, duration_ms: 4_000, attempts: 2 }, JSON.stringify(video.error))
  const player = await launchPlayer()
  t.teardown(() => player.close())
  const { ended, picture } = await play(player, video.download_url ?? '')
  t.ok(ended)
  t.ok(isNear((await decode(picture)).at(160, 120), colorOf(3), 8))
})

t.test('a screenshot survives a runner pod that is deleted during its capture, without another attempt', async (t) => {
  const id = await create(colorPage(2), { ...small, delay: 6000 })
  const { status } = await running(id)
  await kubectl(['delete', 'pod', status?.runner?.pod ?? '', '--wait=false'])
  const record = await finished(id, 120_000)
  t.match(record, { status: 'completed', attempts: 1 }, JSON.stringify(record.error))
  t.ok(isNear((await decode(await download(record))).at(32, 32), colorOf(2)))
})

const leaderOf = async (): Promise<{ name: string; uid: string }> => {
  const lease = await kubectlJson<{ spec: { holderIdentity: string } }>(['get', 'lease', 'tintype-operator'])
  const pods = await kubectlJson<{ items: { metadata: { name: string; uid: string } }[] }>([
    'get',
    'pods',
    '-l',
    'app.kubernetes.io/component=operator',
  ])
  const leader = pods.items.find(({ metadata }) => metadata.uid === lease.spec.holderIdentity)
  if (!leader) throw new Error('the lease names no operator pod')
  return leader.metadata
}

/** Number of leader changes. */
const termOf = async (): Promise<number> =>
  (await kubectlJson<{ spec: { leaseTransitions: number } }>(['get', 'lease', 'tintype-operator'])).spec.leaseTransitions

/** Checks that each screenshot ends completed, with the color of its own page. */
async function allShowTheirOwn(t: Test, ids: readonly string[], milliseconds: number): Promise<void> {
  const faults: string[] = []
  for (const [n, id] of ids.entries()) {
    const record = await finished(id, milliseconds)
    if (record.status !== 'completed') faults.push(`${id}: ${JSON.stringify(record.error)}`)
    else if (!isNear((await decode(await download(record))).at(32, 32), colorOf(n))) faults.push(`${id} shows another page`)
  }
  t.strictSame(faults, [])
}

t.test('no screenshot is lost and no file is mixed up when the leader is killed during a batch of 20', { timeout: 400_000 }, async (t) => {
  const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => create(colorPage(n), small)))
  const before = await leaderOf()
  const termBefore = await termOf()
  process.kill(await findContainerProcess(before.name, 'operator'), 'SIGKILL')
  await allShowTheirOwn(t, ids, 300_000)
  t.ok((await termOf()) > termBefore, 'another replica has become leader')
})

t.test('a screenshot survives a frozen runner, with one more attempt', { timeout: 300_000 }, async (t) => {
  const id = await create(colorPage(7), { ...small, delay: 4000, timeout: 1000 })
  const { status } = await running(id)
  const pod = status?.runner?.pod ?? ''
  await kubectl(['exec', pod, '--', 'sh', '-c', 'kill -STOP $(pidof node)'])
  const record = await finished(id, 240_000)
  t.match(record, { status: 'completed', attempts: 2 }, JSON.stringify(record.error))
  t.ok(isNear((await decode(await download(record))).at(32, 32), colorOf(7)))
})

/** Allocates blocks of 32 MiB up to the number of bytes in its argument. */
const GREED = `const taken = []
const timer = setInterval(() => (taken.length * 2 ** 25 < Number(process.argv[1]) ? taken.push(Buffer.alloc(2 ** 25, 1)) : clearInterval(timer)), 10)
setTimeout(() => process.exit(), 10_000)`

/**
 * Makes the kernel kill the runner for memory: a greedy process joins the container, the memory limit is just above the current use, and
 * the runner has the highest oom_score_adj.
 */
async function starve(t: Test, pod: string): Promise<void> {
  const pid = await findContainerProcess(pod, 'runner')
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8')
  const [, first] = /^\d+:memory:(.*)$/m.exec(groups) ?? []
  const [, second = ''] = /^0::(.*)$/m.exec(groups) ?? []
  const group = first === undefined ? `/sys/fs/cgroup${second}` : `/sys/fs/cgroup/memory${first}`
  const [used, limit] = first === undefined ? ['memory.current', 'memory.max'] : ['memory.usage_in_bytes', 'memory.limit_in_bytes']
  const bytes = Number(await readFile(`${group}/${used}`, 'utf8')) + 2 ** 24
  await writeFile(`/proc/${pid}/oom_score_adj`, '1000')
  await writeFile(`${group}/${limit}`, String(bytes))
  const greedy = spawn(process.execPath, ['-e', GREED, String(bytes)], { stdio: 'ignore' })
  t.teardown(() => greedy.kill('SIGKILL'))
  await writeFile(`${group}/cgroup.procs`, String(greedy.pid))
}

t.test('a screenshot survives a runner that the kernel kills for memory, with one more attempt', { timeout: 300_000 }, async (t) => {
  const poolName = await createPool(t, 'starved', { minIdle: 1, maxPods: 2 })
  await idleRunners(poolName)
  const name = await createScreenshot(t, { url: colorPage(11), poolName, options: { ...smallOptions, delay: 20_000 } })
  const { status } = await claimed(name)
  await starve(t, status?.runner?.pod ?? '')
  const done = await ended(name, 240_000)
  t.match(done.status, { phase: 'Completed', attempt: 2, lostRunners: 1 }, JSON.stringify(done.status))
  t.ok(isNear((await decode(await fileOf(name))).at(32, 32), colorOf(11)))
})

t.test('a new pod template replaces every runner of a busy pool without aborting captures', { timeout: 300_000 }, async (t) => {
  const poolName = await createPool(t, 'rolled', { minIdle: 1, maxPods: 3 })
  const [before] = await idleRunners(poolName)
  const shoot = (n: number) => createScreenshot(t, { url: colorPage(n), poolName, options: { ...smallOptions, delay: 1500 } })
  const names = await Promise.all(Array.from({ length: 4 }, (_, n) => shoot(n)))
  const template = [{ op: 'add', path: '/spec/podTemplate/resources', value: { requests: { cpu: '90m' } } }]
  await kubectl(['patch', 'runnerpool', poolName, '--type=json', '-p', JSON.stringify(template)])
  for (let n = names.length; n < 8; n++) names.push(await shoot(n))
  const done = await Promise.all(names.map((name) => ended(name, 240_000)))
  // The statuses of the others say what happened to them. On a busy machine, a browser may fail to open a page in time, which costs an attempt, too.
  t.strictSame(
    done.flatMap(({ status }) => (status?.phase === 'Completed' && status.lostRunners === undefined ? [] : [status])),
    [],
  )
  for (const [n, name] of names.entries()) t.ok(isNear((await decode(await fileOf(name))).at(32, 32), colorOf(n)), `picture ${n}`)
  await eventually(
    'the old pods are gone and a new one is ready',
    async () => {
      const ready = await readyRunners(poolName)
      return ready.length > 0 && !ready.some(({ uid }) => uid === before?.uid)
    },
    120_000,
  )
})

/**
 * Waits until the node is Ready, so that the next test does not start while pods are out of their Services. After an API server outage, a
 * late kubelet heartbeat makes the node NotReady, and all its pods except the test pages (sites.yaml) leave their Services.
 */
async function whenNodeIsReady(since: number): Promise<void> {
  await eventually(
    'the kubelet has renewed its lease, and every pod is ready',
    async () => {
      const leases = await kubectlJson<{ items: { spec: { renewTime: string } }[] }>(['get', 'leases', '-n', 'kube-node-lease'])
      if (!leases.items.every(({ spec }) => Date.parse(spec.renewTime) > since)) return false
      const { items: slices } = await kubectlJson<{ items: EndpointSlice[] }>(['get', 'endpointslices', '-A'])
      if (!slices.every(({ endpoints }) => endpoints?.every(({ conditions }) => conditions.ready !== false) ?? true)) return false
      const { items: pods } = await kubectlJson<{ items: RunningPod[] }>(['get', 'pods', '-A', '--field-selector=status.phase=Running'])
      return pods.every(({ status }) => status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    },
    180_000,
  )
  // The node's network rules follow the API a moment later. A successful capture shows that they did.
  await eventually('a page can be reached', async () => (await finished(await create(colorPage(0), small))).status === 'completed')
}

interface EndpointSlice {
  endpoints?: { conditions: { ready?: boolean } }[] | null
}

interface RunningPod {
  status: { conditions: { type: string; status: string }[] }
}

t.test('no screenshot is lost when the API server is down for 20 s', { timeout: 400_000, skip: sharedCluster }, async (t) => {
  const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => create(colorPage(n), { ...small, delay: 2000 })))
  // With leader election, as in other clusters, the controllers end when they cannot renew their lease. Otherwise their caches can miss what was written last.
  for (const daemon of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) await signalDaemon(place, daemon, 'SIGKILL')
  await pause(20_000)
  const facts: ClusterFacts = { hasOutboundNetwork: false }
  await runSteps(clusterSteps(facts), { write: () => undefined, isTerminal: false, columns: 120 })
  const isBackSince = Date.now()
  await allShowTheirOwn(t, ids, 300_000)
  await whenNodeIsReady(isBackSince)
})

t.test('no screenshot is lost when the bucket is unavailable for 10 s', { timeout: 400_000 }, async (t) => {
  const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => create(colorPage(n), { ...small, delay: 2000 })))
  await kubectl(['scale', 'statefulset', STORE, '--replicas=0'])
  await pause(10_000)
  await kubectl(['scale', 'statefulset', STORE, '--replicas=1'])
  await eventually(
    'the bucket is back',
    async () => (await call<{ status: string }>('/api/v1/status')).body.status === 'operational',
    120_000,
  )
  await allShowTheirOwn(t, ids, 300_000)
  // The next file must not start while a gateway is out of its Service because of the bucket.
  await whenNodeIsReady(Date.now())
})
