import { dayOf, recordsPrefix } from '@tintype/crds/storage-keys'
import type { ObjectStore } from '../store/ports.ts'
import { countOf, type DayListing, listBehind, listDay, PAGE } from './day-listing.ts'

// Which days an account's records lie in, with what is in them. A day is asked for by its name, and most often the one before it follows: one
// request each. Where days are small or missing, one listing runs over many of them. It costs by the key, so it grows with its success.

type Lists = Pick<ObjectStore, 'list'>

/** A day with no more records than that is a small one. */
const SMALL = 16
/** Keys of the first listing over days, and by what the next one grows. */
const FIRST_KEYS = 16
const GROWTH = 4
const LAST_DAY = 99_999
/** Days that are listed side by side, oldest first. */
const SIDE_BY_SIDE = 8

const dayBefore = (day: string): string | undefined => (Number(day) >= LAST_DAY ? undefined : String(Number(day) + 1).padStart(5, '0'))

/** Days newest first, from that of an id on; those that were found by one request together. */
export async function* newestDays(account: string, after: string | undefined, objects: Lists): AsyncGenerator<DayListing[]> {
  let day = after === undefined ? undefined : dayOf(after)
  let behind: string | undefined
  for (let limit = FIRST_KEYS; ; ) {
    if (day !== undefined) {
      const listing = await listDay(account, day, objects)
      yield [listing]
      behind = day
      const isSmall = countOf(listing) <= SMALL
      day = isSmall ? undefined : dayBefore(day)
      if (!isSmall) limit = FIRST_KEYS
      if (day !== undefined) continue
    }
    const { listings, cut } = await listBehind(account, behind, { objects, limit })
    yield listings
    if (cut === undefined) return
    day = cut
    limit = Math.min(limit * GROWTH, PAGE)
  }
}

/** Days oldest first, from that of an id on. The bucket lists newest first only: the days' names are read whole. */
export async function* oldestDays(account: string, after: string | undefined, objects: Lists): AsyncGenerator<DayListing[]> {
  const days = (await listDayNames(account, after === undefined ? undefined : dayOf(after), objects)).reverse()
  for (let at = 0, count = 1; at < days.length; ) {
    const listings = await Promise.all(days.slice(at, at + count).map((day) => listDay(account, day, objects, true)))
    yield listings
    at += count
    count = listings.every((listing) => countOf(listing) <= SMALL) ? SIDE_BY_SIDE : 1
  }
}

/** All days up to `oldest`, which is the last. */
async function listDayNames(account: string, oldest: string | undefined, objects: Lists): Promise<string[]> {
  const prefix = recordsPrefix(account)
  const days: string[] = []
  for (let after: string | undefined; ; ) {
    const folders = await objects.list(prefix, { after, limit: PAGE, folders: true })
    const names = folders.map((folder) => folder.slice(prefix.length, -1))
    days.push(...names.filter((day) => oldest === undefined || day <= oldest))
    const last = names.at(-1)
    if (folders.length < PAGE || last === undefined || (oldest !== undefined && last > oldest)) return days
    // Beyond all that is in it: some stores would list it once more.
    after = `${prefix}${last}~`
  }
}
