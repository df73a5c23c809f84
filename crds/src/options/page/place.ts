import { z } from 'zod'
import { DAY_OR_TIME } from '../../text/time-text.ts'
import { pictureOption } from '../rules/option-rules.ts'

const FIRST_YEAR = 1990
const LAST_YEAR = 2100

/** Emulated location, time zone, language and clock. */
export const placeOptions = {
  geolocationLatitude: pictureOption(
    z
      .number()
      .min(-90)
      .max(90)
      .describe('Latitude of the emulated geolocation in degrees, -90 to 90. Default: none, geolocation is denied.'),
  ),
  geolocationLongitude: pictureOption(
    z.number().min(-180).max(180).describe('Longitude of the emulated geolocation in degrees, -180 to 180. Default: none.'),
  ),
  geolocationAccuracy: pictureOption(
    z.number().min(0).max(100_000).describe('Accuracy of the emulated geolocation in meters, 0 to 100000. Default: 0.'),
  ),
  timezone: pictureOption(
    z
      .string()
      .max(64)
      .regex(/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/)
      .describe('IANA time zone of the page, such as Europe/Vienna, in capital or small letters. Default: UTC.'),
  ),
  locale: pictureOption(
    z
      .string()
      .max(35)
      .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$/)
      .describe(
        'Language and region of the page as a BCP 47 tag, such as de-AT. Sets the formats of scripts, navigator.language and Accept-Language. What the browser draws by itself stays American English: form fields for dates, times, months, weeks, numbers and files, buttons without a label, and validation messages. The lang attribute of the page decides the forms of Han letters; without it they are those of simplified Chinese. Default: en-US.',
      ),
  ),
  fixedTime: pictureOption(
    z
      .string()
      .max(40)
      .regex(DAY_OR_TIME, 'must be a day, or a time with its zone, that exists, such as 2026-11-21T18:00:00Z')
      .describe(
        'Time at which the clock of each document starts when it loads, ISO 8601 with a zone, 1990 to 2100. A day alone begins at 00:00 UTC. It runs on, so that delayed work of the page happens. A pdf has this time as its date. Default: none, the clock is the real one.',
      ),
  ),
}

export const placeDefaults = { geolocationAccuracy: 0, timezone: 'UTC', locale: 'en-US' }

/**
 * The name of a time zone as the IANA database spells it: `us/pacific` is `US/Pacific`. Undefined: it has none, such as for an offset, or for `PST`,
 * `SystemV/EST5` and other names that only ICU knows.
 */
export function toTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined
  try {
    // The engine must have its offsets too. Intl alone would replace an alias, and knows names of ICU.
    new Intl.DateTimeFormat('en', { timeZone: name })
    // Some browsers that show the console have no Temporal. The gateway checks the name again.
    return typeof Temporal === 'undefined' ? name : new Temporal.ZonedDateTime(0n, name).timeZoneId
  } catch {
    return undefined
  }
}

/** True if the browser has formats for the language of a tag. */
export const hasFormats = (locale: string): boolean => Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0

/** True for a valid time between the first and the last year. */
export function isFixedTime(text: string): boolean {
  const instant = new Date(text)
  const year = instant.getUTCFullYear()
  return !Number.isNaN(instant.getTime()) && year >= FIRST_YEAR && year <= LAST_YEAR
}

/** True for a well-formed BCP 47 tag. */
export function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}
