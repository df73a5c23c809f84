/**
 * `npm run soak`: what takes too long for every test run. Each part says what it shows, prints what was found, and the last line is the total;
 * the exit code is 1 when something was not shown.
 */
import { describeMachine } from '../bench/machine.ts'
import { renderTable, type Table } from '../bench/table.ts'
import { SOAK_FIGURES, writeFigures } from '../bench/write-figures.ts'
import { parts } from './all-parts.ts'
import type { Finding, Part } from './part.ts'
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
  console.error(`no part named ${unknown.join(', ')}; there are ${parts.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const started = new Date()
const tables: Table[] = []
const all: { part: string; finding: Finding }[] = []
const tell = (line: string): void => void process.stderr.write(`   ${new Date().toISOString().slice(11, 19)} ${line}\n`)

async function runPart({ name, run }: Part): Promise<Finding[]> {
  try {
    const { findings, tables: found = [] } = await run({ settings, tell })
    for (const table of found) console.log(`\n${renderTable(table)}\n`)
    tables.push(...found)
    return findings
  } catch (error) {
    console.error(error)
    return [{ shows: `${name} runs to its end`, measured: error instanceof Error ? error.message : String(error), bar: '', isMet: false }]
  }
}

for (const part of parts) {
  if (settings.names.length > 0 && !settings.names.includes(part.name)) continue
  const begun = performance.now()
  console.log(`\n== ${part.name}: ${part.shows}`)
  const findings = await runPart(part)
  for (const { shows, measured, bar, isMet } of findings)
    console.log(`${isMet ? 'ok    ' : 'NOT OK'} ${shows}: ${measured}${bar === '' ? '' : ` (${bar})`}`)
  all.push(...findings.map((finding) => ({ part: part.name, finding })))
  console.log(`== ${part.name}: ${((performance.now() - begun) / 1_000).toFixed(0)} s`)
}

const failed = all.filter(({ finding }) => !finding.isMet).length
if (settings.write && all.length > 0) {
  const rows = all.map(({ part, finding }) => [part, finding.shows, finding.measured, finding.bar, finding.isMet ? 'yes' : '**no**'])
  const summary: Table = { title: 'What was shown', head: ['part', 'shows', 'measured', 'bar', 'met'], rows }
  const command = ['npm run soak --', ...process.argv.slice(2)].join(' ')
  await writeFigures(SOAK_FIGURES, [summary, ...tables], { started, command, place: `${describeMachine()}; etcd waits for the disk` })
}
console.log(`\n${all.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
