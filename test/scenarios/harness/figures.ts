import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { repository } from '../../cluster/host/state.ts'
import type { Command } from './options.ts'
import type { Finding } from './scenario.ts'
import { renderTable, type Table } from './table.ts'

const FILE = path.join(repository, 'docs/benchmarks.md')
const END = '<!-- end of figures -->'

/** The mark before the figures of a scenario in docs/benchmarks.md. */
export const markOf = (command: Command, name: string): string => `<!-- figures of ${command} ${name} -->`

export const readFigures = (): Promise<string> => readFile(FILE, 'utf8')

/** Replaces the figures between a mark and its end. @throws when the marks are missing */
export function replaceFigures(text: string, mark: string, figures: string): string {
  const begin = text.indexOf(mark)
  const end = text.indexOf(END, begin)
  if (begin < 0 || end < 0) throw new Error(`docs/benchmarks.md has no place for the figures: ${mark} … ${END}`)
  return `${text.slice(0, begin + mark.length)}\n\n${figures}\n\n${text.slice(end)}`
}

/** The results of a scenario, with their time, command and machine. */
export interface Figures {
  mark: string
  /** Name and claim of the scenario. */
  title: string
  results: readonly (Finding | Table)[]
  /** Command, time and place. */
  source: string
}

/** Writes the findings as one table, and the other tables. */
export async function writeFigures({ mark, title, results, source }: Figures): Promise<void> {
  const rows = results.flatMap((result) =>
    'shows' in result ? [[result.shows, result.measured, result.bar, result.isMet ? 'yes' : '**no**']] : [],
  )
  const findings = { title, head: ['claim', 'measured', 'target', 'met'], rows }
  const tables = [...(rows.length > 0 ? [findings] : []), ...results.filter((result) => 'head' in result)]
  await writeFile(FILE, replaceFigures(await readFigures(), mark, [source, ...tables.map(renderTable)].join('\n\n')))
}
