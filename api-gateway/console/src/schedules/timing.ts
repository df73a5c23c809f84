import { CronError, parseCron } from '@tintype/crds/schedule/cron'
import { isTimeZone, nextTime } from '@tintype/crds/schedule/times'

// When a schedule is due, with the code of the operator.

/** The next times in epoch milliseconds, or what is wrong with the input. */
export type NextTimes = { times: readonly number[] } | { problem: string; of: 'schedule' | 'time_zone' }

/**
 * Finds the next `count` times after `now`.
 * @param anchor epoch milliseconds from which `@every` counts: the creation of the schedule
 */
export function findNextTimes(
  expression: string,
  zone: string,
  { now, anchor, count }: { now: number; anchor: number; count: number },
): NextTimes {
  if (!isTimeZone(zone)) return { problem: 'Enter a name of the IANA database, such as Europe/Zurich or UTC.', of: 'time_zone' }
  try {
    const cron = parseCron(expression)
    const times: number[] = []
    for (let at: number | undefined = now; times.length < count; ) {
      at = nextTime({ cron, timeZone: zone, anchor }, at)
      if (at === undefined) break
      times.push(at)
    }
    if (times.length > 0) return { times }
    return { problem: 'No date in the next nine years matches the expression.', of: 'schedule' }
  } catch (error) {
    if (error instanceof CronError) return { problem: error.message, of: 'schedule' }
    throw error
  }
}

/** Expressions to choose from. */
export const COMMON_SCHEDULES: readonly (readonly [schedule: string, title: string])[] = [
  ['*/15 * * * *', 'Every 15 minutes'],
  ['@hourly', 'Every hour'],
  ['0 9 * * *', 'Every day at 9:00'],
  ['0 9 * * MON-FRI', 'Monday to Friday at 9:00'],
  ['0 9 * * MON', 'Every Monday at 9:00'],
  ['@monthly', 'On the first of the month'],
]

/** Formats of the last time zones. Each takes milliseconds to make. */
const formats = new Map<string, Intl.DateTimeFormat>()
const MAX_FORMATS = 20

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    weekday: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  if (formats.size >= MAX_FORMATS) formats.clear()
  formats.set(zone, made)
  return made
}

/** `Wed, Nov 25, 2026, 09:00` in a time zone. */
export const formatIn = (zone: string, time: number): string => formatOf(zone).format(time)
