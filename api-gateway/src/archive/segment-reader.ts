import { type Line, readLines } from '@tintype/crds/records/archive'
import { OBJECTS } from '@tintype/crds/records/folders'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import type { SegmentName } from '@tintype/crds/records/storage-keys'
import { isTooLarge } from '@tintype/crds/storage/port'
import type { LRUCache } from 'lru-cache'
import type { ObjectStore } from '../store/ports.ts'

/** Concurrent segment reads, and the number of records up to which segments are read ahead. */
const MAX_CONCURRENT = 16
const AHEAD_RECORDS = 200

/** Lines of segments by key, with a limit of their bytes. The content of a key never changes. */
export type SegmentCache = LRUCache<string, readonly Line[]>

/** A listed segment no longer exists, because its records were moved to other segments. */
export class SegmentReplaced extends Error {}

/** Reads the segments of one scan. Small segments are read ahead concurrently, so a page of many segments does not wait for each one. */
export class SegmentReader {
  readonly #storage: Pick<ObjectStore, 'read'>
  readonly #cache: SegmentCache
  readonly #report: ReportIgnored
  /** Segments to read, in order. */
  #expected: SegmentName[] = []
  readonly #begun = new Map<string, { count: number; lines: Promise<readonly Line[]> }>()

  constructor({ storage, cache, report }: { storage: Pick<ObjectStore, 'read'>; cache: SegmentCache; report: ReportIgnored }) {
    this.#storage = storage
    this.#cache = cache
    this.#report = report
  }

  /** Announces the segments that will be loaded next, in order. */
  expect(segments: readonly SegmentName[]): void {
    this.#expected.push(...segments)
  }

  /** @throws SegmentReplaced */
  async load(segment: SegmentName): Promise<readonly Line[]> {
    const lines = this.#begun.get(segment.key)?.lines ?? this.#begin(segment)
    this.#begun.delete(segment.key)
    if (this.#expected[0]?.key === segment.key) this.#expected.shift()
    this.#readAhead(segment.count)
    return lines
  }

  #readAhead(count: number): void {
    let records = [...this.#begun.values()].reduce((sum, begun) => sum + begun.count, count)
    for (
      let next = this.#expected[0];
      next && this.#begun.size < MAX_CONCURRENT && records + next.count <= AHEAD_RECORDS;
      next = this.#expected[0]
    ) {
      this.#expected.shift()
      records += next.count
      this.#begin(next)
    }
  }

  #begin(segment: SegmentName): Promise<readonly Line[]> {
    const lines = this.#read(segment)
    // Avoids an unhandled rejection when the segment is never loaded. `load` still rejects.
    lines.catch(() => undefined)
    this.#begun.set(segment.key, { count: segment.count, lines })
    return lines
  }

  async #read(segment: SegmentName): Promise<readonly Line[]> {
    const { key, count } = segment
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const text = await this.#readText(key)
    const lines = readLines(segment, text ?? '')
    if (lines.length !== count) this.#report({ kind: 'segment', reason: text === undefined ? 'size' : 'content', key })
    // The library refuses a size of 0, and does not store what is larger than its limit.
    this.#cache.set(key, lines, { size: Math.max(1, Buffer.byteLength(text ?? '')) })
    return lines
  }

  /** Undefined when there is more than a segment has. @throws SegmentReplaced */
  async #readText(key: string): Promise<string | undefined> {
    const stored = await this.#storage.read(key, OBJECTS.segment.maxBytes).catch((error: unknown) => {
      if (isTooLarge(error)) return { text: undefined }
      throw error
    })
    if (stored === undefined) throw new SegmentReplaced(key)
    return stored.text
  }
}
