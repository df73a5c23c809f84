/**
 * `npm run bench`: what a capture costs through the whole system, against the same capture made by a bare loop on the same node. It prints
 * tables and writes nothing, unless `--write` is given.
 */
import { Api } from './api.ts'
import { openBarePod, readPool } from './bare-pod.ts'
import { measureBurst } from './burst.ts'
import { describeMachine } from './machine.ts'
import { measureMemory } from './memory.ts'
import { waitUntilIdle, withPoolSize } from './pool.ts'
import { captureInOneRequest } from './product.ts'
import { burstTable, medianTable, memoryTable, oneRequestTable, sequentialTable, stageTable } from './report.ts'
import { withSecondAccount } from './second-account.ts'
import { measureSequential } from './sequential.ts'
import { HELP, type Part, parseSettings, type Settings } from './settings.ts'
import { renderTable, type Table } from './table.ts'
import { undoing, undoOnSignal } from './undo.ts'
import { writeFigures } from './write-figures.ts'

const settings = readSettings()
const tables: Table[] = []
const tell = (line: string): void => void process.stderr.write(`${line}\n`)
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

async function sequential(): Promise<void> {
  const api = new Api()
  const samples = await measureSequential({ settings, bare, apis: [api], tell })
  api.close()
  show(
    medianTable('One after the other, an idle runner (median of the rounds’ p50, ms)', samples),
    sequentialTable('The same round by round (ms)', samples),
    stageTable(samples),
  )
}

async function accounts(): Promise<void> {
  const samples = await withSecondAccount((key) =>
    withPoolSize({ minIdle: 2, maxPods: 3 }, async () => {
      const apis = [new Api(), new Api({ key })]
      const measured = await measureSequential({ settings, bare, apis, tell })
      for (const api of apis) api.close()
      return measured
    }),
  )
  show(medianTable('Two accounts in turns, two idle runners (median of the rounds’ p50, ms)', samples))
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

async function burst(): Promise<void> {
  const { browsers } = settings
  const samples = await withPoolSize({ minIdle: browsers, maxPods: browsers }, () => measureBurst(settings, bare, tell))
  show(burstTable(samples, browsers))
}

const PARTS: Record<Part, () => Promise<void>> = {
  // First: the work of the other parts is what memory is still used for afterwards.
  memory: async () => show(memoryTable(await measureMemory())),
  sequential,
  accounts,
  'one-request': oneRequest,
  burst,
}

const started = new Date()
console.log(`${started.toISOString()}, ${settings.rounds} rounds, ${describeMachine()}`)
undoOnSignal()
const bare = await openBarePod(await readPool())
await undoing(bare.close, async () => {
  for (const [name, measure] of Object.entries(PARTS)) if (settings.only.some((part) => part === name)) await measure()
})
if (settings.write) await writeFigures(tables, { started, command: ['npm run bench --', ...process.argv.slice(2)].join(' ') })
