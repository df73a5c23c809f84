import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { renderTable, type Table } from './table.ts'

const FILE = path.join(import.meta.dirname, '../../../docs/benchmarks.md')
const END = '<!-- end of figures -->'

/** Marks in docs/benchmarks.md. Each run replaces the figures after the marks of its parts. */
export const CAPTURE_FIGURES = '<!-- figures: written by `npm run bench -- --write` -->'
export const WEBHOOK_FIGURES = '<!-- figures of webhooks: written by `npm run bench -- --write` -->'
export const REST_FIGURES = '<!-- figures of the REST interface: written by `npm run bench -- --write` -->'

export const FAIRNESS_FIGURES = '<!-- figures of fairness: written by `npm run bench -- --write` -->'
export const BLOCKING_FIGURES = '<!-- figures of blocking: written by `npm run bench -- --write` -->'
export const HOSTILE_FIGURES = '<!-- figures of hostile pages: written by `npm run bench -- --write` -->'
export const STABILITY_FIGURES = '<!-- figures of the wait for visual stability: written by `npm run bench -- --write` -->'
export const ENGINE_FIGURES = '<!-- figures of the engine: written by `npm run bench -- --write` -->'
export const PRICE_FIGURES = '<!-- figures of the price: written by `npm run bench -- --write` -->'
export const TALL_FIGURES = '<!-- figures of tall pages: written by `npm run bench -- --write` -->'
export const STORES_FIGURES = '<!-- figures of both stores: written by `npm run bench -- --write` -->'
export const LINK_FIGURES = '<!-- figures of signed links: written by `npm run bench -- --write` -->'
export const COMPARE_FIGURES = '<!-- figures of comparisons: written by `npm run bench -- --write` -->'
export const CONSOLE_FIGURES = '<!-- figures of the console: written by `npm run bench -- --write` -->'
export const VIDEO_FIGURES = '<!-- figures of videos: written by `npm run bench -- --write` -->'
/** The mark of one part of the soak run. Parts run separately, so each has its own mark. */
export const soakFigures = (part: string): string =>
  `<!-- figures of the soak part ${part}: written by \`npm run soak -- ${part} --write\` -->`

/** Replaces the figures between a mark and its end mark. @throws when the marks are missing */
export function replaceFigures(text: string, figures: string, mark = CAPTURE_FIGURES): string {
  const begin = text.indexOf(mark)
  const end = text.indexOf(END, begin)
  if (begin < 0 || end < 0) throw new Error(`the text has no place for figures: ${mark} … ${END}`)
  return `${text.slice(0, begin + mark.length)}\n\n${figures}\n\n${text.slice(end)}`
}

/** Time and command of a measurement. */
export interface FiguresSource {
  started: Date
  command: string
  /** Description of the machine. */
  place: string
}

/** Writes the tables to docs/benchmarks.md, with time, command and machine. */
export async function writeFigures(mark: string, tables: readonly Table[], { started, command, place }: FiguresSource): Promise<void> {
  const source = `\`${command}\`, ${started.toISOString().slice(0, 16).replace('T', ' ')} UTC. ${place}.`
  await writeFile(FILE, replaceFigures(await readFile(FILE, 'utf8'), [source, ...tables.map(renderTable)].join('\n\n'), mark))
}
