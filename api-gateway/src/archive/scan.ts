import { toCached } from '@tintype/crds/client/cached-form'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { type Line, readArchived } from '@tintype/crds/records/archive'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { dayOf, invertedDay, isDay, recordsPrefix, type SegmentName, segmentsPrefix } from '@tintype/crds/records/storage-keys'
import { Tombstones } from '@tintype/crds/storage/archive'
import { PAGE } from '@tintype/crds/storage/port'
import { listPages } from '@tintype/crds/storage/stored-objects'
import type { ObjectStore, ScanDirection } from '../store/ports.ts'
import {
  countOf,
  type DayListing,
  dayIn,
  endOfDay,
  isPastDay,
  type ListDeps,
  listAfter,
  listDay,
  reportDay,
  type SegmentCache,
  SegmentReader,
  SegmentReplaced,
} from './day-listing.ts'

interface ScanDeps {
  storage: Pick<ObjectStore, 'read' | 'list'>
  cache: SegmentCache
  report: ReportIgnored
  now: Date
}

/** Where a scan starts, and its direction. */
interface ScanStart {
  account: string
  /** The scan starts after this id. */
  after: string | undefined
  direction: ScanDirection
}

/** The latest valid line of a record, because a record can be archived twice. */
function latestOf(account: string, lines: readonly Line[], { report, now }: Pick<ScanDeps, 'report' | 'now'>): Screenshot | undefined {
  let latest: Screenshot | undefined
  for (const { id, line } of lines) {
    const record = readArchived(line, { account, id }, now)
    if (typeof record === 'string') report({ kind: 'segment', reason: record, key: `${segmentsPrefix(account, dayOf(id))}#${id}` })
    else if (!latest || Number(record.metadata.resourceVersion) > Number(latest.metadata.resourceVersion)) latest = record
  }
  // A list may keep a hundred records in memory, so it does not keep their large options.
  return latest && toCached(latest)
}

/** Segments of a day after the start id, in the order in which they are needed. */
const segmentsBeyond = ({ segments }: DayListing, after: string | undefined, { isBefore, startOf, endOf }: ScanOrder): SegmentName[] =>
  segments
    .filter((segment) => after === undefined || isBefore(after, endOf(segment)))
    .sort((a, b) => (isBefore(startOf(a), startOf(b)) ? -1 : 1))

type ToRecord = (lines: readonly Line[]) => Screenshot | undefined

async function* scanDay(
  segments: SegmentName[],
  after: string | undefined,
  { reader, tombstones, order, toRecord }: { reader: SegmentReader; tombstones: Tombstones; order: ScanOrder; toRecord: ToRecord },
): AsyncGenerator<Screenshot> {
  const waiting = segments.values()
  let next = waiting.next().value
  const merge = new LineMerge(order)
  for (;;) {
    const id = merge.nextId
    // A segment is loaded only when its first record may be next.
    if (next !== undefined && (id === undefined || !order.isBefore(id, order.startOf(next)))) {
      merge.add(await reader.load(next), after)
      next = waiting.next().value
      continue
    }
    if (id === undefined) return
    const lines = merge.take(id)
    const record = (await tombstones.has(id)) ? undefined : toRecord(lines)
    if (record) yield record
  }
}

async function* scanOnce({ account, after, direction }: ScanStart, deps: ScanDeps): AsyncGenerator<Screenshot> {
  const order = SCAN_ORDERS[direction]
  const reader = new SegmentReader(deps)
  const toRecord = (lines: readonly Line[]) => latestOf(account, lines, deps)
  for await (const listings of (direction === 'newest' ? newestDays : oldestDays)(account, after, deps)) {
    const days = listings.map((listing) => ({ listing, segments: segmentsBeyond(listing, after, order) }))
    for (const { segments } of days) reader.expect(segments)
    for (const { listing, segments } of days)
      yield* scanDay(segments, after, {
        reader,
        tombstones: new Tombstones(account, listing.day, deps, listing.deletedIds),
        order,
        toRecord,
      })
  }
}

/** Archived records of an account after an id, in order, without deleted ones. */
export async function* scan(start: ScanStart, deps: ScanDeps): AsyncGenerator<Screenshot> {
  for (let { after } = start; ; ) {
    try {
      for await (const screenshot of scanOnce({ ...start, after }, deps)) {
        after = screenshotIdOf(screenshot.metadata)
        yield screenshot
      }
      return
    } catch (error) {
      if (!(error instanceof SegmentReplaced)) throw error
    }
  }
}

/** How ids, segments and lines are compared and sorted in one direction. */
interface ScanOrder {
  /** True when an id comes before another. */
  isBefore: (id: string, other: string) => boolean
  /** First and last id of a segment in this order. */
  startOf: (segment: SegmentName) => string
  endOf: (segment: SegmentName) => string
  /** Sorts entries that are stored newest first. */
  sort: <T = Line>(entries: readonly T[]) => readonly T[]
}

/** The order for each direction. */
const SCAN_ORDERS: Readonly<Record<ScanDirection, ScanOrder>> = {
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
class LineMerge {
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

// Iterates over the days that have records of an account. A large day is listed by name with one request, and the day before it is usually next.
// Small or missing days are covered by one listing over many days. Its cost depends on the number of keys, so its size grows step by step.

/** A day with at most this many records counts as small. */
const SMALL_DAY_RECORDS = 16
/** Keys in the first listing over many days, and the factor by which the next one grows. */
const FIRST_KEYS = 16
const GROWTH = 4
const LAST_DAY = 99_999
/** Days that are listed concurrently when reading oldest first. */
const CONCURRENT_DAYS = 8

const dayBefore = (day: string): string | undefined => (Number(day) >= LAST_DAY ? undefined : String(Number(day) + 1).padStart(5, '0'))

const DAY_MILLISECONDS = 86_400_000

/** A key after all future days, which are skipped together. */
const endOfFuture = (account: string, now: Date): string => endOfDay(account, invertedDay(new Date(now.getTime() + 3 * DAY_MILLISECONDS)))

/** Days newest first, starting with the day of an id. Days that one request found are yielded together. */
async function* newestDays(account: string, after: string | undefined, deps: ListDeps): AsyncGenerator<DayListing[]> {
  let day = after === undefined || !isPastDay(dayOf(after), deps.now) ? undefined : dayOf(after)
  let afterKey: string | undefined
  for (let limit = FIRST_KEYS; ; ) {
    if (day !== undefined) {
      const listing = await listDay(account, day, deps)
      yield [listing]
      afterKey = endOfDay(account, day)
      const isSmall = countOf(listing) <= SMALL_DAY_RECORDS
      day = isSmall ? undefined : dayBefore(day)
      if (!isSmall) limit = FIRST_KEYS
      if (day !== undefined) continue
    }
    const { listings, cut } = await listAfter(account, afterKey, { ...deps, limit })
    yield listings
    if (cut === undefined) return
    limit = Math.min(limit * GROWTH, PAGE)
    if (isPastDay(cut.day, deps.now)) day = cut.day
    else afterKey = isDay(cut.day) && cut.key < endOfFuture(account, deps.now) ? endOfFuture(account, deps.now) : cut.key
  }
}

/** Days oldest first, starting with the day of an id. The bucket can only list newest first, so all day names are read first. */
async function* oldestDays(account: string, after: string | undefined, deps: ListDeps): AsyncGenerator<DayListing[]> {
  const days = (await listDayNames(account, after === undefined ? undefined : dayOf(after), deps)).reverse()
  for (let at = 0, count = 1; at < days.length; ) {
    const listings = await Promise.all(days.slice(at, at + count).map((day) => listDay(account, day, deps, true)))
    yield listings
    at += count
    count = listings.every((listing) => countOf(listing) <= SMALL_DAY_RECORDS) ? CONCURRENT_DAYS : 1
  }
}

/** Names of all days, newest first, up to `oldest`. */
async function listDayNames(account: string, oldest: string | undefined, { storage, report, now }: ListDeps): Promise<string[]> {
  const prefix = recordsPrefix(account)
  const days: string[] = []
  for await (const found of listPages(prefix, storage, { folders: true })) {
    for (const key of found) {
      const day = dayIn(prefix, key)
      if (!isPastDay(day, now)) reportDay(day, [key], report)
      else if (oldest === undefined || day <= oldest) days.push(day)
    }
    const last = found.at(-1)
    if (last !== undefined && oldest !== undefined && dayIn(prefix, last) > oldest) break
  }
  return days
}
