import { dayOf, invertedDay, isDay, recordsPrefix } from '@tintype/crds/records/storage-keys'
import { PAGE } from '@tintype/crds/storage/port'
import { listPages } from '@tintype/crds/storage/stored-objects'
import { countOf, type DayListing, dayIn, endOfDay, isPastDay, type ListDeps, listAfter, listDay, reportDay } from './day-listing.ts'

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
export async function* newestDays(account: string, after: string | undefined, deps: ListDeps): AsyncGenerator<DayListing[]> {
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
export async function* oldestDays(account: string, after: string | undefined, deps: ListDeps): AsyncGenerator<DayListing[]> {
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
