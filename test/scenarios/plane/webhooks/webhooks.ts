import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { accessFromKubeconfig } from '../../../../crds/client/cluster-access.ts'
import { screenshots, webhooks as webhookResource } from '../../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { Reflector } from '../../../../crds/client/reflector.ts'
import { mergePatch, Resource } from '../../../../crds/client/resource.ts'
import { newOpeningKey } from '../../../../crds/src/crypto/sealed.ts'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import { createDirectory } from '../../../support/directory.ts'
import { eventually } from '../../../support/eventually.ts'
import { completedStatus } from '../../../support/fakes/builders.ts'
import { type Deliveries, startDeliveries as start } from '../../../support/fakes/deliveries.ts'
import { type Ends, openTestPlane } from '../../../support/processes/own-plane.ts'
import { createReceiverCertificate } from '../../../support/servers/https-receiver.ts'
import { readLoad } from '../../harness/machine.ts'
import { type Context, scenario } from '../../harness/scenario.ts'
import { median, p95 } from '../../harness/statistics.ts'
import { roundsTable } from '../../harness/table.ts'
import type { Arrival } from './receiver-program.ts'
import { StubPlane } from './stub-plane.ts'

// An operator's deliveries in this process, fed by a stub in place of the API server and then by an API server. The receiver is a process of its own.

type Around = Pick<Deliveries, 'http' | 'screenshots' | 'webhooks' | 'openingKeys'>

/** Starts an operator's deliveries with the chart's settings, access to loopback, and trust in this authority. */
const startDeliveries = (around: Around, ca: string) =>
  start({
    ...around,
    ring: { current: 'bench', keys: { bench: Buffer.alloc(32, 1).toString('base64') } },
    settings: { maxPostsPerAccount: 32, timeoutMilliseconds: 5_000, retryDelaysMilliseconds: [5_000, 300_000] },
    certificates: [ca],
  })

/** A process that receives posts. */
interface Target {
  url: string
  /** Certificate of the authority that signed its certificate. */
  ca: string
  /** Arrivals since the previous call. */
  take: () => Promise<{ arrivals: Arrival[]; connections: number }>
}

async function startTarget(ends: Ends): Promise<Target> {
  const { certificate, key, ca } = await createReceiverCertificate(await createDirectory(ends, 'webhooks'))
  const receiver = fork(join(import.meta.dirname, 'receiver-program.ts'), [certificate, key])
  ends.teardown(() => receiver.disconnect())
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
  const take: Target['take'] = async () => {
    receiver.send('take')
    return (await once(receiver, 'message'))[0]
  }
  return { url: `https://127.0.0.1:${port}`, ca, take }
}

/** One round: the maximum rate of deliveries, then a steady stream of events without and with a hanging endpoint. */
interface DeliverySample {
  round: number
  /** Deliveries per second if all events exist from the start. */
  perSecond: number
  connections: number
  /** Milliseconds of processor time of the operator's process per delivery. */
  processor: number
  /** Milliseconds from a Screenshot's completion to the arrival of its event at an endpoint that responds. */
  alone: number[]
  besideHanging: number[]
  load: number
}

/** Number of endpoints that respond. Each has at most eight concurrent posts. */
const ENDPOINTS = ['/a', '/b', '/c', '/d']
/** Screenshots of the first part. There are four times as many deliveries. */
const FLOOD = 1_000
/** Screenshots per second of the stream. */
const STREAM_PER_SECOND = 50
const BREATH_MILLISECONDS = 10

const options = { rounds: 5, seconds: 5 }

export const webhooks = scenario({
  name: 'webhooks',
  shows: 'how fast an operator posts, fed by a stub, and then by an API server',
  options,
  run: async (context) => {
    await measureDeliveries(context)
    await measureFromResult(context)
  },
})

/** Each round has new deliveries, caches and connections. */
async function measureDeliveries({ settings: { rounds, seconds }, ends, ...report }: Context<undefined, typeof options>): Promise<void> {
  const samples: DeliverySample[] = []
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    const target = await startTarget(ends)
    const rate = await flood(target)
    const [alone, besideHanging] = [await stream(target, seconds, []), await stream(target, seconds, ['/hang'])]
    if (round > 0) samples.push({ round, ...rate, alone, besideHanging, load: readLoad() })
    report.progress(`webhooks, round ${round}`)
  }
  const title =
    'Deliveries per second, and milliseconds from the time when the operator observes a result to the first attempt (targets: 1,000/s; +50)'
  report.table(
    roundsTable(title, samples, {
      'per second': [({ perSecond }) => perSecond],
      'processor ms per delivery': [({ processor }) => processor, 2],
      connections: [({ connections }) => connections],
      p50: [({ alone }) => median(alone)],
      p95: [({ alone }) => p95(alone)],
      'p95, one endpoint hangs': [({ besideHanging }) => p95(besideHanging)],
      added: [({ alone, besideHanging }) => p95(besideHanging) - p95(alone)],
      load: [({ load }) => load, 1],
    }),
  )
}

/** Runs an operator's deliveries to these endpoints while `act` feeds them. */
async function deliverTo<T>({ url, ca }: Target, paths: readonly string[], act: (plane: StubPlane) => Promise<T>): Promise<T> {
  const plane = new StubPlane()
  for (const path of paths) await plane.subscribe(`hook-${path.slice(1)}`, `${url}${path}`)
  const work = startDeliveries(plane, ca)
  const result = await act(plane)
  await work.stop()
  return result
}

/** Delivers all events at once, until the last delivery is recorded. */
async function flood(target: Target): Promise<Pick<DeliverySample, 'perSecond' | 'connections' | 'processor'>> {
  const deliveries = FLOOD * ENDPOINTS.length
  const { seconds, spent } = await deliverTo(target, ENDPOINTS, async (plane) => {
    const [started, before] = [performance.now(), process.cpuUsage()]
    for (let n = 0; n < FLOOD; n++) plane.complete()
    while (plane.settled() < FLOOD) await sleep(BREATH_MILLISECONDS)
    return { seconds: (performance.now() - started) / 1_000, spent: process.cpuUsage(before) }
  })
  const { arrivals, connections } = await target.take()
  if (arrivals.length !== deliveries) throw new Error(`${arrivals.length} of ${deliveries} deliveries arrived`)
  return { perSecond: deliveries / seconds, connections, processor: (spent.user + spent.system) / 1_000 / deliveries }
}

/** Sends events one by one. Returns the duration of each to an endpoint that responds. */
async function stream(target: Target, seconds: number, others: readonly string[]): Promise<number[]> {
  const ended = new Map<string, number>()
  await deliverTo(target, [...ENDPOINTS, ...others], async (plane) => {
    const started = performance.now()
    for (let n = 0; n < seconds * STREAM_PER_SECOND; n++) {
      await sleep(Math.max(0, started + (n * 1_000) / STREAM_PER_SECOND - performance.now()))
      const at = performance.timeOrigin + performance.now()
      ended.set(plane.complete(), at)
    }
    await sleep(500) // waits for the last deliveries
  })
  const { arrivals } = await target.take()
  return arrivals.flatMap(([path, screenshot, at]) => {
    const since = ended.get(screenshot)
    return since === undefined || others.includes(path) ? [] : [at - since]
  })
}

const RESULTS_PER_SECOND = 20
/** A webhook only receives events from the second after its creation on. */
const SETTLING_MILLISECONDS = 1_500

/** Reports results as runners do, through an API server whose etcd waits for the disk, and measures until the operator's first post. */
async function measureFromResult({ settings: { rounds, seconds }, ends, ...report }: Context<undefined, typeof options>): Promise<void> {
  const plane = await openTestPlane({ fsync: true })
  ends.teardown(plane.stop)
  const http = new KubeHttp(await accessFromKubeconfig(plane.kubeconfigPath))
  ends.teardown(() => http.close())
  const caches = {
    screenshots: new Reflector({ http, resource: screenshots }),
    webhooks: new Reflector({ http, resource: webhookResource }),
  }
  for (const cache of Object.values(caches)) {
    cache.start()
    ends.teardown(() => cache.stop())
    await cache.whenSynced()
  }
  const target = await startTarget(ends)
  const work = startDeliveries({ http, openingKeys: [newOpeningKey('bench')], ...caches }, target.ca)
  ends.teardown(() => work.stop())
  const hooks = new Resource(http, webhookResource)
  await hooks.create({ metadata: { name: 'bench' }, spec: { url: target.url, events: ['screenshot.completed'] } })
  await eventually('the webhook is active', async () => (await hooks.get('bench')).status?.activeSince !== undefined)
  await sleep(SETTLING_MILLISECONDS)
  const samples: { round: number; milliseconds: number[]; load: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const milliseconds = await measureRound(http, target, seconds * RESULTS_PER_SECOND)
    if (round > 0) samples.push({ round, milliseconds, load: readLoad() })
    report.progress(`webhooks through an API server, round ${round}`)
  }
  report.table(
    roundsTable('Milliseconds from the runner’s report to the first attempt, through an API server (target: p95 250)', samples, {
      p50: [({ milliseconds }) => median(milliseconds)],
      p95: [({ milliseconds }) => p95(milliseconds)],
      load: [({ load }) => load, 1],
    }),
  )
}

async function measureRound(http: KubeHttp, target: Target, count: number): Promise<number[]> {
  const shots = new Resource(http, screenshots)
  const ids = Array.from({ length: count }, () => newId('scr', new Date()))
  for (const id of ids) await shots.create({ metadata: { name: toObjectName(id) }, spec: { url: 'https://example.com/' } })
  const sent = new Map<string, number>()
  const writes: Promise<unknown>[] = []
  for (const id of ids) {
    sent.set(id, performance.timeOrigin + performance.now())
    const status = completedStatus({ completionTime: new Date().toISOString() })
    writes.push(shots.patch(toObjectName(id), mergePatch({ status }), { subresource: 'status' }))
    await sleep(1_000 / RESULTS_PER_SECOND)
  }
  await Promise.all(writes)
  await sleep(1_000) // waits for the last deliveries
  const { arrivals } = await target.take()
  if (arrivals.length !== count) throw new Error(`${arrivals.length} of ${count} deliveries arrived`)
  return arrivals.map(([, id, at]) => at - (sent.get(id) ?? Number.NaN))
}
