import { type Line, readSegment } from '@tintype/crds/archive'

interface Entry {
  lines: readonly Line[]
  bytes: number
}

/** The segments read last, within a bound: a segment never changes under its key. */
export class SegmentCache {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): readonly Line[] | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    // The order of a map is that of insertion: the first is the one that was asked for longest ago.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.lines
  }

  /** Keeps the lines of a segment's text, and gives them. */
  set(key: string, text: string, lines: readonly Line[] = readSegment(text)): readonly Line[] {
    const entry = { lines, bytes: Buffer.byteLength(text) }
    this.#drop(key)
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.#drop(oldest)
    }
    return entry.lines
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}
