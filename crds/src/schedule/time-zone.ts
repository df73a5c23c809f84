import { LRUCache } from 'lru-cache'
import { toTimeZone } from '../options/page/browser.ts'

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
