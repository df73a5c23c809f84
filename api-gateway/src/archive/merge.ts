import type { Line } from '@tintype/crds/records/archive'
import type { SegmentName } from '@tintype/crds/records/storage-keys'
import type { ScanDirection } from '../store/ports.ts'

/** How ids, segments and lines are compared and sorted in one direction. */
export interface ScanOrder {
  /** True when an id comes before another. */
  isBefore: (id: string, other: string) => boolean
  /** First and last id of a segment in this order. */
  startOf: (segment: SegmentName) => string
  endOf: (segment: SegmentName) => string
  /** Sorts entries that are stored newest first. */
  sort: <T = Line>(entries: readonly T[]) => readonly T[]
}

/** The order for each direction. */
export const SCAN_ORDERS: Readonly<Record<ScanDirection, ScanOrder>> = {
  newest: {
    isBefore: (id, other) => id < other,
    startOf: ({ first }) => first,
    endOf: ({ last }) => last,
    sort: (entries) => entries,
  },
  oldest: {
    isBefore: (id, other) => id > other,
    startOf: ({ last }) => last,
    endOf: ({ first }) => first,
    sort: (entries) => entries.toReversed(),
  },
}

// Segments of one day overlap, because captures do not end in the order of their requests. Merging them gives one sequence.

interface Source {
  lines: readonly Line[]
  at: number
}

/** Merges lines of several segments by id. Keeps all lines with the same id. Segments can be added during the merge. */
export class LineMerge {
  readonly #order: Pick<ScanOrder, 'isBefore' | 'sort'>
  #sources: Source[] = []

  constructor(order: Pick<ScanOrder, 'isBefore' | 'sort'>) {
    this.#order = order
  }

  /** Adds a segment, starting with the first line after the id `after`. */
  add(written: readonly Line[], after: string | undefined): void {
    const lines = this.#order.sort(written)
    const at = after === undefined ? 0 : lines.findIndex(({ id }) => this.#order.isBefore(after, id))
    if (at !== -1 && lines.length > 0) this.#sources.push({ lines, at })
  }

  /** The next id. */
  get nextId(): string | undefined {
    let next: string | undefined
    for (const { lines, at } of this.#sources) {
      const { id } = lines[at]!
      if (next === undefined || this.#order.isBefore(id, next)) next = id
    }
    return next
  }

  /** Removes and returns all lines of the id from {@link nextId}. */
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
