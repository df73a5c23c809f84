// Injects one fault under load. Afterwards each accepted Screenshot must have finished exactly once, with its own picture.

import { setTimeout as sleep } from 'node:timers/promises'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { prepareAccountsAndRunners } from './accounts-and-runners.ts'
import { sendSteadily } from './clients.ts'
import { watchEnds } from './ends-once.ts'
import type { GatewayPod, OperatorPod, Stage, StartOptions } from './stage.ts'
import { withStage } from './stage.ts'
import { openLink, type TcpLink } from './tcp-link.ts'
import { describeOutcome, verifyAll } from './verify.ts'

/** Everything that a fault can manipulate. */
export interface Scene {
  stage: Stage
  operators: OperatorPod[]
  gateway: GatewayPod
  /** Links of the operators to the API server, in the order of `operators`. */
  operatorLinks: TcpLink[]
  gatewayLink: TcpLink
  /** Link of all programs to the store. */
  storeLink: TcpLink
  progress: (line: string) => void
}

/** One fault to inject. */
export interface Fault {
  name: string
  shows: string
  /** Causes the fault and repairs it. Returns a sentence for the report. */
  cause: (scene: Scene) => Promise<string>
  /** Special options for starting the programs. */
  operatorOptions?: StartOptions
  gatewayOptions?: StartOptions
  storeDirectory?: (context: PartContext) => Promise<{ directory: string; remove: () => Promise<void> }>
  /** Maximum time without a started capture. */
  maxGapSeconds?: number
  /** True if clients may get 503 during the fault. */
  mayRefuse?: boolean
}

const RUNNERS = 10
const PER_SECOND = 4
const CAPTURE_MILLISECONDS = 1_000
const CALM_MILLISECONDS = 5_000
const MAX_LOAD_SECONDS = 600
const MARGIN_SECONDS = 5
const LINE = 1_000
const UNAVAILABLE = '503 '

/** The soak part for a fault. */
export const toPart = (fault: Fault): Part => ({
  name: fault.name,
  shows: fault.shows,
  run: async (context) => {
    const place = await fault.storeDirectory?.(context)
    try {
      return await withStage((stage) => run(stage, fault, context), place ? { storeDirectory: place.directory } : {})
    } finally {
      await place?.remove()
    }
  },
})

async function raise(
  stage: Stage,
  { operatorOptions = {}, gatewayOptions = {} }: Fault,
  progress: Scene['progress'],
): Promise<Scene & { keys: string[] }> {
  const apiServerPort = Number(new URL(stage.release.plane.url).port)
  const link = async (port: number) => {
    const opened = await openLink(port)
    stage.cleanupStack.teardown(() => opened.close())
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
  return { stage, operators, gateway, operatorLinks, gatewayLink, storeLink, progress, keys }
}

async function run(stage: Stage, fault: Fault, { progress }: PartContext): Promise<PartResult> {
  const scene = await raise(stage, fault, progress)
  const { gateway, keys } = scene
  const ends = await watchEnds(stage.admin)
  const over = new AbortController()
  const asking = sendSteadily({ urls: [gateway.url], keys, perSecond: PER_SECOND, seconds: MAX_LOAD_SECONDS, signal: over.signal })
  await sleep(CALM_MILLISECONDS)
  progress(fault.shows)
  const besides = await fault.cause(scene).finally(() => over.abort())
  const asked = await asking
  progress('the load is over')
  const outcome = await verifyAll(gateway.url, asked.accepted)
  const state = await stage.fleet.send({ times: true })
  // Screenshots of clients that had disconnected were not checked.
  const names = new Set(asked.accepted.map(({ id }) => toObjectName(id)))
  const repeated = state.repeated.filter((name) => names.has(name))
  const { times } = state
  await ends.stop()
  const gapSeconds = longestGap(Object.values(times)) / 1_000
  const refused = Object.entries(asked.others).map(([what, count]) => `${count} × ${what}`)
  const findings = [
    holds(
      'every accepted Screenshot ended with its own picture',
      outcome.faults.length === 0 && Object.keys(outcome.failed).length === 0,
      describeOutcome(outcome),
    ),
    holds('no Screenshot finished twice', ends.faults.length === 0, ends.faults.length === 0 ? 'none' : ends.faults.slice(0, 3).join('; ')),
    holds(
      'captures were repeated only as attempts that the record counts',
      repeated.length <= outcome.repeated,
      `${repeated.length} begun more than once`,
    ),
    holds(
      fault.mayRefuse ? 'every rejected request got a 503' : 'every request was accepted',
      Object.keys(asked.others).every((what) => fault.mayRefuse && what.startsWith(UNAVAILABLE)),
      refused.join(', ') || 'all accepted',
    ),
    fault.maxGapSeconds === undefined
      ? holds('longest time without a started capture', true, `${gapSeconds.toFixed(1)} s`)
      : atMost('longest time without a started capture', gapSeconds, fault.maxGapSeconds, 's', 1),
    ...(besides === '' ? [] : [holds('other results', true, besides)]),
  ]
  for (const program of [...scene.operators, gateway]) {
    const last = program
      .output()
      .split('\n')
      .filter((line) => /"level":50/.test(line))
      .slice(-2)
    if (findings.some(({ isMet }) => !isMet)) for (const line of last) progress(line.slice(0, LINE))
  }
  return { findings }
}

function longestGap(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.max(0, ...sorted.slice(1).map((time, n) => time - (sorted[n] ?? time)))
}
