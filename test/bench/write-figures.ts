import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describeMachine } from './machine.ts'
import { renderTable, type Table } from './table.ts'

const FILE = path.join(import.meta.dirname, '../../docs/benchmarks.md')
const BEGIN = '<!-- figures: written by `npm run bench -- --write` -->'
const END = '<!-- end of figures -->'

/** Puts figures between the two marks of a text. @throws when they are not there */
export function replaceFigures(text: string, figures: string): string {
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`the text has no place for figures: ${BEGIN} … ${END}`)
  return `${text.slice(0, begin + BEGIN.length)}\n\n${figures}\n\n${text.slice(end)}`
}

/** Writes the tables into docs/benchmarks.md, with when and how they came about. */
export async function writeFigures(tables: readonly Table[], { started, command }: { started: Date; command: string }): Promise<void> {
  const source = `\`${command}\`, ${started.toISOString().slice(0, 16).replace('T', ' ')} UTC. ${describeMachine()}.`
  await writeFile(FILE, replaceFigures(await readFile(FILE, 'utf8'), [source, ...tables.map(renderTable)].join('\n\n')))
}
