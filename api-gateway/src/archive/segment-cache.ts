import type { Line } from '@tintype/crds/records/archive'
import { LRUCache } from 'lru-cache'

/** LRU cache of segments with a size limit. The content of a segment key never changes. */
export class SegmentCache {
  readonly #lines: LRUCache<string, readonly Line[]>

  constructor(maxBytes: number) {
    this.#lines = new LRUCache({ maxSize: maxBytes })
  }

  get bytes(): number {
    return this.#lines.calculatedSize
  }

  get(key: string): readonly Line[] | undefined {
    return this.#lines.get(key)
  }

  /** Stores and returns the lines of a segment. A segment larger than the cache is not stored. */
  set(key: string, text: string, lines: readonly Line[]): readonly Line[] {
    // The library rejects a size of 0.
    this.#lines.set(key, lines, { size: Math.max(1, Buffer.byteLength(text)) })
    return lines
  }
}
