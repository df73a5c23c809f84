import { parseSegmentKey, type SegmentName } from '@tintype/crds/archive'
import {
  dayPrefix,
  idsOfDay,
  isDay,
  parseRecordKey,
  recordsPrefix,
  segmentsPrefix,
  startOfDay,
  tombstonesPrefix,
} from '@tintype/crds/storage-keys'
import type { ReportIgnored } from '@tintype/crds/stored/ignored-objects'
import { isFuture } from '@tintype/crds/stored/stored-json'
import type { ObjectStore } from '../store/ports.ts'

// What the bucket has of a day, by its keys alone. Under a day lie, in the order of keys: `one/`, a record to an object; `segments/`; `tombstones/`.
// So one listing that begins behind `one/` tells of both others, unless the day is a long one.

/** Keys that the bucket lists at once. */
export const PAGE = 1_000

/** One account's day. */
export interface DayListing {
  day: string
  segments: readonly SegmentName[]
  /** Ids of deleted records; undefined when there are many and they were not asked for: they are listed as far as they are needed. */
  deletedIds: ReadonlySet<string> | undefined
}

/** What listing works with. */
export interface ListDeps {
  objects: Pick<ObjectStore, 'list'>
  report: ReportIgnored
  now: Date
}

/** What so many segments hold at most: a record may stand in two. */
export const countOf = ({ segments }: DayListing): number => segments.reduce((sum, { count }) => sum + count, 0)

/** The ids that keys of tombstones of a day mark; others are reported. */
export function idsOfTombstones(account: string, day: string, keys: readonly string[], report: ReportIgnored): Set<string> {
  const prefix = tombstonesPrefix(account, day)
  const isOfDay = idsOfDay(day)
  const ids = new Set<string>()
  for (const key of keys) {
    const id = key.slice(prefix.length)
    if (isOfDay(id)) ids.add(id)
    else report({ kind: 'tombstone', reason: 'key', key })
  }
  return ids
}

/** Reads keys of one day, of which all are there. */
function toListing(account: string, day: string, keys: readonly string[], report: ReportIgnored): DayListing {
  const [tombstones, inSegments] = [tombstonesPrefix(account, day), segmentsPrefix(account, day)]
  const segments: SegmentName[] = []
  const marks: string[] = []
  for (const key of keys) {
    const segment = parseSegmentKey(key)
    if (segment) segments.push(segment)
    else if (key.startsWith(tombstones)) marks.push(key)
    else if (!parseRecordKey(key)) report({ kind: key.startsWith(inSegments) ? 'segment' : 'record', reason: 'key', key })
  }
  return { day, segments, deletedIds: idsOfTombstones(account, day, marks, report) }
}

/** True for a day on which there can have been something. */
export const isPastDay = (day: string, now: Date): boolean => isDay(day) && !isFuture(startOfDay(day), now)

/** Tells of what lies under no day, or under one that is to come. */
export const reportDay = (day: string, keys: readonly string[], report: ReportIgnored): void => {
  for (const key of keys) report({ kind: 'record', reason: isDay(day) ? 'time' : 'key', key })
}

/** Lists a day; `isWhole`: with all its deletions, however many they are. */
export async function listDay(account: string, day: string, { objects, report }: ListDeps, isWhole = false): Promise<DayListing> {
  const prefix = dayPrefix(account, day)
  const segments = segmentsPrefix(account, day)
  const found: string[] = []
  for (let after = segments; ; ) {
    const keys = await objects.list(prefix, { after, limit: PAGE })
    found.push(...keys)
    if (keys.length < PAGE) return toListing(account, day, found, report)
    after = keys.at(-1)!
    if (!isWhole && !after.startsWith(segments)) return { ...toListing(account, day, found, report), deletedIds: undefined }
  }
}

/** The key behind all of a day's: a tilde comes behind the slash that ends the day. */
export const endOfDay = (account: string, day: string): string => `${recordsPrefix(account)}${day}~`

/** What lies behind a key. */
export interface ListingAfter {
  /** The days of which there are all keys. */
  listings: DayListing[]
  /** The last day, of which there may be more keys, and the last key; absent when there is nothing more. */
  cut?: { day: string; key: string }
}

/** Lists what comes behind a key, `limit` keys of it. */
export async function listAfter(
  account: string,
  after: string | undefined,
  { objects, limit, report, now }: ListDeps & { limit: number },
): Promise<ListingAfter> {
  const prefix = recordsPrefix(account)
  const keys = await objects.list(prefix, { after, limit })
  const byDay = Map.groupBy(keys, (key) => dayIn(prefix, key))
  const key = keys.length < limit ? undefined : keys.at(-1)
  const cut = key === undefined ? undefined : { day: dayIn(prefix, key), key }
  const listings: DayListing[] = []
  for (const [day, its] of byDay) {
    if (!isPastDay(day, now)) reportDay(day, its, report)
    else if (day !== cut?.day) listings.push(toListing(account, day, its, report))
  }
  return { listings, ...(cut ? { cut } : {}) }
}

/** What follows a prefix, up to the next slash. */
export const dayIn = (prefix: string, key: string): string => key.slice(prefix.length).split('/', 1)[0] ?? ''
