// Units charged on each day (UTC). The days of a month add up to the usage of that month, if Tintype counted by day since its beginning.

/** Units by day, such as `{ '2026-11-25': 120 }`. Days without charges are absent. */
export type DailyUsage = Readonly<Record<string, number>>

/** Days that are kept: two months. */
export const MAX_DAYS = 62

/** The UTC day, such as `2026-11-25`. */
export const dateOf = (at: Date): string => at.toISOString().slice(0, 10)

/** Adds units to the day of `at`, or to the first day of the month that is charged if `at` is before it. Keeps the newest days. */
export function addUnits(days: DailyUsage, at: Date, units: number, month: string): DailyUsage {
  const first = `${month}-01`
  const date = dateOf(at) < first ? first : dateOf(at)
  const entries = Object.entries({ ...days, [date]: (days[date] ?? 0) + units })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).slice(-MAX_DAYS))
}

/** Takes back units of a charge at `at`, but never more than the day has. */
export function removeUnits(days: DailyUsage, at: Date, units: number): DailyUsage {
  const date = dateOf(at)
  const { [date]: charged = 0, ...others } = days
  return charged > units ? { ...days, [date]: charged - units } : others
}

/** One line for the object: `2026-11-24=80 2026-11-25=120`. */
export const writeDays = (days: DailyUsage): string =>
  Object.entries(days)
    .map(([date, units]) => `${date}=${units}`)
    .join(' ')

const ENTRY = /^(\d{4}-\d{2}-\d{2})=(\d{1,11})$/

/** Reads the line. Ignores entries that Tintype cannot have written. */
export function readDays(line: string): DailyUsage {
  const entries = line.split(' ').flatMap((text): [string, number][] => {
    const [, date, units] = ENTRY.exec(text) ?? []
    return date === undefined || Number.isNaN(Date.parse(date)) ? [] : [[date, Number(units)]]
  })
  return Object.fromEntries(entries)
}

/** Every day from the first one with a charge to today, with the units of each. Empty if there are no charges. */
export function everyDay(days: DailyUsage, now: Date): { date: string; units: number }[] {
  const today = dateOf(now)
  const [first] = Object.keys(days).sort()
  const list: { date: string; units: number }[] = []
  if (first === undefined) return list
  for (const day = new Date(first); dateOf(day) <= today && list.length < MAX_DAYS; day.setUTCDate(day.getUTCDate() + 1))
    list.push({ date: dateOf(day), units: days[dateOf(day)] ?? 0 })
  return list
}
