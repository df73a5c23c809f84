import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Settings } from '../settings.ts'
import { startDeliveries } from './operator.ts'
import { StubPlane } from './stub-plane.ts'
import { type Target, withTargets } from './target.ts'

/** One round: the maximum rate of deliveries, then a steady stream of events without and with a hanging endpoint. */
export interface DeliverySample {
  round: number
  /** Deliveries per second if all events exist from the start. */
  perSecond: number
  connections: number
  /** Milliseconds of processor time of the operator's process per delivery. */
  processorMilliseconds: number
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

/** Measures round by round. Each round has new deliveries, caches and connections. */
export async function measureDeliveries(settings: Settings, progress: (line: string) => void): Promise<DeliverySample[]> {
  return withTargets(async (start) => {
    const samples: DeliverySample[] = []
    // The first round is a warm-up.
    for (let round = 0; round <= settings.rounds; round++) {
      const target = await start()
      const sample = {
        round,
        ...(await flood(target)),
        alone: await stream(target, settings.seconds, []),
        besideHanging: await stream(target, settings.seconds, ['/hang']),
        load: loadavg()[0] ?? 0,
      }
      target.end()
      if (round > 0) samples.push(sample)
      progress(`webhooks, round ${round}`)
    }
    return samples
  })
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
async function flood(target: Target): Promise<Pick<DeliverySample, 'perSecond' | 'connections' | 'processorMilliseconds'>> {
  const deliveries = FLOOD * ENDPOINTS.length
  const { seconds, spent } = await deliverTo(target, ENDPOINTS, async (plane) => {
    const [started, before] = [performance.now(), process.cpuUsage()]
    for (let n = 0; n < FLOOD; n++) plane.complete()
    while (plane.settled() < FLOOD) await sleep(BREATH_MILLISECONDS)
    return { seconds: (performance.now() - started) / 1_000, spent: process.cpuUsage(before) }
  })
  const { arrivals, connections } = await target.take()
  if (arrivals.length !== deliveries) throw new Error(`${arrivals.length} of ${deliveries} deliveries arrived`)
  return { perSecond: deliveries / seconds, connections, processorMilliseconds: (spent.user + spent.system) / 1_000 / deliveries }
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
