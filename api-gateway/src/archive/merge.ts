import type { Line } from '@tintype/crds/archive'

// Segments of one day overlap, for captures do not end in the order in which they were asked for. Read side by side they give one sequence.

interface Source {
  lines: readonly Line[]
  at: number
}

/** Lines of several segments as one sequence by id; of lines with the same id, all. Segments may join while it is read. */
export class LineMerge {
  #sources: Source[] = []

  /** Adds a segment, from the first line whose id is beyond `after`. */
  add(lines: readonly Line[], after: string | undefined): void {
    const at = after === undefined ? 0 : lines.findIndex(({ id }) => id > after)
    if (at !== -1 && lines.length > 0) this.#sources.push({ lines, at })
  }

  /** The id that comes next. */
  get nextId(): string | undefined {
    let least: string | undefined
    for (const { lines, at } of this.#sources) {
      const { id } = lines[at]!
      if (least === undefined || id < least) least = id
    }
    return least
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
