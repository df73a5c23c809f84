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
