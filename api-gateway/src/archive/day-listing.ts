import { type Line, readLines } from '@tintype/crds/records/archive'
import { OBJECTS } from '@tintype/crds/records/folders'
import { isFuture, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { dayPrefix, isDay, recordsPrefix, type SegmentName, segmentsPrefix, startOfDay } from '@tintype/crds/records/storage-keys'
import { readRecordKeys } from '@tintype/crds/storage/archive'
import { isTooLarge, PAGE } from '@tintype/crds/storage/port'
import { listPages } from '@tintype/crds/storage/stored-objects'
import type { LRUCache } from 'lru-cache'
import type { ObjectStore } from '../store/ports.ts'

// Lists the objects of one day by their keys. The prefix of a day contains, in key order: `one/` with one record per object, `segments/` and
// `tombstones/`. One listing that starts after `one/` covers the other two, unless the day has many objects.

/** One day of an account. */
export interface DayListing {
  day: string
  segments: readonly SegmentName[]
  /** Ids of deleted records. Undefined when there are too many for one listing. They are then listed on demand. */
  deletedIds: ReadonlySet<string> | undefined
}

/** Dependencies of the list functions. */
export interface ListDeps {
  storage: Pick<ObjectStore, 'list'>
  report: ReportIgnored
  now: Date
}

/** Upper bound for the records of a day, because a record can be in two segments. */
export const countOf = ({ segments }: DayListing): number => segments.reduce((sum, { count }) => sum + count, 0)

/** Reads the complete keys of one day. */
function toListing(day: string, keys: readonly string[], report: ReportIgnored): DayListing {
  const { segments, deletedIds } = readRecordKeys(keys, report)
  return { day, segments, deletedIds: new Set(deletedIds) }
}

/** True for a valid day that is not in the future. */
export const isPastDay = (day: string, now: Date): boolean => isDay(day) && !isFuture(startOfDay(day), now)

/** Reports keys under an invalid or a future day. */
export const reportDay = (day: string, keys: readonly string[], report: ReportIgnored): void => {
  for (const key of keys) report({ kind: 'record', reason: isDay(day) ? 'time' : 'key', key })
}

/** Lists a day. @param isWhole lists all tombstones, even if there are many */
export async function listDay(account: string, day: string, { storage, report }: ListDeps, isWhole = false): Promise<DayListing> {
  const prefix = dayPrefix(account, day)
  const segments = segmentsPrefix(account, day)
  const found: string[] = []
  for await (const keys of listPages(prefix, storage, { after: segments })) {
    found.push(...keys)
    const isCut = keys.length === PAGE && !keys.at(-1)!.startsWith(segments)
    if (isCut && !isWhole) return { ...toListing(day, found, report), deletedIds: undefined }
  }
  return toListing(day, found, report)
}

/** A key that sorts after all keys of a day, because a tilde sorts after the slash. */
export const endOfDay = (account: string, day: string): string => `${recordsPrefix(account)}${day}~`

/** Result of {@link listAfter}. */
interface ListingAfter {
  /** Days that are complete. */
  listings: DayListing[]
  /** The last day, which may have more keys, and the last key. Absent at the end of the list. */
  cut?: { day: string; key: string }
}

/** Lists up to `limit` keys after a key. */
export async function listAfter(
  account: string,
  after: string | undefined,
  { storage, limit, report, now }: ListDeps & { limit: number },
): Promise<ListingAfter> {
  const prefix = recordsPrefix(account)
  const keys = await storage.list(prefix, { after, limit })
  const byDay = Map.groupBy(keys, (key) => dayIn(prefix, key))
  const key = keys.length < limit ? undefined : keys.at(-1)
  const cut = key === undefined ? undefined : { day: dayIn(prefix, key), key }
  const listings: DayListing[] = []
  for (const [day, ofDay] of byDay) {
    if (!isPastDay(day, now)) reportDay(day, ofDay, report)
    else if (day !== cut?.day) listings.push(toListing(day, ofDay, report))
  }
  return { listings, ...(cut ? { cut } : {}) }
}

/** The part of a key between the prefix and the next slash. */
export const dayIn = (prefix: string, key: string): string => key.slice(prefix.length).split('/', 1)[0] ?? ''

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
