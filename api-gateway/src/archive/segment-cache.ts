import { type Line, readSegment } from '@tintype/crds/records/archive'

interface Entry {
  lines: readonly Line[]
  bytes: number
}

/** LRU cache of segments with a size limit. The content of a segment key never changes. */
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
    // A Map iterates in insertion order, so its first entry is the least recently used one.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.lines
  }

  /** Stores and returns the lines of a segment. */
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
