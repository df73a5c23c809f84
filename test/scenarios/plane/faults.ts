import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pods as podResource } from '../../../crds/client/kinds.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { run } from '../../cluster/host/exec.ts'
import { ensurePackages } from '../../cluster/host/packages.ts'
import { createDirectory } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { type Context, type Report, scenario } from '../harness/scenario.ts'
import { type GatewayPod, type OperatorPod, type Plane, type PlaneOptions, plane, type StartOptions } from './stage/plane.ts'
import { findLeader, prepareAccountsAndRunners, readMetric } from './stage/programs.ts'
import { sendSteadily } from './stage/requests.ts'
import { openLink, type TcpLink } from './stage/tcp-link.ts'
import { checkPictures, watchEnds } from './stage/verify.ts'

// Injects one fault under load. Afterwards each accepted Screenshot must have finished exactly once, with its own picture.

/** The load continues for this long after the fault. */
const AFTER_MILLISECONDS = 10_000
const AWAY_MILLISECONDS = 20_000
const SKEW_SECONDS = 90
/** A silent watch is reopened after at most 45 s (crds/client/reflector.ts). Pending requests are then repeated. */
const FORGOTTEN_MILLISECONDS = 75_000
const FORGOTTEN_GAP_SECONDS = 60
const SLOW_MILLISECONDS = 1_000
const FULL_MEBIBYTES = 300
/** After this time without a heartbeat the controller manager marks a node and its pods NotReady. */
const NOT_READY_MILLISECONDS = 40_000
const RUNNERS = 10
const PER_SECOND = 4
const CAPTURE_MILLISECONDS = 1_000
const CALM_MILLISECONDS = 5_000
const MAX_LOAD_SECONDS = 600
const MARGIN_SECONDS = 5
const LINE = 1_000
const UNAVAILABLE = '503 '

/** Everything that a fault can manipulate. */
interface Scene extends Pick<Report, 'note' | 'progress'> {
  stage: Plane
  operators: OperatorPod[]
  gateway: GatewayPod
  /** Links of the operators to the API server, in the order of `operators`. */
  operatorLinks: TcpLink[]
  gatewayLink: TcpLink
  /** Link of all programs to the store. */
  storeLink: TcpLink
}

/** One fault to inject. */
interface Fault {
  name: string
  shows: string
  /** Causes the fault and repairs it. */
  cause: (scene: Scene) => Promise<void>
  /** Special options for starting the programs. */
  operatorOptions?: StartOptions
  gatewayOptions?: StartOptions
  storeDirectory?: PlaneOptions['storeDirectory']
  /** Maximum time without a started capture. */
  maxGapSeconds?: number
  /** True if clients may get 503 during the fault. */
  mayRefuse?: boolean
}

/** Something that stops the leader. It goes on after another operator leads. */
const withoutLeader = (
  name: string,
  shows: string,
  stop: (leader: OperatorPod, link: TcpLink) => unknown,
  go: (leader: OperatorPod, link: TcpLink) => unknown,
): Fault => ({
  name,
  shows,
  cause: async ({ operators, operatorLinks, note }) => {
    const leader = await findLeader(operators)
    const link = operatorLinks[operators.indexOf(leader)]!
    const others = operators.filter((operator) => operator !== leader)
    stop(leader, link)
    const started = performance.now()
    await eventually('another leads', async () => (await Promise.all(others.map((other) => other.isLeader()))).includes(true))
    const seconds = (performance.now() - started) / 1_000
    await sleep(AFTER_MILLISECONDS / 2)
    go(leader, link)
    await sleep(AFTER_MILLISECONDS)
    note('time until another operator led', `${seconds.toFixed(1)} s`)
  },
})

/** Compacts etcd to the current revision. */
async function compact(url: string): Promise<void> {
  const call = async (path: string, body: object) => {
    const answer = await fetch(`${url}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}: ${await answer.text()}`)
    return (await answer.json()) as { header: { revision: string } }
  }
  const { header } = await call('range', { key: Buffer.from([0]).toString('base64') })
  await call('compaction', { revision: header.revision, physical: true })
}

const skewed = (name: string, operatorSeconds: number, gatewaySeconds: number): Fault => ({
  name,
  shows: `the operator’s clock is ${operatorSeconds} s off and the gateway’s ${gatewaySeconds} s`,
  operatorOptions: { clockSeconds: operatorSeconds },
  gatewayOptions: { clockSeconds: gatewaySeconds },
  storeDirectory: async (ends, progress) => {
    await ensurePackages(progress, ['libfaketime'])
    return createDirectory(ends, 'skewed')
  },
  cause: async () => {
    await sleep(2 * AFTER_MILLISECONDS)
  },
})

let volume = ''

/** Faults of clusters that need no kubelet. */
const FAULTS: readonly Fault[] = [
  withoutLeader(
    'leader-frozen',
    'the leader is frozen (SIGSTOP) until another operator leads, and continues',
    ({ process }) => process.kill('SIGSTOP'),
    ({ process }) => process.kill('SIGCONT'),
  ),
  withoutLeader(
    'leader-partitioned',
    'the leader loses the API server until another operator leads, and reconnects',
    (_, link) => link.cut(),
    (_, link) => link.heal(),
  ),
  {
    name: 'api-server',
    shows: 'the API server is killed and restarts after 5 s',
    mayRefuse: true,
    cause: async ({ stage }) => {
      await stage.release.plane.restart(5_000)
      await sleep(AFTER_MILLISECONDS)
    },
  },
  {
    name: 'etcd-compacted',
    shows: 'etcd is compacted and the API server restarts, so that every watch must list again',
    mayRefuse: true,
    cause: async (scene) => {
      const { stage, operators, note } = scene
      const leader = await findLeader(operators)
      const relists = () => readMetric(leader, 'reflector_relists_total')
      const before = await relists()
      const restarting = stage.release.plane.restart(3_000)
      await sleep(1_000)
      await compact(stage.release.plane.etcdUrl)
      await restarting
      await sleep(AFTER_MILLISECONDS)
      await compact(stage.release.plane.etcdUrl)
      await sleep(AFTER_MILLISECONDS)
      note('lists of the leader', `${(await relists()) - before} more`)
    },
  },
  {
    name: 'watches-dropped',
    shows: 'the network silently drops every connection to the API server',
    maxGapSeconds: FORGOTTEN_GAP_SECONDS,
    mayRefuse: true,
    cause: async ({ operatorLinks, gatewayLink }) => {
      for (const link of [...operatorLinks, gatewayLink]) link.forget()
      await sleep(FORGOTTEN_MILLISECONDS)
    },
  },
  {
    name: 'store-down',
    shows: 'MinIO is unavailable for 20 s',
    mayRefuse: true,
    cause: async ({ stage }) => {
      await stage.minio.restart(AWAY_MILLISECONDS)
      await sleep(AFTER_MILLISECONDS)
    },
  },
  {
    name: 'store-slow',
    shows: 'every response of MinIO takes two more seconds',
    cause: async ({ storeLink }) => {
      storeLink.delay(SLOW_MILLISECONDS)
      await sleep(AWAY_MILLISECONDS)
      storeLink.delay(0)
      await sleep(AFTER_MILLISECONDS)
    },
  },
  {
    name: 'store-full',
    shows: 'MinIO’s disk is full for 20 s',
    mayRefuse: true,
    storeDirectory: async (ends) => {
      const base = await createDirectory(ends, 'full')
      volume = path.join(base, 'volume')
      await mkdir(volume)
      const image = path.join(base, 'image')
      await run('truncate', ['-s', `${FULL_MEBIBYTES}M`, image])
      await run('mkfs.ext4', ['-q', image])
      await run('mount', ['-o', 'loop', image, volume])
      ends.teardown(() => run('umount', ['--lazy', volume]))
      return path.join(volume, 'store')
    },
    cause: async ({ progress }) => {
      const ballast = path.join(volume, 'ballast')
      const { bavail, bsize } = await statfs(volume)
      const free = Math.floor((bavail * bsize) / 2 ** 20)
      const chunk = Buffer.alloc(2 ** 20)
      for (let n = 0; n < free; n++) await writeFile(ballast, chunk, { flag: 'a' }).catch(() => undefined)
      progress(`${free} MiB of ballast`)
      await sleep(AWAY_MILLISECONDS)
      await rm(ballast)
      await sleep(2 * AFTER_MILLISECONDS)
    },
  },
  {
    name: 'node-lost',
    shows: 'the node of half of the runners is lost, and returns after other runners took over',
    cause: async ({ stage, note, progress }) => {
      const pods = new Resource(stage.admin, podResource)
      const { lost } = await stage.fleet.ask({ loseHalf: true })
      await sleep(NOT_READY_MILLISECONDS)
      progress(`${lost.length} pods are called unready`)
      const status = {
        conditions: [
          { type: 'Ready', status: 'False', reason: 'NodeNotReady', lastTransitionTime: new Date().toISOString().replace(/\.\d+Z/, 'Z') },
        ],
      }
      for (const pod of lost) await pods.patch(pod, mergePatch({ status }), { subresource: 'status' }).catch(() => undefined)
      const started = performance.now()
      await eventually(
        'no Screenshot is running on a lost pod',
        async () => {
          const running = (await stage.screenshots.listAll()).filter(({ status }) => status?.phase === 'Running')
          return !running.some(({ status }) => lost.includes(status?.runner?.pod ?? ''))
        },
        400_000,
      )
      const seconds = (performance.now() - started) / 1_000
      await stage.fleet.ask({ loseHalf: false })
      await sleep(2 * AFTER_MILLISECONDS)
      note('time until its captures were with others', `${seconds.toFixed(0)} s after it was called NotReady`)
    },
  },
  skewed('clocks-ahead', SKEW_SECONDS, -SKEW_SECONDS),
  skewed('clocks-behind', -SKEW_SECONDS, SKEW_SECONDS),
]

async function openScene(
  stage: Plane,
  { operatorOptions = {}, gatewayOptions = {} }: Fault,
  { note, progress }: Pick<Report, 'note' | 'progress'>,
): Promise<Scene & { keys: string[] }> {
  const apiServerPort = Number(new URL(stage.release.plane.url).port)
  const link = async (port: number) => {
    const opened = await openLink(port)
    stage.ends.teardown(() => opened.close())
    return opened
  }
  const storeLink = await link(stage.minio.port)
  const operatorLinks = [await link(apiServerPort), await link(apiServerPort)]
  const gatewayLink = await link(apiServerPort)
  // The certificates of the control plane are new, so they are not yet valid for a program whose clock is behind.
  const behind = -Math.min(0, operatorOptions.clockSeconds ?? 0, gatewayOptions.clockSeconds ?? 0)
  if (behind > 0) await sleep((behind + MARGIN_SECONDS) * 1_000)
  const operators: OperatorPod[] = []
  for (const { port } of operatorLinks)
    operators.push(await stage.startOperator({ ...operatorOptions, apiServerPort: port, storePort: storeLink.port }))
  const { gateway, keys } = await prepareAccountsAndRunners(stage, {
    runners: RUNNERS,
    captureMilliseconds: CAPTURE_MILLISECONDS,
    gateway: { ...gatewayOptions, apiServerPort: gatewayLink.port, storePort: storeLink.port },
  })
  return { stage, operators, gateway, operatorLinks, gatewayLink, storeLink, note, progress, keys }
}

async function injectFault({ stage, ...report }: Context<Plane>, fault: Fault): Promise<void> {
  const scene = await openScene(stage, fault, report)
  const { gateway, keys } = scene
  const ends = await watchEnds(stage.admin)
  const over = new AbortController()
  const asking = sendSteadily({ urls: [gateway.url], keys, perSecond: PER_SECOND, seconds: MAX_LOAD_SECONDS, signal: over.signal })
  await sleep(CALM_MILLISECONDS)
  report.progress(fault.shows)
  await fault.cause(scene).finally(() => over.abort())
  const asked = await asking
  report.progress('the load is over')
  const outcome = await checkPictures(report, gateway.url, asked.accepted)
  const state = await stage.fleet.ask({ times: true })
  // Screenshots of clients that had disconnected were not checked.
  const names = new Set(asked.accepted.map(({ id }) => toObjectName(id)))
  const repeated = state.repeated.filter((name) => names.has(name)).length
  await ends.stop()
  report.holds('no Screenshot finished twice', ends.faults.length === 0, ends.faults.slice(0, 3).join('; ') || 'none')
  const claim = 'captures were repeated only as attempts that the record counts'
  report.holds(claim, repeated <= outcome.repeated, `${repeated} begun more than once`)
  const refused = Object.entries(asked.others).map(([what, count]) => `${count} × ${what}`)
  report.holds(
    fault.mayRefuse ? 'every rejected request got a 503' : 'every request was accepted',
    Object.keys(asked.others).every((what) => fault.mayRefuse && what.startsWith(UNAVAILABLE)),
    refused.join(', ') || 'all accepted',
  )
  const gapSeconds = longestGap(Object.values(state.times)) / 1_000
  const gap = 'longest time without a started capture'
  if (fault.maxGapSeconds === undefined) report.note(gap, `${gapSeconds.toFixed(1)} s`)
  else report.atMost(gap, gapSeconds, fault.maxGapSeconds, 's', 1)
  for (const program of [...scene.operators, gateway]) {
    const errors = program
      .output()
      .split('\n')
      .filter((line) => /"level":50/.test(line))
    for (const line of errors.slice(-2)) report.progress(line.slice(0, LINE))
  }
}

function longestGap(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.max(0, ...sorted.slice(1).map((time, n) => time - (sorted[n] ?? time)))
}

export const faults = FAULTS.map((fault) =>
  scenario({
    name: fault.name,
    shows: fault.shows,
    stage: plane(fault.storeDirectory ? { storeDirectory: fault.storeDirectory } : {}),
    run: (context: Context<Plane>) => injectFault(context, fault),
  }),
)
