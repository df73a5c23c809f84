import type { Line } from '@tintype/crds/archive'
import type { ScanOrder } from './scan-order.ts'

// Segments of one day overlap, for captures do not end in the order in which they were asked for. Read side by side they give one sequence.

interface Source {
  lines: readonly Line[]
  at: number
}

/** Lines of several segments as one sequence by id; of lines with the same id, all. Segments may join while it is read. */
export class LineMerge {
  readonly #order: Pick<ScanOrder, 'isBefore' | 'arrange'>
  #sources: Source[] = []

  constructor(order: Pick<ScanOrder, 'isBefore' | 'arrange'>) {
    this.#order = order
  }

  /** Adds a segment, as it was written, from the first line whose id is beyond `after`. */
  add(written: readonly Line[], after: string | undefined): void {
    const lines = this.#order.arrange(written)
    const at = after === undefined ? 0 : lines.findIndex(({ id }) => this.#order.isBefore(after, id))
    if (at !== -1 && lines.length > 0) this.#sources.push({ lines, at })
  }

  /** The id that comes next. */
  get nextId(): string | undefined {
    let next: string | undefined
    for (const { lines, at } of this.#sources) {
      const { id } = lines[at]!
      if (next === undefined || this.#order.isBefore(id, next)) next = id
    }
    return next
  }

  /** Takes all lines of an id that {@link nextId} gave. */
  take(id: string): Line[] {
    const taken: Line[] = []
    for (const source of this.#sources) {
      if (source.lines[source.at]!.id !== id) continue
      taken.push(source.lines[source.at]!)
      source.at++
    }
    this.#sources = this.#sources.filter(({ lines, at }) => at < lines.length)
    return taken
  }
}
