/**
 * `npm run bench` compares captures through the whole system with the same captures by a bare loop on the same node, compares the REST API with
 * bare requests to the API server, and measures webhooks. It prints tables. With `--write` it also updates docs/benchmarks.md.
 */
import { Api } from './api.ts'
import { type BarePod, openBarePod, readPool } from './bare-pod.ts'
import { measureBatches } from './batches.ts'
import { measureBlocking } from './blocking/measure.ts'
import { measureBurst } from './burst.ts'
import { measureCompare } from './compare/measure.ts'
import { measureLists, measurePages } from './console/measure.ts'
import { measureGrowth } from './engine/growth.ts'
import { measureEngine } from './engine/measure.ts'
import { barTable, engineStageTable, growthTables, rateTable, tallTables } from './engine/report.ts'
import { measureTall } from './engine/tall.ts'
import { measureFairness } from './fairness/measure.ts'
import { findClusterProblem } from './find-cluster.ts'
import { measureHostile } from './hostile/measure.ts'
import { measureLinks } from './links/measure.ts'
import { linksTable } from './links/report.ts'
import { measureMemory } from './memory.ts'
import { waitUntilIdle, withPoolSize } from './pool.ts'
import { measurePrice } from './price/measure.ts'
import { priceTables } from './price/report.ts'
import { captureInOneRequest } from './product.ts'
import { describeClusterStore, describeMachine } from './report/machine.ts'
import { batchTables, burstTable, medianTable, memoryTable, oneRequestTable, sequentialTable, stageTable } from './report/report.ts'
import { renderTable, type Table } from './report/table.ts'
import { undoing, undoOnSignal } from './report/undo.ts'
import {
  BLOCKING_FIGURES,
  CAPTURE_FIGURES,
  COMPARE_FIGURES,
  CONSOLE_FIGURES,
  ENGINE_FIGURES,
  FAIRNESS_FIGURES,
  HOSTILE_FIGURES,
  LINK_FIGURES,
  PRICE_FIGURES,
  REST_FIGURES,
  STABILITY_FIGURES,
  STORES_FIGURES,
  TALL_FIGURES,
  VIDEO_FIGURES,
  WEBHOOK_FIGURES,
  writeFigures,
} from './report/write-figures.ts'
import { measureCreates } from './rest/creates.ts'
import { measureFloods } from './rest/floods.ts'
import { measureGatewayMemory } from './rest/memory.ts'
import { measureReads } from './rest/reads.ts'
import { createsTable, createTimesTable, floodsTable, gatewayMemoryTable, processorTable, readsTable } from './rest/report.ts'
import { withAccounts, withSecondAccount } from './second-account.ts'
import { measureSequential } from './sequential.ts'
import {
  type BLOCKING_PARTS,
  CAPTURE_PARTS,
  type COMPARE_PARTS,
  type CONSOLE_PARTS,
  type ENGINE_PARTS,
  type FAIRNESS_PARTS,
  HELP,
  type HOSTILE_PARTS,
  type LINK_PARTS,
  type PRICE_PARTS,
  parseSettings,
  type REST_PARTS,
  type Settings,
  type STABILITY_PARTS,
  type STORES_PARTS,
  type TALL_PARTS,
  type VIDEO_PARTS,
  type WEBHOOK_PARTS,
} from './settings.ts'
import { measureStability } from './stability/measure.ts'
import { measureStores } from './stores.ts'
import { measureVideos } from './video/measure.ts'
import { measureDeliveries } from './webhooks/deliver.ts'
import { measureReceiverFloods } from './webhooks/floods.ts'
import { measureFromResult } from './webhooks/from-result.ts'
import { deliveriesTable, fromResultTable } from './webhooks/report.ts'

const settings = readSettings()
const tables: Table[] = []
const progress = (line: string): void => void process.stderr.write(`${line}\n`)
const show = (...shown: Table[]): void => {
  tables.push(...shown)
  for (const table of shown) console.log(`\n${renderTable(table)}`)
}

function readSettings(): Settings {
  try {
    const parsed = parseSettings(process.argv.slice(2))
    if (parsed) return parsed
    console.log(HELP)
    process.exit(0)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

async function sequential(bare: BarePod): Promise<void> {
  const api = new Api()
  const samples = await measureSequential({ settings, bare, apis: [api], progress })
  api.close()
  show(
    medianTable('Sequential captures, one idle runner (median of the rounds’ p50, ms)', samples),
    sequentialTable('Sequential captures, by round (ms)', samples),
    stageTable(samples),
  )
}

async function accounts(bare: BarePod): Promise<void> {
  const samples = await withSecondAccount((key) =>
    withPoolSize({ minIdle: 2, maxPods: 3 }, async () => {
      const apis = [new Api(), new Api({ key })]
      const measured = await measureSequential({ settings, bare, apis, progress })
      for (const api of apis) api.close()
      return measured
    }),
  )
  show(medianTable('Two accounts alternately, two idle runners (median of the rounds’ p50, ms)', samples))
}

async function oneRequest(): Promise<void> {
  const api = new Api()
  const byPage = new Map<string, number[]>()
  const { captures: count, pauseMilliseconds } = settings
  for (let round = 0; round < settings.rounds; round++) {
    for (const page of settings.pages) {
      await waitUntilIdle()
      byPage.set(page, [...(byPage.get(page) ?? []), ...(await captureInOneRequest(page, api, { count, pauseMilliseconds }))])
    }
  }
  api.close()
  show(oneRequestTable(byPage))
}

async function burst(bare: BarePod): Promise<void> {
  const { browsers } = settings
  const samples = await withPoolSize({ minIdle: browsers, maxPods: browsers }, () => measureBurst(settings, bare, progress))
  show(burstTable(samples, browsers))
}

/** Runners for the batches. There are more runners than processors, so that some can work while others wait for the store. */
const BATCH_RUNNERS = 4
const BATCH_ACCOUNTS = 20

async function batches(bare: BarePod): Promise<void> {
  const measured = withAccounts(BATCH_ACCOUNTS, (keys) =>
    withPoolSize({ minIdle: BATCH_RUNNERS, maxPods: BATCH_RUNNERS }, () => measureBatches(settings.rounds, bare, keys, progress)),
  )
  show(...batchTables(await measured, BATCH_RUNNERS))
}

async function creates(): Promise<void> {
  const samples = await measureCreates(settings, progress)
  show(createsTable(samples), createsTable(samples, 'unwatched'), createTimesTable(samples), processorTable(samples))
}

const ON_CLUSTER: Record<(typeof CAPTURE_PARTS)[number], (bare: BarePod) => Promise<void>> = {
  // First, because the other parts leave memory in use.
  memory: async () => show(memoryTable(await measureMemory())),
  sequential,
  accounts,
  'one-request': oneRequest,
  burst,
  batches,
}

const ON_ITS_OWN: Record<(typeof REST_PARTS)[number], () => Promise<void>> = {
  'rest-creates': creates,
  'rest-reads': async () => show(readsTable(await measureReads(settings, progress))),
  'rest-floods': async () => show(floodsTable(await measureFloods(settings, progress))),
  'rest-memory': async () => show(gatewayMemoryTable(await measureGatewayMemory(settings, progress))),
}

const OF_WEBHOOKS: Record<(typeof WEBHOOK_PARTS)[number], () => Promise<void>> = {
  webhooks: async () => {
    show(deliveriesTable(await measureDeliveries(settings, progress)))
    show(fromResultTable(await measureFromResult(settings, progress)))
  },
  'webhook-floods': async () => show(await measureReceiverFloods(progress)),
}

const OF_FAIRNESS: Record<(typeof FAIRNESS_PARTS)[number], () => Promise<void>> = { fairness: () => measureFairness(progress, show) }

const OF_BLOCKING: Record<(typeof BLOCKING_PARTS)[number], () => Promise<void>> = { blocking: () => measureBlocking(show) }

const OF_ENGINE: Record<(typeof ENGINE_PARTS)[number], () => Promise<void>> = {
  engine: async () => {
    const figures = await measureEngine(settings, progress)
    show(rateTable(figures), barTable(figures), engineStageTable(figures))
  },
  growth: async () => show(...growthTables(await measureGrowth(progress))),
}

const OF_PRICE: Record<(typeof PRICE_PARTS)[number], () => Promise<void>> = {
  price: async () => show(...priceTables(await measurePrice(settings, progress))),
}

const OF_STABILITY: Record<(typeof STABILITY_PARTS)[number], () => Promise<void>> = {
  stability: async () => show(await measureStability(settings, progress)),
}

const OF_TALL: Record<(typeof TALL_PARTS)[number], () => Promise<void>> = {
  tall: async () => show(...tallTables(await measureTall(settings, progress))),
}

const OF_HOSTILE: Record<(typeof HOSTILE_PARTS)[number], () => Promise<void>> = {
  hostile: async () => show(await measureHostile(progress)),
}

const OF_STORES: Record<(typeof STORES_PARTS)[number], () => Promise<void>> = {
  stores: async () => show(await measureStores(progress)),
}

const OF_LINKS: Record<(typeof LINK_PARTS)[number], () => Promise<void>> = {
  links: async () => show(linksTable(await measureLinks(settings, progress))),
}

const OF_COMPARE: Record<(typeof COMPARE_PARTS)[number], () => Promise<void>> = {
  compare: async () => show(await measureCompare(settings, progress)),
}

const OF_VIDEOS: Record<(typeof VIDEO_PARTS)[number], () => Promise<void>> = {
  video: async () => show(await measureVideos(settings, progress)),
}

const OF_CONSOLE: Record<(typeof CONSOLE_PARTS)[number], () => Promise<void>> = {
  'console-pages': async () => show(await measurePages(settings, progress)),
  'console-lists': async () => show(...(await measureLists(settings, progress))),
}

const isWanted = (name: string): boolean => settings.only.some((part) => part === name)

async function measureOnCluster(): Promise<void> {
  if (!CAPTURE_PARTS.some(isWanted)) return
  const bare = await openBarePod(await readPool())
  await undoing(bare.close, async () => {
    for (const [name, measure] of Object.entries(ON_CLUSTER)) if (isWanted(name)) await measure(bare)
  })
}

const clusterProblem = await findClusterProblem(settings.only)
if (clusterProblem) {
  console.error(clusterProblem)
  process.exit(1)
}

const started = new Date()
const machine = describeMachine()
const onCluster = `${machine}; ${describeClusterStore()}`
const command = ['npm run bench --', ...process.argv.slice(2)].join(' ')
console.log(`${started.toISOString()}, ${settings.rounds} rounds, ${onCluster}`)
undoOnSignal()
await measureOnCluster()
if (settings.write && tables.length > 0) await writeFigures(CAPTURE_FIGURES, tables.splice(0), { started, command, place: onCluster })
for (const [mark, parts] of [
  [REST_FIGURES, ON_ITS_OWN],
  [WEBHOOK_FIGURES, OF_WEBHOOKS],
  [FAIRNESS_FIGURES, OF_FAIRNESS],
  [BLOCKING_FIGURES, OF_BLOCKING],
  [ENGINE_FIGURES, OF_ENGINE],
  [PRICE_FIGURES, OF_PRICE],
  [STABILITY_FIGURES, OF_STABILITY],
  [TALL_FIGURES, OF_TALL],
  [HOSTILE_FIGURES, OF_HOSTILE],
  [STORES_FIGURES, OF_STORES],
  [LINK_FIGURES, OF_LINKS],
  [VIDEO_FIGURES, OF_VIDEOS],
  [COMPARE_FIGURES, OF_COMPARE],
  [CONSOLE_FIGURES, OF_CONSOLE],
] as const) {
  for (const [name, measure] of Object.entries(parts)) if (isWanted(name)) await measure()
  if (settings.write && tables.length > 0) await writeFigures(mark, tables.splice(0), { started, command, place: machine })
}
