import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FloodingReceiver, startFloodingReceiver } from '../../support/attack/flooding-receiver.ts'
import { FLOODS } from '../../support/attack/floods.ts'
import { type Table, toCell } from '../report/table.ts'
import { startDeliveries } from './operator.ts'
import { StubPlane } from './stub-plane.ts'

const WEBHOOKS = 8
const EVENTS = 5
/** Longer than the time limit of a post. */
const WATCH_MILLISECONDS = 6_000
const RESOLUTION_MILLISECONDS = 2

/**
 * Posts 40 events of one account to receivers that flood, in each of their ways, and watches the event loop of the operator's deliveries. The
 * first row is for receivers that do not flood.
 */
export async function measureReceiverFloods(progress: (line: string) => void): Promise<Table> {
  const directory = await mkdtemp(join(tmpdir(), 'tintype-floods-'))
  const receiver = await startFloodingReceiver(directory)
  try {
    const rows: string[][] = []
    for (const flood of ['none', ...Object.keys(FLOODS)]) {
      rows.push([flood, ...(await watch(receiver, flood))])
      progress(`webhooks, flood ${flood}`)
    }
    return {
      title: `${WEBHOOKS * EVENTS} posts of one account to receivers that flood: milliseconds of the operator's process in ${WATCH_MILLISECONDS / 1_000} seconds`,
      head: ['flood', 'longest block', 'processor time', 'posts received', 'connections left'],
      rows,
    }
  } finally {
    receiver.end()
    await rm(directory, { recursive: true, force: true })
  }
}

async function watch(receiver: FloodingReceiver, flood: string): Promise<string[]> {
  const plane = new StubPlane()
  for (let n = 0; n < WEBHOOKS; n++) await plane.subscribe(`hook-${n}`, `${receiver.url}/${flood}`)
  const work = startDeliveries(plane, receiver.ca)
  const before = await receiver.counts()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS })
  const used = process.cpuUsage()
  delay.enable()
  for (let n = 0; n < EVENTS; n++) plane.complete()
  await sleep(WATCH_MILLISECONDS)
  delay.disable()
  const { user, system } = process.cpuUsage(used)
  await work.stop()
  const { requests, open } = await receiver.counts()
  return [toCell(delay.max / 1e6), toCell((user + system) / 1_000), String(requests - before.requests), String(open)]
}
