import { type Line, linesInPlace, readSegment, type SegmentName } from '@tintype/crds/archive'
import { isTooLarge } from '@tintype/crds/storage/port'
import { MAX_OBJECT_BYTES } from '@tintype/crds/storage-limits'
import type { ReportIgnored } from '@tintype/crds/stored/ignored-objects'
import type { ObjectStore } from '../store/ports.ts'
import type { SegmentCache } from './segment-cache.ts'

/** Segments under way at a time, and the records in them beyond which none more is begun. */
const AT_ONCE = 16
const AHEAD_RECORDS = 200

/** A segment that was listed is not there any more: others hold its records now. */
export class SegmentReplaced extends Error {}

/** Reads the segments of one scan: small ones some at a time, before they are asked for, so that a page of many does not wait for each. */
export class SegmentReader {
  readonly #objects: Pick<ObjectStore, 'read'>
  readonly #cache: SegmentCache
  readonly #report: ReportIgnored
  /** What is to be read, in order. */
  #expected: SegmentName[] = []
  readonly #begun = new Map<string, { count: number; lines: Promise<readonly Line[]> }>()

  constructor({ objects, cache, report }: { objects: Pick<ObjectStore, 'read'>; cache: SegmentCache; report: ReportIgnored }) {
    this.#objects = objects
    this.#cache = cache
    this.#report = report
  }

  /** Tells which segments will be asked for, in order; those told before come first. */
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
      next && this.#begun.size < AT_ONCE && records + next.count <= AHEAD_RECORDS;
      next = this.#expected[0]
    ) {
      this.#expected.shift()
      records += next.count
      this.#begin(next)
    }
  }

  #begin(segment: SegmentName): Promise<readonly Line[]> {
    const lines = this.#read(segment)
    // Whoever asks for it hears of it; nobody may.
    lines.catch(() => undefined)
    this.#begun.set(segment.key, { count: segment.count, lines })
    return lines
  }

  async #read(segment: SegmentName): Promise<readonly Line[]> {
    const { key, count } = segment
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const text = await this.#readText(key)
    const lines = linesInPlace(segment, readSegment(text ?? ''))
    if (lines.length !== count) this.#report({ kind: 'segment', reason: text === undefined ? 'size' : 'content', key })
    return this.#cache.set(key, text ?? '', lines)
  }

  /** Undefined when there is more than a segment has. @throws SegmentReplaced */
  async #readText(key: string): Promise<string | undefined> {
    const stored = await this.#objects.read(key, MAX_OBJECT_BYTES.segment).catch((error: unknown) => {
      if (isTooLarge(error)) return { text: undefined }
      throw error
    })
    if (stored === undefined) throw new SegmentReplaced(key)
    return stored.text
  }
}
