import { dayOf, invertedDay, isDay, recordsPrefix } from '@tintype/crds/storage-keys'
import { countOf, type DayListing, dayIn, endOfDay, isPastDay, type ListDeps, listAfter, listDay, PAGE, reportDay } from './day-listing.ts'

// Which days an account's records lie in, with what is in them. A day is asked for by its name, and most often the one before it follows: one
// request each. Where days are small or missing, one listing runs over many of them. It costs by the key, so it grows with its success.

/** A day with no more records than that is a small one. */
const SMALL = 16
/** Keys of the first listing over days, and by what the next one grows. */
const FIRST_KEYS = 16
const GROWTH = 4
const LAST_DAY = 99_999
/** Days that are listed side by side, oldest first. */
const SIDE_BY_SIDE = 8

const dayBefore = (day: string): string | undefined => (Number(day) >= LAST_DAY ? undefined : String(Number(day) + 1).padStart(5, '0'))

const DAY_MILLISECONDS = 86_400_000

/** ListingAfter days that are to come: what lies under them is not looked at one by one. */
const endOfFuture = (account: string, now: Date): string => endOfDay(account, invertedDay(new Date(now.getTime() + 3 * DAY_MILLISECONDS)))

/** Days newest first, from that of an id on; those that were found by one request together. */
export async function* newestDays(account: string, after: string | undefined, deps: ListDeps): AsyncGenerator<DayListing[]> {
  let day = after === undefined || !isPastDay(dayOf(after), deps.now) ? undefined : dayOf(after)
  let behind: string | undefined
  for (let limit = FIRST_KEYS; ; ) {
    if (day !== undefined) {
      const listing = await listDay(account, day, deps)
      yield [listing]
      behind = endOfDay(account, day)
      const isSmall = countOf(listing) <= SMALL
      day = isSmall ? undefined : dayBefore(day)
      if (!isSmall) limit = FIRST_KEYS
      if (day !== undefined) continue
    }
    const { listings, cut } = await listAfter(account, behind, { ...deps, limit })
    yield listings
    if (cut === undefined) return
    limit = Math.min(limit * GROWTH, PAGE)
    if (isPastDay(cut.day, deps.now)) day = cut.day
    else behind = isDay(cut.day) && cut.key < endOfFuture(account, deps.now) ? endOfFuture(account, deps.now) : cut.key
  }
}

/** Days oldest first, from that of an id on. The bucket lists newest first only: the days' names are read whole. */
export async function* oldestDays(account: string, after: string | undefined, deps: ListDeps): AsyncGenerator<DayListing[]> {
  const days = (await listDayNames(account, after === undefined ? undefined : dayOf(after), deps)).reverse()
  for (let at = 0, count = 1; at < days.length; ) {
    const listings = await Promise.all(days.slice(at, at + count).map((day) => listDay(account, day, deps, true)))
    yield listings
    at += count
    count = listings.every((listing) => countOf(listing) <= SMALL) ? SIDE_BY_SIDE : 1
  }
}

/** All days up to `oldest`, which is the last. */
async function listDayNames(account: string, oldest: string | undefined, { objects, report, now }: ListDeps): Promise<string[]> {
  const prefix = recordsPrefix(account)
  const days: string[] = []
  for (let after: string | undefined; ; ) {
    const found = await objects.list(prefix, { after, limit: PAGE, folders: true })
    for (const key of found) {
      const day = dayIn(prefix, key)
      if (!isPastDay(day, now)) reportDay(day, [key], report)
      else if (oldest === undefined || day <= oldest) days.push(day)
    }
    const last = found.at(-1)
    if (found.length < PAGE || last === undefined || (oldest !== undefined && dayIn(prefix, last) > oldest)) return days
    // Beyond all that is in it: some stores would list it once more.
    after = isPastDay(dayIn(prefix, last), now) ? endOfDay(account, dayIn(prefix, last)) : last
  }
}
