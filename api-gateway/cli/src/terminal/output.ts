import { replaceHidden, toEscape } from '@tintype/crds/text/visible'

/** Where a command writes. Tests replace it. */
export interface Output {
  write(chunk: string | Uint8Array): void
  /** True for a terminal, which shows a progress bar. */
  readonly isTerminal: boolean
  /** Characters in a line. */
  readonly columns: number
}

const DEFAULT_COLUMNS = 80

/** An output of the process. */
export const toOutput = (stream: NodeJS.WriteStream): Output => ({
  write: (chunk) => {
    stream.write(chunk)
  },
  get isTerminal() {
    return stream.isTTY === true
  },
  get columns() {
    return stream.columns ?? DEFAULT_COLUMNS
  },
})

/** Cuts a text to a number of characters. */
export const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1))}…`)

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const
const STEP = 1_024

/** `45.3 KiB`, as in the console */
export function formatBytes(bytes: number): string {
  const index = bytes < STEP ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(STEP)))
  const value = bytes / STEP ** index
  return `${index === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[index]}`
}

/** `2026-11-24 16:05` in UTC, or `-`. */
export const formatTime = (time: string | null | undefined): string => (time ? time.slice(0, 16).replace('T', ' ') : '-')

/** Text that cannot move the cursor, change colors or reorder the line of a terminal. Page titles and URLs come from strangers. */
export const toPrintable = (text: string): string => replaceHidden(text, () => '\u{fffd}')

/** JSON on one line, for terminals too: what {@link toPrintable} replaces is escaped, so that the value stays the same. */
export const toPrintableJson = (value: unknown): string => replaceHidden(JSON.stringify(value), toEscape)

/** Lines of names and values. */
export const formatFacts = (facts: readonly (readonly [name: string, value: string])[]): string[] =>
  facts.map(([name, value]) => `${name.padEnd(9)} ${value}`)

/** Lines with aligned columns. The last column is not padded. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(toPrintable))
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const align = (cells: readonly string[]): string => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return lines.map((cells) => `${align(cells).trimEnd()}\n`).join('')
}
