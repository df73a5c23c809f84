import { isFuture, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { dayPrefix, isDay, recordsPrefix, type SegmentName, segmentsPrefix, startOfDay } from '@tintype/crds/records/storage-keys'
import { readRecordKeys } from '@tintype/crds/storage/archive'
import { PAGE } from '@tintype/crds/storage/port'
import { listPages } from '@tintype/crds/storage/stored-objects'
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
export interface ListingAfter {
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
