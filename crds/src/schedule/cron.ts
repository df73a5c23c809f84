// Cron expressions with the syntax of Kubernetes' CronJob (robfig/cron v3): five fields, or a macro. Pure.

import { counted } from '../text/words.ts'

/** A field that allows these values. `isAny`: the field is `*` or `?`, so that it does not restrict the day. */
interface Field {
  values: ReadonlySet<number>
  isAny: boolean
}

/** Due at every minute whose local time matches all fields. */
export interface CronFields {
  /** Minutes of the day, in order: hours and minutes together. */
  minutesOfDay: readonly number[]
  dayOfMonth: Field
  month: Field
  dayOfWeek: Field
}

/** A parsed schedule: five fields, or an interval of `@every`. */
export type Cron = { kind: 'fields'; fields: CronFields } | { kind: 'every'; seconds: number }

/** An expression that is not valid. The message says what is wrong and what to do. */
export class CronError extends Error {
  override readonly name = 'CronError'
}

/** Longest expression. */
export const MAX_CRON_LENGTH = 128

/**
 * White space between fields, as escapes for a character class: that of Go, as in CronJob. So crontab lines with tabs and YAML blocks with a
 * newline are valid.
 */
export const WHITE_SPACE = '\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const SEPARATOR = new RegExp(`[${WHITE_SPACE}]+`)

const MINUTES_PER_HOUR = 60
const MIN_EVERY_SECONDS = 60
const MAX_EVERY_SECONDS = 366 * 86_400

interface Bounds {
  name: string
  min: number
  max: number
  names?: readonly string[]
}

export const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
export const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const FIELDS: readonly [Bounds, Bounds, Bounds, Bounds, Bounds] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of the week', min: 0, max: 6, names: DAYS },
]

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Parses an expression. @throws CronError */
export function parseCron(given: string): Cron {
  const fields = given.split(SEPARATOR).filter((field) => field !== '')
  const text = fields.join(' ')
  if (text.startsWith('@every ')) return { kind: 'every', seconds: parseEvery(text.slice('@every '.length)) }
  if (text.startsWith('@') && MACROS[text] === undefined) {
    throw new CronError(`the macro ${text} is unknown. Use one of ${Object.keys(MACROS).join(', ')}, or @every and a duration`)
  }
  if (/^(CRON_)?TZ=/.test(text)) throw new CronError('the expression contains a time zone. Set the time zone in its own field instead')
  const parts = MACROS[text]?.split(' ') ?? fields
  if (parts.length !== FIELDS.length)
    throw new CronError(
      `the expression has ${counted(parts.length, 'field')}. Use five: minute, hour, day of the month, month, day of the week`,
    )
  const [minute, hour, dayOfMonth, month, dayOfWeek] = FIELDS.map((bounds, index) => parseField(parts[index]!, bounds)) as [
    Field,
    Field,
    Field,
    Field,
    Field,
  ]
  const minutes = [...minute.values].sort((one, other) => one - other)
  const hours = [...hour.values].sort((one, other) => one - other)
  const minutesOfDay = hours.flatMap((each) => minutes.map((value) => each * MINUTES_PER_HOUR + value))
  return { kind: 'fields', fields: { minutesOfDay, dayOfMonth, month, dayOfWeek } }
}

function parseField(text: string, bounds: Bounds): Field {
  const ranges = text.split(',').map((item) => parseRange(item, bounds))
  return { values: new Set(ranges.flatMap(({ values }) => values)), isAny: ranges.some(({ isAny }) => isAny) }
}

/** One item of a list: `*`, `5`, `1-5`, each with an optional `/step`. */
function parseRange(text: string, bounds: Bounds): { values: number[]; isAny: boolean } {
  const [range = '', step, ...rest] = text.split('/')
  const [first = '', last, ...more] = range.split('-')
  const isAny = range === '*' || range === '?'
  const isMixed = last !== undefined && /^\d/.test(first) !== /^\d/.test(last)
  if (rest.length > 0 || more.length > 0 || isMixed)
    throw new CronError(`the ${bounds.name} ${text} is not valid. Use a form such as 1-5 or */2`)
  const low = isAny ? bounds.min : parseValue(first, bounds)
  // A step after a single value runs to the end of the field.
  const end = step === undefined ? low : bounds.max
  const high = isAny ? bounds.max : last === undefined ? end : parseValue(last, bounds)
  if (high < low) throw new CronError(`the ${bounds.name} range ${range} ends before it begins. Use two ranges, separated by a comma`)
  const by = step === undefined ? 1 : parseStep(step, bounds)
  const values: number[] = []
  for (let value = low; value <= high; value += by) values.push(value)
  return { values, isAny: isAny && by === 1 }
}

function parseValue(text: string, { name, min, max, names }: Bounds): number {
  // Cron of Linux also accepts 7, but CronJob does not.
  if (names === DAYS && /^0?7$/.test(text)) throw new CronError(`the ${name} ${text} is not valid. Use 0 or SUN for Sunday`)
  const named = names?.indexOf(text.toUpperCase()) ?? -1
  const value = named >= 0 ? named + min : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  const allowed = `a number from ${min} to ${max}${names ? `, or a name such as ${names[1]}` : ''}`
  throw new CronError(`the ${name} ${text === '' ? 'is missing' : `${text} is not valid`}. Use ${allowed}`)
}

function parseStep(text: string, { name }: Bounds): number {
  const step = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (step === 0) throw new CronError(`the step /${text} of the ${name} is not valid. Use a whole number from 1 to 99`)
  return step
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1 }

function parseEvery(text: string): number {
  const isDuration = /^(\d{1,6}[hms]){1,3}$/.test(text)
  const parts = isDuration ? [...text.matchAll(/(\d+)([hms])/g)] : []
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0)
  if (seconds >= MIN_EVERY_SECONDS && seconds <= MAX_EVERY_SECONDS) return seconds
  throw new CronError(`the interval ${text} is not valid. Use a duration from 1m to 8784h, such as 1h30m`)
}
