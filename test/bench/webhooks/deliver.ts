import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../../crds/client/log.ts'
import { prepareDelivery } from '../../../operator/src/delivery/delivery.ts'
import { certificatePaths } from '../../cluster/pki.ts'
import { createReceiverCertificate } from '../../support/https-receiver.ts'
import type { Settings } from '../settings.ts'
import type { Arrival } from './receiver.ts'
import { StubPlane } from './stub-plane.ts'

/** One round: as many deliveries as go, then a steady stream of events without and with an endpoint that hangs. */
export interface DeliverySample {
  round: number
  /** Deliveries a second, of events that are all there at once. */
  perSecond: number
  connections: number
  /** Milliseconds of processor time that the operator's process spent on a delivery. */
  processorMilliseconds: number
  /** From a Screenshot's end to the arrival of its event at an endpoint that answers, in milliseconds. */
  alone: number[]
  besideHanging: number[]
  load: number
}

const RING = { current: 'bench', keys: { bench: Buffer.alloc(32, 1).toString('base64') } }
/** Endpoints that answer, of which each has eight posts under way at most. */
const ENDPOINTS = ['/a', '/b', '/c', '/d']
/** Screenshots of the first part; four times as many deliveries. */
const FLOOD = 1_000
/** Screenshots a second of the stream. */
const STREAM_PER_SECOND = 50
const BREATH_MILLISECONDS = 10

type Findings = { arrivals: Arrival[]; connections: number }

/** Measures round by round; each has an operator's deliveries, caches and connections of its own. */
export async function measureDeliveries(settings: Settings, tell: (line: string) => void): Promise<DeliverySample[]> {
  const directory = await mkdtemp(join(tmpdir(), 'tintype-bench-'))
  try {
    const { certificate, key } = await createReceiverCertificate(directory)
    const ca = await readFile(certificatePaths(directory, 'ca').certificate, 'utf8')
    const samples: DeliverySample[] = []
    // The first round is for warming up.
    for (let round = 0; round <= settings.rounds; round++) {
      const receiver = fork(join(import.meta.dirname, 'receiver.ts'), [certificate, key])
      const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
      const at = { url: `https://127.0.0.1:${port}`, ca, receiver }
      const sample = {
        round,
        ...(await flood(at)),
        alone: await stream(at, settings.seconds, []),
        besideHanging: await stream(at, settings.seconds, ['/hang']),
        load: loadavg()[0] ?? 0,
      }
      receiver.disconnect()
      if (round > 0) samples.push(sample)
      tell(`webhooks, round ${round}`)
    }
    return samples
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Target {
  url: string
  ca: string
  receiver: ChildProcess
}

/** Runs an operator's deliveries to these endpoints while `act` feeds them. */
async function deliverTo<T>({ url, ca }: Target, paths: readonly string[], act: (plane: StubPlane) => Promise<T>): Promise<T> {
  const plane = new StubPlane()
  for (const path of paths) await plane.subscribe(`hook-${path.slice(1)}`, `${url}${path}`)
  const work = prepareDelivery({
    http: plane.http,
    namespace: plane.http.namespace,
    screenshots: plane.screenshots,
    webhooks: plane.webhooks,
    openingKeys: plane.openingKeys,
    linkBase: { publicUrl: 'https://shots.example.com', ring: RING },
    settings: { timeoutMilliseconds: 5_000, retryDelaysMilliseconds: [5_000, 300_000], allowedCidrs: ['127.0.0.0/8'], allowedHosts: [] },
    certificates: [ca],
    ownAddresses: [],
    version: '0.1.0',
    isLeader: () => true,
    log: silentLog,
  }).start(new AbortController().signal)
  const result = await act(plane)
  await work.stop()
  return result
}

async function take(receiver: ChildProcess): Promise<Findings> {
  receiver.send('take')
  const [findings] = (await once(receiver, 'message')) as [Findings]
  return findings
}

/** All events at once: how fast they go, until the last is written down. */
async function flood(target: Target): Promise<Pick<DeliverySample, 'perSecond' | 'connections' | 'processorMilliseconds'>> {
  const deliveries = FLOOD * ENDPOINTS.length
  const { seconds, spent } = await deliverTo(target, ENDPOINTS, async (plane) => {
    const [started, before] = [performance.now(), process.cpuUsage()]
    for (let n = 0; n < FLOOD; n++) plane.complete()
    while (plane.settled() < FLOOD) await sleep(BREATH_MILLISECONDS)
    return { seconds: (performance.now() - started) / 1_000, spent: process.cpuUsage(before) }
  })
  const { arrivals, connections } = await take(target.receiver)
  if (arrivals.length !== deliveries) throw new Error(`${arrivals.length} of ${deliveries} deliveries arrived`)
  return { perSecond: deliveries / seconds, connections, processorMilliseconds: (spent.user + spent.system) / 1_000 / deliveries }
}

/** Events one by one; gives how long each took to an endpoint that answers. */
async function stream(target: Target, seconds: number, others: readonly string[]): Promise<number[]> {
  const ended = new Map<string, number>()
  await deliverTo(target, [...ENDPOINTS, ...others], async (plane) => {
    const started = performance.now()
    for (let n = 0; n < seconds * STREAM_PER_SECOND; n++) {
      await sleep(Math.max(0, started + (n * 1_000) / STREAM_PER_SECOND - performance.now()))
      const at = performance.timeOrigin + performance.now()
      ended.set(plane.complete(), at)
    }
    await sleep(500) // for the last ones
  })
  const { arrivals } = await take(target.receiver)
  return arrivals.flatMap(([path, screenshot, at]) => {
    const since = ended.get(screenshot)
    return since === undefined || others.includes(path) ? [] : [at - since]
  })
}
