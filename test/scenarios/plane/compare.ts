import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { eventually } from '../../support/eventually.ts'
import { readProcessor } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { tableOf } from '../harness/table.ts'
import { bundleSources, checkOut } from '../releases/stage/old-release.ts'
import { type GatewayPod, type Plane, plane } from './stage/plane.ts'
import { countFinished, prepareAccountsAndRunners } from './stage/programs.ts'
import { type Accepted, send, sendSteadily } from './stage/requests.ts'

const VERSIONS = ['before', 'now'] as const
type Version = (typeof VERSIONS)[number]

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
const WARM_UP_SECONDS = 10
/** Requests go to both gateways in short turns, so that both meet the same load of the machine. */
const TURNS = 10
const SECONDS_PER_TURN = 2
const READS_PER_TURN = 500
const READS_AT_ONCE = 16
const MAX_RATIO = 1.03

/** Processor time of operator and gateway, of a commit and of the working tree, measured alternately. */
export const compare = scenario({
  name: 'compare',
  shows: 'processor time of operator and gateway, compared with a commit (--from)',
  stage: plane({ fsync: false }),
  options: { rounds: 9, from: 'HEAD' },
  run: async ({ stage, settings: { rounds, from }, ...report }) => {
    report.progress(`bundling the programs of ${from}`)
    const sources = await checkOut(from)
    const directory = await bundleSources(sources, ['operator', 'api-gateway'])
    const versions: Record<Version, string | undefined> = { before: mainOf(directory, 'operator'), now: undefined }
    const keys = await prepare(stage)
    const gateways: Gateways = {
      before: await stage.startGateway({ main: mainOf(directory, 'api-gateway') }),
      now: await stage.startGateway(),
    }
    const costs: Record<Version, Cost[]> = { before: [], now: [] }
    // Round 0 fills the caches of API server and store, and is not counted.
    for (let round = 0; round <= rounds; round++) {
      const order = round % 2 === 0 ? VERSIONS : VERSIONS.toReversed()
      const measured: Measured[] = []
      for (const version of order) measured.push(await measure(stage, versions[version], { gateways, order, keys }))
      for (const version of VERSIONS) {
        const [create, read] = (['create', 'read'] as const).map((name) => mean(measured.map((one) => one[name][version])))
        const cost = { create: create!, read: read!, capture: measured[order.indexOf(version)]!.capture }
        if (round > 0) costs[version].push(cost)
        report.progress(`round ${round} of ${rounds}, ${version}: ${JSON.stringify(cost)}`)
      }
    }
    const measures = Object.keys(NAMES) as Measure[]
    const ratioOf = (name: Measure) => median(costs.now.map((cost, round) => cost[name] / (costs.before[round]?.[name] ?? Number.NaN)))
    const of = (version: Version, name: Measure) => median(costs[version].map((cost) => cost[name])).toFixed(3)
    report.table(
      tableOf(
        `Processor milliseconds, ${from} and now in turns (medians of ${rounds} rounds; ratios are medians of each round's)`,
        measures,
        {
          what: (name) => NAMES[name],
          [from]: (name) => of('before', name),
          now: (name) => of('now', name),
          ratio: (name) => ratioOf(name).toFixed(3),
        },
      ),
    )
    for (const name of measures) report.atMost(`processor time compared with ${from}: ${NAMES[name]}`, ratioOf(name), MAX_RATIO, '', 3)
  },
})

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

const mainOf = (directory: string, program: string): string => `${directory}/${program}/dist/app/main.mjs`

/** Accounts and idle runners, which remain while operators and gateways are replaced. */
async function prepare(stage: Plane): Promise<string[]> {
  const operator = await stage.startOperator()
  const { gateway, keys } = await prepareAccountsAndRunners(stage, { runners: RUNNERS })
  await Promise.all([operator.end('SIGTERM'), gateway.end('SIGTERM')])
  return keys
}

type Gateways = Readonly<Record<Version, GatewayPod>>

type Costs = Record<Version, number>

/** Processor milliseconds: of the gateways for each version, and of one operator. */
interface Measured {
  create: Costs
  read: Costs
  capture: number
}

interface Load {
  gateways: Gateways
  order: readonly Version[]
  keys: readonly string[]
}

/** Measures one operator, and both gateways beside it. @param main of the operator; absent: of the working tree */
async function measure(stage: Plane, main: string | undefined, { gateways, order, keys }: Load): Promise<Measured> {
  // Each version expects the policies of its own chart. The stage has those of the working tree.
  const environment = main === undefined ? {} : { TINTYPE_ADMISSION_POLICY_HASH: '' }
  const operator = await stage.startOperator({ main, environment })
  await eventually('the operator leads', operator.isLeader)
  await stage.whenIdle(RUNNERS)
  const finished = () => countFinished(operator)
  const create = async ({ url }: GatewayPod, seconds: number): Promise<Accepted[]> => {
    const { accepted, others } = await sendSteadily({ urls: [url], keys, perSecond: PER_SECOND, seconds })
    if (Object.keys(others).length > 0) throw new Error(`not accepted: ${JSON.stringify(others)}`)
    return accepted
  }
  const whenFinished = (count: number) => eventually('all Screenshots have finished', async () => (await finished()) >= count, 120_000)

  const before = await finished()
  const warm = await create(gateways[order[0]!], WARM_UP_SECONDS)
  await whenFinished(before + warm.length)
  for (const version of order) await read(gateways[version], warm, READS_PER_TURN)

  const startedAt = processorOf(operator)
  const records: Accepted[] = []
  const creates = await measureInTurns(gateways, order, async (gateway) => {
    const accepted = await create(gateway, SECONDS_PER_TURN)
    records.push(...accepted)
    return accepted.length
  })
  await whenFinished(before + warm.length + records.length)
  const capture = (processorOf(operator) - startedAt) / records.length

  const reads = await measureInTurns(gateways, order, (gateway) => read(gateway, records, READS_PER_TURN))
  await operator.end('SIGTERM')
  return { create: creates, read: reads, capture }
}

/** Processor milliseconds of each gateway for each unit of `act`. Each version has each place in the order equally often. */
async function measureInTurns(
  gateways: Gateways,
  order: readonly Version[],
  act: (gateway: GatewayPod) => Promise<number>,
): Promise<Costs> {
  const [used, units] = [
    { before: 0, now: 0 },
    { before: 0, now: 0 },
  ]
  for (let turn = 0; turn < TURNS; turn++)
    for (const version of turn % 2 === 0 ? order : order.toReversed()) {
      const usedBefore = processorOf(gateways[version])
      units[version] += await act(gateways[version])
      used[version] += processorOf(gateways[version]) - usedBefore
    }
  return { before: used.before / units.before, now: used.now / units.now }
}

/** Processor milliseconds that a program has used. */
const processorOf = ({ pid }: { pid: number }): number => readProcessor({ program: [pid] }).program

/** Reads finished records in rotation. Returns how many. */
async function read({ url }: GatewayPod, records: readonly Accepted[], count: number): Promise<number> {
  await mapConcurrently([...Array(count).keys()], READS_AT_ONCE, async (n) => {
    const { id, key } = records[n % records.length]!
    const { status } = await send(`${url}/v1/screenshots/${id}`, { key })
    if (status !== 200) throw new Error(`GET /v1/screenshots/${id}: ${status}`)
  })
  return count
}
