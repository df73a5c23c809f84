import { DAY_OR_TIME } from '../../text/time-text.ts'
import { formed, group, number, PICTURE } from '../rules/declare.ts'

const DAY_OR_TIME_FORM = 'must be a day, or a time with its zone, that exists, such as 2026-11-21T18:00:00Z'
const FIRST_YEAR = 1990
const LAST_YEAR = 2100

/** Emulated location, time zone, language and clock. */
export const placeGroup = group('Place and time', PICTURE, {
  geolocationLatitude: number(-90, 90, { absent: 'none, geolocation is denied', example: 48.2082 })(
    'Latitude of the emulated geolocation in degrees.',
  ),
  geolocationLongitude: number(-180, 180, { example: 16.3738 })('Longitude of the emulated geolocation in degrees.'),
  geolocationAccuracy: number(0, 100_000, { default: 0, example: 20 })('Accuracy of the emulated geolocation in meters.'),
  timezone: formed(64, /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/, { default: 'UTC', example: 'Europe/Vienna' })(
    'IANA time zone of the page, such as Europe/Vienna, in capital or small letters.',
  ),
  locale: formed(35, /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$/, { default: 'en-US', example: 'de-AT' })(
    'Language and region of the page as a BCP 47 tag, such as de-AT. Sets the formats of scripts, navigator.language and Accept-Language. What the browser draws by itself stays American English: form fields for dates, times, months, weeks, numbers and files, buttons without a label, and validation messages. The lang attribute of the page decides the forms of Han letters; without it they are those of simplified Chinese.',
  ),
  fixedTime: formed(40, DAY_OR_TIME, {
    form: DAY_OR_TIME_FORM,
    absent: 'none, the clock is the real one',
    example: '2026-11-21T18:00:00Z',
  })(
    'Time at which the clock of each document starts when it loads, ISO 8601 with a zone, 1990 to 2100. A day alone begins at 00:00 UTC. It runs on, so that delayed work of the page happens. A pdf has this time as its date.',
  ),
})

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
