// The times at which a schedule is due. Pure.
//
// A schedule is due at every minute whose local time matches its fields. When clocks go forward, skipped local times are never due. When
// clocks go back, repeated local times are due twice. Kubernetes' CronJob does the same.

import { LRUCache } from 'lru-cache'
import { toTimeZone } from '../options/page/browser.ts'
import { findFirst } from '../runtime/lists.ts'
import type { Cron, CronFields } from './cron.ts'

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

/**
 * The first local time of a schedule between two instants that does not exist, because clocks go forward, such as `2026-03-29 02:30`. `next`
 * is the next time of the schedule. If that follows at once, nothing is lost, and the result is undefined: an hourly schedule runs on.
 */
export function findSkipped({ cron, timeZone }: Timing, { after, next }: { after: number; next: number }): string | undefined {
  if (cron.kind === 'every') return undefined
  const last = localDayOf(next, timeZone)
  for (let day = localDayOf(after, timeZone); day <= last; day += 1) {
    if (!matchesDay(cron.fields, new Date(day * DAY))) continue
    const { local, before, since } = offsetsOf(day, timeZone)
    const isLost = (time: number): boolean => {
      const instant = time - before
      return instant > after && next - instant >= since - before && instantsOf(time, timeZone, [before, since]).length === 0
    }
    const lost = since > before ? cron.fields.minutesOfDay.map((minute) => local + minute * MINUTE).find(isLost) : undefined
    if (lost !== undefined) return new Date(lost).toISOString().slice(0, 16).replace('T', ' ')
  }
  return undefined
}

const localDayOf = (at: number, zone: string): number => Math.floor((at + offsetAt(zone, at)) / DAY)

/** The start of a local day as if it were UTC, and the offsets before and after a change of the clocks near it. */
function offsetsOf(day: number, zone: string): { local: number; before: number; since: number } {
  const local = day * DAY
  // No zone is more than a day away from UTC, and none changes its clocks twice in three days.
  return { local, before: offsetAt(zone, local - DAY), since: offsetAt(zone, local + 2 * DAY) }
}

/** The instants of a local time: none if clocks skip it, and two if they repeat it. */
const instantsOf = (local: number, zone: string, offsets: readonly number[]): number[] =>
  offsets.map((offset) => local - offset).filter((at) => at + offsetAt(zone, at) === local)

/** Walks from local day to local day. A local day is a number: its days since 1970-01-01. */
function search(fields: CronFields, zone: string, { from, direction, isWanted, end }: Search): number | undefined {
  const first = localDayOf(from, zone)
  const last = end === undefined ? first + direction * MAX_DAYS : Math.max(localDayOf(end, zone), first - MAX_DAYS)
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
  const { local, before, since } = offsetsOf(day, zone)
  if (before !== since) {
    const times = minutesOfDay
      .flatMap((minute) => instantsOf(local + minute * MINUTE, zone, [before, since]))
      .sort((one, other) => one - other)
    return direction > 0 ? times.find(isWanted) : times.findLast(isWanted)
  }
  const start = local - before
  // Going back, the wanted minutes are first; going forward, they are last.
  const place = findFirst(minutesOfDay, (minute) => isWanted(start + minute * MINUTE) === direction > 0)
  const minute = minutesOfDay[direction > 0 ? place : place - 1]
  return minute === undefined ? undefined : start + minute * MINUTE
}

// Offsets of IANA time zones from UTC, from the tables of the JavaScript engine. Pure.

const MAX_ZONES = 512
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: MAX_ZONES })

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}

/** The form of a name in CEL: parts that begin with a capital letter. Offsets such as `+01:00` are no names. */
export const TIME_ZONE_PATTERN = '^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*)*$'

const isKnown = new LRUCache<string, boolean>({ max: MAX_ZONES, memoMethod: (name) => toTimeZone(name) === name })

/** True for a name in the IANA database, spelled as there, because the API server reads it with regard to case. */
export const isTimeZone = (name: string): boolean => isKnown.memo(name)

/** What a time zone must be, and the spelling that was meant if only its letters have the wrong case. */
export function describeTimeZone(name: string): string {
  const meant = toTimeZone(name)
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return `must be a name of the IANA database such as Europe/Zurich or UTC${hint}`
}

/** Zones change their offset at multiples of a quarter of an hour. */
const QUARTER = 900_000
const MAX_OFFSETS = 8_192
const offsets = new LRUCache<string, number>({ max: MAX_OFFSETS })

/** Offset of a zone at an instant, in milliseconds east of UTC. */
export function offsetAt(zone: string, at: number): number {
  if (zone === 'UTC') return 0
  const quarter = Math.floor(at / QUARTER)
  const key = `${quarter} ${zone}`
  const known = offsets.get(key)
  if (known !== undefined) return known
  const offset = readOffset(zone, quarter * QUARTER)
  offsets.set(key, offset)
  return offset
}

function readOffset(zone: string, at: number): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value)
  return Date.UTC(parts.year!, parts.month! - 1, parts.day, parts.hour, parts.minute, parts.second) - at
}
