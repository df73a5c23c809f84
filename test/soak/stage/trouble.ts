// One trouble under a running load, and what must hold after it: each accepted Screenshot ended, once, with its own picture.

import { setTimeout as sleep } from 'node:timers/promises'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { askSteadily } from './clients.ts'
import { watchEnds } from './ends-once.ts'
import { openOffice } from './office.ts'
import type { GatewayPod, OperatorPod, Stage, StartOptions } from './stage.ts'
import { withStage } from './stage.ts'
import { openLink, type TcpLink } from './tcp-link.ts'
import { judge, toWords } from './truth.ts'

/** What a trouble can lay hands on. */
export interface Scene {
  stage: Stage
  operators: OperatorPod[]
  gateway: GatewayPod
  /** Each operator's way to the API server, in the order of `operators`; the gateway's. */
  operatorLinks: TcpLink[]
  gatewayLink: TcpLink
  /** Everybody's way to the store. */
  storeLink: TcpLink
  tell: (line: string) => void
}

/** One kind of trouble. */
export interface Trouble {
  name: string
  shows: string
  /** Does it and undoes it; what it returns is told. */
  cause: (scene: Scene) => Promise<string>
  /** Starts the programs in another way than usual. */
  operatorOptions?: StartOptions
  gatewayOptions?: StartOptions
  storeDirectory?: (context: PartContext) => Promise<{ directory: string; remove: () => Promise<void> }>
  /** The longest time in which no capture may be begun. */
  maxGapSeconds?: number
  /** Clients may be answered 503 while it lasts. */
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

/** The part that shows a trouble. */
export const toPart = (trouble: Trouble): Part => ({
  name: trouble.name,
  shows: trouble.shows,
  run: async (context) => {
    const place = await trouble.storeDirectory?.(context)
    try {
      return await withStage((stage) => run(stage, trouble, context), place ? { storeDirectory: place.directory } : {})
    } finally {
      await place?.remove()
    }
  },
})

async function raise(
  stage: Stage,
  { operatorOptions = {}, gatewayOptions = {} }: Trouble,
  tell: Scene['tell'],
): Promise<Scene & { keys: string[] }> {
  const apiServerPort = Number(new URL(stage.release.plane.url).port)
  const link = async (port: number) => {
    const opened = await openLink(port)
    stage.pile.teardown(() => opened.close())
    return opened
  }
  const storeLink = await link(stage.minio.port)
  const operatorLinks = [await link(apiServerPort), await link(apiServerPort)]
  const gatewayLink = await link(apiServerPort)
  // The plane's certificates are new, and of no use to a program whose clock is before their beginning.
  const behind = -Math.min(0, operatorOptions.clockSeconds ?? 0, gatewayOptions.clockSeconds ?? 0)
  if (behind > 0) await sleep((behind + MARGIN_SECONDS) * 1_000)
  const operators: OperatorPod[] = []
  for (const { port } of operatorLinks)
    operators.push(await stage.startOperator({ ...operatorOptions, apiServerPort: port, storePort: storeLink.port }))
  const { gateway, keys } = await openOffice(stage, {
    runners: RUNNERS,
    captureMilliseconds: CAPTURE_MILLISECONDS,
    gateway: { ...gatewayOptions, apiServerPort: gatewayLink.port, storePort: storeLink.port },
  })
  return { stage, operators, gateway, operatorLinks, gatewayLink, storeLink, tell, keys }
}

async function run(stage: Stage, trouble: Trouble, { tell }: PartContext): Promise<PartResult> {
  const scene = await raise(stage, trouble, tell)
  const { gateway, keys } = scene
  const ends = await watchEnds(stage.admin)
  const over = new AbortController()
  const asking = askSteadily({ urls: [gateway.url], keys, perSecond: PER_SECOND, seconds: MAX_LOAD_SECONDS, signal: over.signal })
  await sleep(CALM_MILLISECONDS)
  tell(trouble.shows)
  const besides = await trouble.cause(scene).finally(() => over.abort())
  const asked = await asking
  tell('the load is over')
  const verdict = await judge(gateway.url, asked.accepted)
  const told = await stage.fleet.tell({ times: true })
  // Of what was created for clients that had gone, no record was looked at.
  const names = new Set(asked.accepted.map(({ id }) => toObjectName(id)))
  const repeated = told.repeated.filter((name) => names.has(name))
  const { times } = told
  await ends.stop()
  const gapSeconds = longestGap(Object.values(times)) / 1_000
  const refused = Object.entries(asked.others).map(([what, count]) => `${count} × ${what}`)
  const findings = [
    holds(
      'every accepted Screenshot ended with its own picture',
      verdict.faults.length === 0 && Object.keys(verdict.failed).length === 0,
      toWords(verdict),
    ),
    holds('none ended twice', ends.faults.length === 0, ends.faults.length === 0 ? 'none' : ends.faults.slice(0, 3).join('; ')),
    holds(
      'captures were repeated only as attempts that the record counts',
      repeated.length <= verdict.repeated,
      `${repeated.length} begun more than once`,
    ),
    holds(
      trouble.mayRefuse ? 'what was not accepted was answered 503' : 'every request was accepted',
      Object.keys(asked.others).every((what) => trouble.mayRefuse && what.startsWith(UNAVAILABLE)),
      refused.join(', ') || 'all accepted',
    ),
    trouble.maxGapSeconds === undefined
      ? holds('the longest time in which no capture was begun', true, `${gapSeconds.toFixed(1)} s`)
      : atMost('the longest time in which no capture was begun', gapSeconds, trouble.maxGapSeconds, 's', 1),
    ...(besides === '' ? [] : [holds('besides', true, besides)]),
  ]
  for (const program of [...scene.operators, gateway]) {
    const last = program
      .output()
      .split('\n')
      .filter((line) => /"level":50/.test(line))
      .slice(-2)
    if (findings.some(({ isMet }) => !isMet)) for (const line of last) tell(line.slice(0, LINE))
  }
  return { findings }
}

function longestGap(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.max(0, ...sorted.slice(1).map((time, n) => time - (sorted[n] ?? time)))
}
