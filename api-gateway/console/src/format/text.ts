// Numbers and times as people read them.

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB']

/** `1536` → `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[power]}`
}

/** `1250` → `1.25 s`, `80` → `80 ms`. */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1_000
  return seconds < 60 ? `${seconds.toFixed(seconds < 10 ? 2 : 1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

const STEPS: readonly (readonly [milliseconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** `5 minutes ago`. */
export function formatAge(instant: string, now: Date): string {
  const difference = Date.parse(instant) - now.getTime()
  const [size, unit] = STEPS.find(([milliseconds]) => Math.abs(difference) >= milliseconds) ?? [1_000, 'second' as const]
  return relative.format(Math.round(difference / size), unit)
}

const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

/** Local date and time. */
export const formatInstant = (instant: string): string => absolute.format(new Date(instant))

/** `12345` → `12,345`. */
export const formatNumber = (value: number): string => value.toLocaleString('en')
