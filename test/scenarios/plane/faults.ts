import { mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pods as podResource } from '../../../crds/client/core-resources.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { run } from '../../cluster/host/exec.ts'
import { ensurePackages } from '../../cluster/host/packages.ts'
import { eventually } from '../../support/eventually.ts'
import { type Fault, type Scene, toScenario } from './fault.ts'
import type { OperatorPod } from './stage/plane.ts'
import { findLeader, readMetric } from './stage/programs.ts'

/** The load continues for this long after the fault. */
const AFTER_MILLISECONDS = 10_000
const AWAY_MILLISECONDS = 20_000
const SKEW_SECONDS = 90
/** A silent watch is reopened after at most 45 s (crds/client/reflector.ts). Pending requests are then repeated. */
const FORGOTTEN_MILLISECONDS = 75_000
const FORGOTTEN_GAP_SECONDS = 60
const SLOW_MILLISECONDS = 1_000
const FULL_MEBIBYTES = 300

const others = ({ operators }: Scene, leader: OperatorPod) => operators.filter((operator) => operator !== leader)

/** Resolves to the seconds until another operator is the leader. */
async function whenAnotherLeads(scene: Scene, leader: OperatorPod): Promise<string> {
  const started = performance.now()
  await eventually('another leads', async () => (await Promise.all(others(scene, leader).map((other) => other.isLeader()))).includes(true))
  return `another led after ${((performance.now() - started) / 1_000).toFixed(1)} s`
}

const frozenLeader: Fault = {
  name: 'leader-frozen',
  shows: 'the leader is frozen (SIGSTOP) until another operator leads, and continues',
  cause: async (scene) => {
    const leader = await findLeader(scene.operators)
    leader.process.kill('SIGSTOP')
    const state = await whenAnotherLeads(scene, leader)
    await sleep(AFTER_MILLISECONDS / 2)
    leader.process.kill('SIGCONT')
    await sleep(AFTER_MILLISECONDS)
    return state
  },
}

const partitionedLeader: Fault = {
  name: 'leader-partitioned',
  shows: 'the leader loses the API server until another operator leads, and reconnects',
  cause: async (scene) => {
    const leader = await findLeader(scene.operators)
    const link = scene.operatorLinks[scene.operators.indexOf(leader)]
    link?.cut()
    const state = await whenAnotherLeads(scene, leader)
    await sleep(AFTER_MILLISECONDS / 2)
    link?.heal()
    await sleep(AFTER_MILLISECONDS)
    return state
  },
}

const restartedApiServer: Fault = {
  name: 'api-server',
  shows: 'the API server is killed and restarts after 5 s',
  mayRefuse: true,
  cause: async ({ stage }) => {
    await stage.release.plane.restart(5_000)
    await sleep(AFTER_MILLISECONDS)
    return ''
  },
}

const compactedEtcd: Fault = {
  name: 'etcd-compacted',
  shows: 'etcd is compacted and the API server restarts, so that every watch must list again',
  mayRefuse: true,
  cause: async (scene) => {
    const { stage, operators } = scene
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
    return `the leader listed ${(await relists()) - before} times anew`
  },
}

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

const forgottenWatches: Fault = {
  name: 'watches-dropped',
  shows: 'the network silently drops every connection to the API server',
  maxGapSeconds: FORGOTTEN_GAP_SECONDS,
  mayRefuse: true,
  cause: async ({ operatorLinks, gatewayLink }) => {
    for (const link of [...operatorLinks, gatewayLink]) link.forget()
    await sleep(FORGOTTEN_MILLISECONDS)
    return ''
  },
}

const storeDown: Fault = {
  name: 'store-down',
  shows: 'MinIO is unavailable for 20 s',
  mayRefuse: true,
  cause: async ({ stage }) => {
    await stage.minio.restart(AWAY_MILLISECONDS)
    await sleep(AFTER_MILLISECONDS)
    return ''
  },
}

const storeSlow: Fault = {
  name: 'store-slow',
  shows: 'every response of MinIO takes two more seconds',
  cause: async ({ storeLink }) => {
    storeLink.delay(SLOW_MILLISECONDS)
    await sleep(AWAY_MILLISECONDS)
    storeLink.delay(0)
    await sleep(AFTER_MILLISECONDS)
    return ''
  },
}

let volume = ''

const storeFull: Fault = {
  name: 'store-full',
  shows: 'MinIO’s disk is full for 20 s',
  mayRefuse: true,
  storeDirectory: async (ends) => {
    const base = await mkdtemp(path.join(tmpdir(), 'tintype-full-'))
    volume = path.join(base, 'volume')
    await mkdir(volume)
    const image = path.join(base, 'image')
    await run('truncate', ['-s', `${FULL_MEBIBYTES}M`, image])
    await run('mkfs.ext4', ['-q', image])
    await run('mount', ['-o', 'loop', image, volume])
    ends.teardown(async () => {
      await run('umount', ['--lazy', volume])
      await rm(base, { recursive: true, force: true })
    })
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
    return ''
  },
}

/** After this time without a heartbeat the controller manager marks a node and its pods NotReady. */
const NOT_READY_MILLISECONDS = 40_000

const lostNode: Fault = {
  name: 'node-lost',
  shows: 'the node of half of the runners is lost, and returns after other runners took over',
  cause: async ({ stage, progress }) => {
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
    return `its captures were with others ${seconds.toFixed(0)} s after it was called NotReady`
  },
}

const skewed = (name: string, operatorSeconds: number, gatewaySeconds: number): Fault => ({
  name,
  shows: `the operator’s clock is ${operatorSeconds} s off and the gateway’s ${gatewaySeconds} s`,
  operatorOptions: { clockSeconds: operatorSeconds },
  gatewayOptions: { clockSeconds: gatewaySeconds },
  storeDirectory: async (ends, progress) => {
    await ensurePackages(progress, ['libfaketime'])
    const directory = await mkdtemp(path.join(tmpdir(), 'tintype-skewed-'))
    ends.teardown(() => rm(directory, { recursive: true, force: true }))
    return directory
  },
  cause: async () => {
    await sleep(2 * AFTER_MILLISECONDS)
    return ''
  },
})

const all: readonly Fault[] = [
  frozenLeader,
  partitionedLeader,
  restartedApiServer,
  compactedEtcd,
  forgottenWatches,
  storeDown,
  storeSlow,
  storeFull,
  lostNode,
  skewed('clocks-ahead', SKEW_SECONDS, -SKEW_SECONDS),
  skewed('clocks-behind', -SKEW_SECONDS, SKEW_SECONDS),
]

/** Faults of clusters that need no kubelet. */
export const faults = all.map(toScenario)
