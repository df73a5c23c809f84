import { parseSegmentKey, type SegmentName } from '@tintype/crds/archive'
import { dayPrefix, recordsPrefix, segmentsPrefix, tombstonesPrefix } from '@tintype/crds/storage-keys'
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
  buried: ReadonlySet<string> | undefined
}

type Lists = Pick<ObjectStore, 'list'>

/** What so many segments hold at most: a record may stand in two. */
export const countOf = ({ segments }: DayListing): number => segments.reduce((sum, { count }) => sum + count, 0)

/** Reads keys of one day, of which all are there. */
function toListing(account: string, day: string, keys: readonly string[]): DayListing {
  const tombstones = tombstonesPrefix(account, day)
  return {
    day,
    segments: keys.flatMap((key) => parseSegmentKey(key) ?? []),
    buried: new Set(keys.filter((key) => key.startsWith(tombstones)).map((key) => key.slice(tombstones.length))),
  }
}

/** Lists a day; `isWhole`: with all its deletions, however many they are. */
export async function listDay(account: string, day: string, objects: Lists, isWhole = false): Promise<DayListing> {
  const prefix = dayPrefix(account, day)
  const segments = segmentsPrefix(account, day)
  const found: string[] = []
  for (let after = segments; ; ) {
    const keys = await objects.list(prefix, { after, limit: PAGE })
    found.push(...keys)
    if (keys.length < PAGE) return toListing(account, day, found)
    after = keys.at(-1)!
    if (!isWhole && !after.startsWith(segments)) return { ...toListing(account, day, found), buried: undefined }
  }
}

/** Lists what comes behind a day, `limit` keys of it: the days of which there are all keys, and the one of which there may be more. */
export async function listBehind(
  account: string,
  day: string | undefined,
  { objects, limit }: { objects: Lists; limit: number },
): Promise<{ listings: DayListing[]; cut: string | undefined }> {
  const prefix = recordsPrefix(account)
  // A tilde comes behind the slash that ends the day's own keys.
  const keys = await objects.list(prefix, { after: day === undefined ? undefined : `${prefix}${day}~`, limit })
  const byDay = Map.groupBy(keys, (key) => key.slice(prefix.length, key.indexOf('/', prefix.length)))
  const cut = keys.length < limit ? undefined : [...byDay.keys()].at(-1)
  if (cut !== undefined) byDay.delete(cut)
  return { listings: [...byDay].map(([each, its]) => toListing(account, each, its)), cut }
}
