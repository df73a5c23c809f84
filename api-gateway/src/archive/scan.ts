import { toCached } from '@tintype/crds/client/cached-form'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { type Line, readArchived } from '@tintype/crds/records/archive'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { dayOf, type SegmentName, segmentsPrefix } from '@tintype/crds/records/storage-keys'
import { Tombstones } from '@tintype/crds/storage/archive'
import type { ObjectStore, ScanDirection } from '../store/ports.ts'
import type { DayListing } from './day-listing.ts'
import { newestDays, oldestDays } from './days.ts'
import { LineMerge, SCAN_ORDERS, type ScanOrder } from './merge.ts'
import { type SegmentCache, SegmentReader, SegmentReplaced } from './segment-reader.ts'

export interface ScanDeps {
  storage: Pick<ObjectStore, 'read' | 'list'>
  cache: SegmentCache
  report: ReportIgnored
  now: Date
}

/** Where a scan starts, and its direction. */
export interface ScanStart {
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
