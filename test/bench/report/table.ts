/** A table with a head and rows of the same length. */
export interface Table {
  title: string
  head: readonly string[]
  rows: readonly (readonly string[])[]
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

/** `123.4`: milliseconds as a cell. */
export const toCell = (milliseconds: number): string => (Number.isFinite(milliseconds) ? milliseconds.toFixed(0) : '')

/** `+12` or `-3`: a difference in milliseconds as a cell. */
export function toDifference(milliseconds: number): string {
  const rounded = Math.round(milliseconds)
  return Number.isFinite(milliseconds) ? `${rounded < 0 ? '' : '+'}${rounded}` : ''
}
