// The times at which a schedule is due. Pure.
//
// A schedule is due at every minute whose local time matches its fields. When clocks go forward, skipped local times are never due. When
// clocks go back, repeated local times are due twice. Kubernetes' CronJob does the same.

import type { Cron, CronFields } from './cron.ts'
import { offsetAt } from './time-zone.ts'

/** When a schedule is due. */
export interface Timing {
  cron: Cron
  /** IANA name. */
  timeZone: string
  /** Epoch milliseconds from which `@every` counts: the creation of the schedule. */
  anchor: number
}

const MINUTE = 60_000
const DAY = 86_400_000
/** February 29 can be eight years away. */
const MAX_DAYS = 366 * 9

/** The first time after an instant, in epoch milliseconds; undefined if there is none within nine years. */
export function nextTime({ cron, timeZone, anchor }: Timing, after: number): number | undefined {
  if (cron.kind === 'every') {
    const step = cron.seconds * 1_000
    return anchor + Math.max(1, Math.floor((after - anchor) / step) + 1) * step
  }
  return search(cron.fields, timeZone, { from: after, direction: 1, isWanted: (time) => time > after })
}

/** The last time at or before an instant and after another, in epoch milliseconds; undefined if there is none. */
export function lastTime({ cron, timeZone, anchor }: Timing, { after, until }: { after: number; until: number }): number | undefined {
  if (until <= after) return undefined
  if (cron.kind === 'every') {
    const step = cron.seconds * 1_000
    const count = Math.floor((until - anchor) / step)
    const time = anchor + count * step
    return count >= 1 && time > after ? time : undefined
  }
  const isWanted = (time: number) => time <= until
  const found = search(cron.fields, timeZone, { from: until, direction: -1, isWanted, end: after })
  return found !== undefined && found > after ? found : undefined
}

interface Search {
  from: number
  direction: 1 | -1
  isWanted: (time: number) => boolean
  /** Days that end before it are not searched. */
  end?: number
}

/** Walks from local day to local day. A local day is a number: its days since 1970-01-01. */
function search(fields: CronFields, zone: string, { from, direction, isWanted, end }: Search): number | undefined {
  const first = Math.floor((from + offsetAt(zone, from)) / DAY)
  const last = end === undefined ? first + direction * MAX_DAYS : Math.max(Math.floor((end + offsetAt(zone, end)) / DAY), first - MAX_DAYS)
  for (let day = first; (last - day) * direction >= 0; day += direction) {
    if (!matchesDay(fields, new Date(day * DAY))) continue
    const found = findInDay(fields, zone, day, { direction, isWanted })
    if (found !== undefined) return found
  }
  return undefined
}

/** If both days are restricted, one of them must match; otherwise both. */
function matchesDay({ dayOfMonth, month, dayOfWeek }: CronFields, day: Date): boolean {
  if (!month.values.has(day.getUTCMonth() + 1)) return false
  const isDayOfMonth = dayOfMonth.values.has(day.getUTCDate())
  const isDayOfWeek = dayOfWeek.values.has(day.getUTCDay())
  return dayOfMonth.isAny || dayOfWeek.isAny ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek
}

/** The first, or the last, wanted time of a local day. */
function findInDay(
  { minutesOfDay }: CronFields,
  zone: string,
  day: number,
  { direction, isWanted }: Pick<Search, 'direction' | 'isWanted'>,
): number | undefined {
  const local = day * DAY
  // No zone is more than a day away from UTC, and none changes its clocks twice in three days.
  const before = offsetAt(zone, local - DAY)
  const after = offsetAt(zone, local + 2 * DAY)
  if (before !== after) {
    const times = timesOfChange(minutesOfDay, zone, { local, before, after })
    return direction > 0 ? times.find(isWanted) : times.findLast(isWanted)
  }
  const start = local - before
  // Binary search: going back, the wanted minutes are first; going forward, they are last.
  let [low, high] = [0, minutesOfDay.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isWanted(start + minutesOfDay[middle]! * MINUTE) === direction < 0) low = middle + 1
    else high = middle
  }
  const minute = minutesOfDay[direction > 0 ? low : low - 1]
  return minute === undefined ? undefined : start + minute * MINUTE
}

/** The due times of a local day near a change of the clocks, in order. Skipped local times have none, and repeated ones two. */
function timesOfChange(
  minutesOfDay: readonly number[],
  zone: string,
  { local, before, after }: { local: number; before: number; after: number },
): number[] {
  const times = minutesOfDay.flatMap((minute) => {
    const wanted = local + minute * MINUTE
    return [wanted - before, wanted - after].filter((time) => time + offsetAt(zone, time) === wanted)
  })
  return times.sort((one, other) => one - other)
}
