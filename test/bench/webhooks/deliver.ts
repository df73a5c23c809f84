import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Settings } from '../settings.ts'
import { startDeliveries } from './operator.ts'
import { StubPlane } from './stub-plane.ts'
import { type Target, withTargets } from './target.ts'

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

/** Endpoints that answer, of which each has eight posts under way at most. */
const ENDPOINTS = ['/a', '/b', '/c', '/d']
/** Screenshots of the first part; four times as many deliveries. */
const FLOOD = 1_000
/** Screenshots a second of the stream. */
const STREAM_PER_SECOND = 50
const BREATH_MILLISECONDS = 10

/** Measures round by round; each has an operator's deliveries, caches and connections of its own. */
export async function measureDeliveries(settings: Settings, progress: (line: string) => void): Promise<DeliverySample[]> {
  return withTargets(async (start) => {
    const samples: DeliverySample[] = []
    // The first round is for warming up.
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

/** All events at once: how fast they go, until the last is written down. */
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
  const { arrivals } = await target.take()
  return arrivals.flatMap(([path, screenshot, at]) => {
    const since = ended.get(screenshot)
    return since === undefined || others.includes(path) ? [] : [at - since]
  })
}
