import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { renderTable, type Table } from './table.ts'

const FILE = path.join(import.meta.dirname, '../../../docs/benchmarks.md')
const END = '<!-- end of figures -->'

/** The marks before the places for figures: each run replaces those of what it has measured. */
export const CAPTURE_FIGURES = '<!-- figures: written by `npm run bench -- --write` -->'
export const WEBHOOK_FIGURES = '<!-- figures of webhooks: written by `npm run bench -- --write` -->'
export const REST_FIGURES = '<!-- figures of the REST interface: written by `npm run bench -- --write` -->'

export const FAIRNESS_FIGURES = '<!-- figures of fairness: written by `npm run bench -- --write` -->'
export const BLOCKING_FIGURES = '<!-- figures of blocking: written by `npm run bench -- --write` -->'
export const HOSTILE_FIGURES = '<!-- figures of hostile pages: written by `npm run bench -- --write` -->'
export const STABILITY_FIGURES = '<!-- figures of the wait for visual stability: written by `npm run bench -- --write` -->'
export const HTTP_CACHE_FIGURES = '<!-- figures of the HTTP cache: written by `npm run bench -- --write` -->'
export const ENGINE_FIGURES = '<!-- figures of the engine: written by `npm run bench -- --write` -->'
export const TALL_FIGURES = '<!-- figures of tall pages: written by `npm run bench -- --write` -->'
export const STORE_FIGURES = '<!-- figures of the store: written by `npm run bench -- --write` -->'
/** Of one part of the soak run: parts are run apart, so their figures are kept apart. */
export const soakFigures = (part: string): string =>
  `<!-- figures of the soak part ${part}: written by \`npm run soak -- ${part} --write\` -->`

/** Puts figures between a mark and the end mark after it. @throws when they are not there */
export function replaceFigures(text: string, figures: string, mark = CAPTURE_FIGURES): string {
  const begin = text.indexOf(mark)
  const end = text.indexOf(END, begin)
  if (begin < 0 || end < 0) throw new Error(`the text has no place for figures: ${mark} … ${END}`)
  return `${text.slice(0, begin + mark.length)}\n\n${figures}\n\n${text.slice(end)}`
}

/** When and how figures came about. */
export interface FiguresSource {
  started: Date
  command: string
  /** What was measured on, in words. */
  place: string
}

/** Writes the tables into docs/benchmarks.md, with when and how they came about. */
export async function writeFigures(mark: string, tables: readonly Table[], { started, command, place }: FiguresSource): Promise<void> {
  const source = `\`${command}\`, ${started.toISOString().slice(0, 16).replace('T', ' ')} UTC. ${place}.`
  await writeFile(FILE, replaceFigures(await readFile(FILE, 'utf8'), [source, ...tables.map(renderTable)].join('\n\n'), mark))
}
