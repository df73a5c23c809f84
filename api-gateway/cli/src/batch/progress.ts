import { toPrintable } from '../terminal/format.ts'
import { cut, type Output } from '../terminal/output.ts'
import type { Entry } from './state-file.ts'

const BAR_WIDTH = 24
/** Erases the line of the cursor. */
export const CLEAR = '\r\u{1b}[2K'

/** Shows how far a batch is: a bar on a terminal, a line for each URL elsewhere. */
export class Progress {
  readonly #output: Output
  readonly #total: number
  #ended: number
  #failed = 0

  constructor(output: Output, { total, done }: { total: number; done: number }) {
    this.#output = output
    this.#total = total
    this.#ended = done
    this.#draw('')
  }

  get failed(): number {
    return this.#failed
  }

  get completed(): number {
    return this.#ended - this.#failed
  }

  /** Counts an entry. `print` writes results, which must not share a line with the bar. */
  end({ url, status, error }: Entry, print: () => void): void {
    this.#ended += 1
    if (status !== 'done') this.#failed += 1
    if (this.#output.isTerminal) this.#output.write(CLEAR)
    print()
    const counter = `${String(this.#ended).padStart(String(this.#total).length)}/${this.#total}`
    if (status !== 'done') this.#output.write(`${counter} failed ${toPrintable(url)}: ${toPrintable(error ?? '')}\n`)
    else if (!this.#output.isTerminal) this.#output.write(`${counter} done   ${toPrintable(url)}\n`)
    this.#draw(url)
  }

  /** Removes the bar. */
  stop(): void {
    if (this.#output.isTerminal) this.#output.write(CLEAR)
  }

  #draw(url: string): void {
    if (!this.#output.isTerminal) return
    const filled = Math.round((BAR_WIDTH * this.#ended) / this.#total)
    const bar = `[${'='.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}]`
    const failed = this.#failed === 0 ? '' : ` ${this.#failed} failed`
    this.#output.write(CLEAR + cut(`${bar} ${this.#ended}/${this.#total}${failed} ${toPrintable(url)}`, this.#output.columns - 1))
  }
}
