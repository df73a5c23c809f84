// Injects one fault under load. Afterwards each accepted Screenshot must have finished exactly once, with its own picture.

import { setTimeout as sleep } from 'node:timers/promises'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { type Context, type Scenario, scenario } from '../harness/scenario.ts'
import { type GatewayPod, type OperatorPod, type Plane, type PlaneOptions, plane, type StartOptions } from './stage/plane.ts'
import { prepareAccountsAndRunners } from './stage/programs.ts'
import { sendSteadily } from './stage/requests.ts'
import { openLink, type TcpLink } from './stage/tcp-link.ts'
import { checkPictures, watchEnds } from './stage/verify.ts'

/** Everything that a fault can manipulate. */
export interface Scene {
  stage: Plane
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
  storeDirectory?: PlaneOptions['storeDirectory']
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

/** The scenario of a fault. */
export const toScenario = (fault: Fault): Scenario =>
  scenario({
    name: fault.name,
    shows: fault.shows,
    stage: plane(fault.storeDirectory ? { storeDirectory: fault.storeDirectory } : {}),
    run: (context) => run(context, fault),
  })

async function openScene(
  stage: Plane,
  { operatorOptions = {}, gatewayOptions = {} }: Fault,
  progress: Scene['progress'],
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
  return { stage, operators, gateway, operatorLinks, gatewayLink, storeLink, progress, keys }
}

async function run({ stage, ...report }: Context<Plane>, fault: Fault): Promise<void> {
  const scene = await openScene(stage, fault, report.progress)
  const { gateway, keys } = scene
  const ends = await watchEnds(stage.admin)
  const over = new AbortController()
  const asking = sendSteadily({ urls: [gateway.url], keys, perSecond: PER_SECOND, seconds: MAX_LOAD_SECONDS, signal: over.signal })
  await sleep(CALM_MILLISECONDS)
  report.progress(fault.shows)
  const besides = await fault.cause(scene).finally(() => over.abort())
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
  if (besides !== '') report.note('other results', besides)
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
