/**
 * `npm run soak`: tests that take too long for every test run. Each part states its claim and prints its results. The last line is the
 * total. The exit code is 1 if a claim was not met.
 */
import { loadavg } from 'node:os'
import { describeMachine } from '../bench/report/machine.ts'
import { renderTable, type Table } from '../bench/report/table.ts'
import { undoOnSignal } from '../bench/report/undo.ts'
import { soakFigures, writeFigures } from '../bench/report/write-figures.ts'
import { parts } from './all-parts.ts'
import type { Finding, Part, PartResult } from './part.ts'
import { help, parseSettings, type SoakSettings } from './settings.ts'

function readSettings(): SoakSettings {
  try {
    const settings = parseSettings(process.argv.slice(2))
    if (settings) return settings
    console.log(help(parts))
    process.exit(0)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

const settings = readSettings()
const unknown = settings.names.filter((name) => !parts.some((part) => part.name === name))
if (unknown.length > 0) {
  console.error(`unknown part: ${unknown.join(', ')}. Parts: ${parts.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const started = new Date()
const all: Finding[] = []
const progress = (line: string): void => void process.stderr.write(`   ${new Date().toISOString().slice(11, 19)} ${line}\n`)

async function runPart({ name, run }: Part): Promise<PartResult> {
  try {
    return await run({ settings, progress })
  } catch (error) {
    console.error(error)
    const measured = error instanceof Error ? error.message : String(error)
    return { findings: [{ shows: `${name} runs to its end`, measured, bar: '', isMet: false }] }
  }
}

function print({ shows, measured, bar, isMet }: Finding): void {
  console.log(`${isMet ? 'ok    ' : 'NOT OK'} ${shows}: ${measured}${bar === '' ? '' : ` (${bar})`}`)
}

async function write({ name, shows }: Part, { findings, tables = [] }: PartResult): Promise<void> {
  const rows = findings.map((finding) => [finding.shows, finding.measured, finding.bar, finding.isMet ? 'yes' : '**no**'])
  const summary: Table = { title: `${name}: ${shows}`, head: ['claim', 'measured', 'target', 'met'], rows }
  const command = ['npm run soak --', ...process.argv.slice(2)].join(' ')
  const place = `${describeMachine()}, load ${loadavg()[0]?.toFixed(0)}; etcd waits for the disk`
  await writeFigures(soakFigures(name), [summary, ...tables], { started, command, place })
}

undoOnSignal()
for (const part of parts) {
  if (settings.names.length > 0 && !settings.names.includes(part.name)) continue
  const begun = performance.now()
  console.log(`\n== ${part.name}: ${part.shows}`)
  const result = await runPart(part)
  for (const table of result.tables ?? []) console.log(`\n${renderTable(table)}\n`)
  result.findings.forEach(print)
  all.push(...result.findings)
  if (settings.write) await write(part, result)
  console.log(`== ${part.name}: ${((performance.now() - begun) / 1_000).toFixed(0)} s`)
}

const failed = all.filter(({ isMet }) => !isMet).length
console.log(`\n${all.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
