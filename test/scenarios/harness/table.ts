import { median } from './statistics.ts'

/** A table with a head and rows of the same length. */
export interface Table {
  title: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

/** The columns of a table by head. Numbers are rounded; a column with other digits returns a text. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number>>

/** Builds a table with a row for each sample. */
export const tableOf = <Row>(title: string, samples: readonly Row[], columns: Columns<Row>): Table => ({
  title,
  head: Object.keys(columns),
  rows: samples.map((sample) => Object.values(columns).map((of) => toCell(of(sample)))),
})

/** Columns of numbers by head: the value of a sample, and how many digits it has (default 0). */
export type RoundColumns<Sample> = Readonly<Record<string, readonly [of: (sample: Sample) => number, digits?: number]>>

/** Builds a table with a row for each round, and a last row with the medians of the rounds. */
export function roundsTable<Sample extends { round: number }>(
  title: string,
  samples: readonly Sample[],
  columns: RoundColumns<Sample>,
): Table {
  const row = (name: string, rounds: readonly Sample[]): string[] => [
    name,
    ...Object.values(columns).map(([of, digits = 0]) => fixed(median(rounds.map(of)), digits)),
  ]
  const rows = [...samples.map((sample) => row(String(sample.round), [sample])), row('median', samples)]
  return { title, head: ['round', ...Object.keys(columns)], rows }
}

/** A number with this many digits after the point; empty if there is none. */
export const fixed = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : '')

const toCell = (cell: string | number): string => (typeof cell === 'number' ? fixed(cell, 0) : cell)

/** `+12` or `-3`: a difference as a cell. */
export function toDifference(value: number): string {
  const rounded = Math.round(value)
  return Number.isFinite(value) ? `${rounded < 0 ? '' : '+'}${rounded}` : ''
}

/** Numbers, including signs and units, are right-aligned. */
const NUMBER = /^[-+±]?\d[\d\s.]*( ?(ms|s|MiB|%|\/s))?$/

const isNumeric = (rows: Table['rows'], column: number): boolean =>
  rows.every((row) => NUMBER.test(row[column] ?? '') || row[column] === '')

/** The table as Markdown with aligned columns, which is also readable in a terminal. */
export function renderTable({ title, head, rows }: Table): string {
  const widths = head.map((text, column) => Math.max(3, text.length, ...rows.map((row) => (row[column] ?? '').length)))
  const right = head.map((_, column) => isNumeric(rows, column))
  const cell = (text: string, column: number) => (right[column] ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0))
  const line = (cells: readonly string[]) => `| ${head.map((_, column) => cell(cells[column] ?? '', column)).join(' | ')} |`
  const rule = widths.map((width, column) => (right[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  return [`**${title}**`, '', line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n')
}
