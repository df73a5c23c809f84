import { UsageError } from '../common/errors.ts'

// Times on the command line: a duration such as 24h, or a time in ISO 8601.

const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** `30m`, `12h`, `7d` or `2w` in seconds. Undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([mhdw])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (SECONDS[unit] ?? 1)
}

/** A time in the past: a duration before now, or a time that the service reads. @throws UsageError */
export function toPastTime(flag: string, text: string, now: Date): string {
  const seconds = parseDuration(text)
  if (seconds !== undefined) return new Date(now.getTime() - seconds * 1_000).toISOString()
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new UsageError(`--${flag} "${text}" is no time. Use a duration such as 24h or 7d, or an ISO 8601 time.`)
}
