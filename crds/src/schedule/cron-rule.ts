import type { CelRule } from '../schema/custom-resource.ts'
import { DAYS, MONTHS, WHITE_SPACE } from './cron.ts'
import { TIME_ZONE_PATTERN } from './times.ts'

// The rules of cron.ts and times.ts, as the API server checks them, in RE2 syntax. A test compares both on the same texts.

const DIGITS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const anyOf = (patterns: readonly string[]): string => `(?:${patterns.join('|')})`

/** A list of ranges of numbers, or of names. */
function listOf(value: string, names: readonly string[] = []): string {
  const named = `(?i:${names.join('|')})`
  const ranges = [`(?:${value})(?:-(?:${value}))?`, ...(names.length > 0 ? [`${named}(?:-${named})?`] : [])]
  const item = `${anyOf(['[*?]', ...ranges])}(?:/(?:0?[1-9]|[1-9][0-9]))?`
  return `${item}(?:,${item})*`
}

const FIELDS = [
  listOf('[0-5]?[0-9]'),
  listOf('[01]?[0-9]|2[0-3]'),
  listOf('0?[1-9]|[12][0-9]|3[01]'),
  listOf('0?[1-9]|1[0-2]', MONTHS),
  listOf('0?[0-6]', DAYS),
]

const MACRO = '@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)'
const SPACE = `[${WHITE_SPACE}]`
const OTHER = `[^${WHITE_SPACE}]`
const EVERY = `@every${SPACE}+(?:[0-9]{1,6}[hms]){1,3}`
const CRON = `^${SPACE}*(?:${FIELDS.join(`${SPACE}+`)}|${MACRO}|${EVERY})${SPACE}*$`
/** A 7 in the last of five fields. */
const SEVEN = `^${SPACE}*(?:${OTHER}+${SPACE}+){4}(?:${OTHER}*[,-])?0?7(?:[-,/]${OTHER}*)?${SPACE}*$`

/** Ranges of numbers below 60 that end before they begin. */
const reversedNumbers = [0, 1, 2, 3, 4, 5].flatMap((tens) => {
  const same = tens === 0 ? '0?' : String(tens)
  const sameTens = DIGITS.slice(1).map((digit) => `${same}${digit}-${same}[0-${digit - 1}]`)
  return tens === 0 ? sameTens : [...sameTens, `${tens}[0-9]-(?:0?[0-9]|[0-${tens - 1}][0-9])`]
})

const reversedNames = (names: readonly string[]): string[] =>
  names.slice(1).map((name, index) => `${name}-${anyOf(names.slice(0, index + 1))}`)

const REVERSED = `(?:^|[${WHITE_SPACE},])(?:${reversedNumbers.join('|')}|(?i:${[...reversedNames(MONTHS), ...reversedNames(DAYS)].join('|')}))(?:[/,${WHITE_SPACE}]|$)`

/** The duration of `@every`, in CEL. */
const INTERVAL = `self.trim().substring(6).trim()`

/** Rules of a field with a cron expression. */
export const cronRules: CelRule[] = [
  { rule: `!self.matches('${SEVEN}')`, message: 'the day of the week 7 is not valid: use 0 or SUN for Sunday' },
  {
    rule: `self.matches('${CRON}')`,
    message:
      'not a cron expression: use five fields (minute, hour, day of the month, month, day of the week) such as 0 9 * * MON-FRI, a macro such as @hourly, or @every and a duration such as 1h30m',
  },
  { rule: `!self.matches('${REVERSED}')`, message: 'a range ends before it begins: use two ranges, separated by a comma' },
  {
    rule: `!self.matches('^${SPACE}*${EVERY}${SPACE}*$') || (duration(${INTERVAL}) >= duration('1m') && duration(${INTERVAL}) <= duration('8784h'))`,
    message: 'the interval of @every must be from 1m to 8784h',
  },
]

/** Rules of a field with the name of a time zone. The second fails with the API server’s own message for an unknown zone. */
export const timeZoneRules: CelRule[] = [
  {
    rule: `self.matches('${TIME_ZONE_PATTERN}') && self != 'Local'`,
    message: 'not a time zone: use a name of the IANA database such as Europe/Zurich or UTC',
  },
  {
    rule: `!self.matches('${TIME_ZONE_PATTERN}') || timestamp('2026-01-01T00:00:00Z').getFullYear(self) > 0`,
    message: 'not a known time zone: use a name of the IANA database such as Europe/Zurich or UTC',
  },
]
