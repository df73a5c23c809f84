import { z } from 'zod'

const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?(Z|[-+][0-9]{2}:[0-9]{2}))?$/
const FIRST_YEAR = 1990
const LAST_YEAR = 2100

/** Where and when the page believes to be shown. */
export const placeOptions = {
  geolocationLatitude: z
    .number()
    .min(-90)
    .max(90)
    .describe('Latitude that the page is told when it asks, in degrees, -90 to 90. Default: none, it may not ask.'),
  geolocationLongitude: z.number().min(-180).max(180).describe('Longitude that goes with it, in degrees, -180 to 180. Default: none.'),
  geolocationAccuracy: z.number().min(0).max(100_000).describe('Accuracy of that position in metres, 0 to 100000. Default: 0.'),
  timezone: z
    .string()
    .max(64)
    .regex(/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/)
    .describe('Time zone of the page, by its IANA name. Default: UTC.'),
  locale: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$/)
    .describe('Language and region of the page as a BCP 47 tag: formats, navigator.language and Accept-Language. Default: en-US.'),
  fixedTime: z
    .string()
    .max(40)
    .regex(INSTANT)
    .describe('Instant at which the page’s clock stands still, ISO 8601 with a zone, 1990 to 2100. Default: none, it runs.'),
}

export const placeDefaults = { geolocationAccuracy: 0, timezone: 'UTC', locale: 'en-US' }

/** True for the name of a time zone that there is. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** True for an instant that a clock can stand at. */
export function isFixedTime(text: string): boolean {
  const instant = new Date(text)
  const year = instant.getUTCFullYear()
  return !Number.isNaN(instant.getTime()) && year >= FIRST_YEAR && year <= LAST_YEAR
}

/** True for a tag that names a language as browsers know them. */
export function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
