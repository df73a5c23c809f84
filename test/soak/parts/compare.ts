import { median } from '../../bench/report/statistics.ts'
import { eventually } from '../../support/eventually.ts'
import { atMost, type Part, type PartContext, type PartResult } from '../part.ts'
import { prepareAccountsAndRunners } from '../stage/accounts-and-runners.ts'
import { type Accepted, send, sendSteadily } from '../stage/clients.ts'
import { bundleSources, checkOut, commitOfWorkingTree, type Sources } from '../stage/old-release.ts'
import { readMetric, readProcessor } from '../stage/processes.ts'
import { type GatewayPod, type OperatorPod, type Stage, withStage } from '../stage/stage.ts'

const VERSIONS = ['before', 'now'] as const
type Version = (typeof VERSIONS)[number]

/** Main files of a version's bundles. */
type Programs = Readonly<Record<'operator' | 'api-gateway', string>>

/** Processor milliseconds of one version in one round. */
interface Cost {
  /** Gateway, per POST /v1/screenshots. */
  create: number
  /** Gateway, per GET /v1/screenshots/:id of a finished record. */
  read: number
  /** Operator, per Screenshot from its creation to its completion. */
  capture: number
}
type Measure = keyof Cost

const NAMES: Readonly<Record<Measure, string>> = {
  create: 'gateway, per POST',
  read: 'gateway, per GET',
  capture: 'operator, per Screenshot',
}
const RUNNERS = 30
const PER_SECOND = 30
const SECONDS = 20
const WARM_UP_SECONDS = 10
const READS = 4_000
const READS_AT_ONCE = 16
const MAX_RATIO = 1.03

/** Processor time of operator and gateway, of a commit and of the working tree, measured alternately. */
export const compare: Part = {
  name: 'compare',
  shows: 'processor time of operator and gateway, compared with a commit (--from)',
  run: (context) => withStage((stage) => run(stage, context), { fsync: false }),
}

async function run(stage: Stage, { settings, progress }: PartContext): Promise<PartResult> {
  const from = settings.from ?? 'HEAD'
  progress(`bundling the programs of ${from} and of the working tree`)
  const sources = await Promise.all([from, await commitOfWorkingTree()].map(checkOut))
  const [before, now] = (await Promise.all(sources.map(bundle))) as [Programs, Programs]
  const versions: Record<Version, Programs> = { before, now }
  const keys = await prepare(stage)
  const costs: Record<Version, Cost[]> = { before: [], now: [] }
  // Round 0 fills the caches of API server and store, and is not counted.
  for (let round = 0; round <= settings.rounds; round++) {
    for (const version of round % 2 === 0 ? VERSIONS : VERSIONS.toReversed()) {
      const cost = await measure(stage, versions[version], keys)
      if (round > 0) costs[version].push(cost)
      progress(`round ${round} of ${settings.rounds}, ${version}: ${JSON.stringify(cost)}`)
    }
  }
  for (const { remove } of sources) await remove()
  const measures = Object.keys(NAMES) as Measure[]
  const ratioOf = (name: Measure) => median(costs.now.map((cost, round) => cost[name] / (costs.before[round]?.[name] ?? Number.NaN)))
  const of = (version: Version, name: Measure) => median(costs[version].map((cost) => cost[name])).toFixed(3)
  return {
    findings: measures.map((name) => atMost(`processor time compared with ${from}: ${NAMES[name]}`, ratioOf(name), MAX_RATIO, '', 3)),
    tables: [
      {
        title: `Processor milliseconds, ${from} and now in turns (medians of ${settings.rounds} rounds; ratios are medians of each round's)`,
        head: ['what', from, 'now', 'ratio'],
        rows: measures.map((name) => [NAMES[name], of('before', name), of('now', name), ratioOf(name).toFixed(3)]),
      },
    ],
  }
}

/** Bundles the programs of a version: both versions run as they do in their images. */
async function bundle(sources: Sources): Promise<Programs> {
  const directory = await bundleSources(sources, ['operator', 'api-gateway'])
  const mainOf = (program: string): string => `${directory}/${program}/dist/app/main.mjs`
  return { operator: mainOf('operator'), 'api-gateway': mainOf('api-gateway') }
}

/** Accounts and idle runners, which remain while operators and gateways are replaced. */
async function prepare(stage: Stage): Promise<string[]> {
  const operator = await stage.startOperator()
  const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS })
  await end(operator, gateway)
  return keys
}

async function end(operator: OperatorPod, gateway: GatewayPod): Promise<void> {
  await Promise.all([operator.end('SIGTERM'), gateway.end('SIGTERM')])
}

async function measure(stage: Stage, programs: Programs, keys: readonly string[]): Promise<Cost> {
  // Each version expects the policies of its own chart. The stage has those of the working tree.
  const operator = await stage.startOperator({ main: programs.operator, environment: { TINTYPE_ADMISSION_POLICY_HASH: '' } })
  const gateway = await stage.startGateway({ main: programs['api-gateway'] })
  await eventually('the operator leads', operator.isLeader)
  await stage.whenIdle(RUNNERS)
  const finished = () => readMetric(operator, 'screenshot_job_duration_seconds_count')
  const create = async (seconds: number): Promise<Accepted[]> => {
    const done = await finished()
    const { accepted, others } = await sendSteadily({ urls: [gateway.url], keys, perSecond: PER_SECOND, seconds })
    if (Object.keys(others).length > 0) throw new Error(`not accepted: ${JSON.stringify(others)}`)
    await eventually('all Screenshots have finished', async () => (await finished()) >= done + accepted.length, 120_000)
    return accepted
  }
  const processes = { operator: [operator.pid], gateway: [gateway.pid] }
  const used = async (act: () => Promise<void>): Promise<Record<string, number>> => {
    const start = readProcessor(processes)
    await act()
    const stop = readProcessor(processes)
    return Object.fromEntries(Object.entries(stop).map(([name, milliseconds]) => [name, milliseconds - (start[name] ?? 0)]))
  }
  const warm = await create(WARM_UP_SECONDS)
  await read(gateway, warm, READS / 4)
  let accepted: Accepted[] = []
  const ofCreates = await used(async () => {
    accepted = await create(SECONDS)
  })
  const ofReads = await used(() => read(gateway, accepted, READS))
  await end(operator, gateway)
  return {
    create: (ofCreates.gateway ?? Number.NaN) / accepted.length,
    read: (ofReads.gateway ?? Number.NaN) / READS,
    capture: (ofCreates.operator ?? Number.NaN) / accepted.length,
  }
}

/** Reads finished records in rotation. */
async function read({ url }: GatewayPod, records: readonly Accepted[], count: number): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) {
      const record = records[next++ % records.length]
      if (!record) return
      const { status } = await send(`${url}/v1/screenshots/${record.id}`, { key: record.key })
      if (status !== 200) throw new Error(`GET /v1/screenshots/${record.id}: ${status}`)
    }
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE }, work))
}
