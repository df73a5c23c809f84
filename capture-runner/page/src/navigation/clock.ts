import type { PageFunctions } from '../../../src/page/functions.ts'

/** The part of Temporal that is used here. Browsers have it only lately. */
interface TemporalPart {
  Now: Record<string, (zone?: string) => unknown> & { timeZoneId: () => string }
  Instant: { fromEpochMilliseconds: (milliseconds: number) => { toZonedDateTimeISO: (zone: string) => ZonedDateTime } }
}

interface ZonedDateTime {
  toPlainDateTime: () => unknown
  toPlainDate: () => unknown
  toPlainTime: () => unknown
}

/**
 * Runs before any script of the page, in its own world. Pages learn the date from these functions. Timers, frames and `performance.now` keep theirs: a
 * clock that stands still would never end the work of a page that compares times.
 */
export const startClock: PageFunctions['startClock'] = (start) => {
  const readClock = Date.now
  const ahead = start - readClock()
  const now = () => readClock() + ahead
  const construct: ProxyHandler<DateConstructor>['construct'] = (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget)
  const RunningDate = new Proxy(Date, { construct, apply: (target) => new target(now()).toString() })
  Date.now = now
  Date.prototype.constructor = RunningDate
  globalThis.Date = RunningDate
  startFormats(now)
  startTemporal(now)
  const { timeOrigin } = performance
  Object.defineProperty(performance, 'timeOrigin', { configurable: true, get: () => timeOrigin + ahead })
}

/** A format without a date formats the current one. */
function startFormats(now: () => number): void {
  const { prototype } = Intl.DateTimeFormat
  const { formatToParts } = prototype
  prototype.formatToParts = function (date = now()) {
    return formatToParts.call(this, date)
  }
  const readFormat = Object.getOwnPropertyDescriptor(prototype, 'format')?.get
  const get = function (this: Intl.DateTimeFormat) {
    const format: Intl.DateTimeFormat['format'] = readFormat?.call(this)
    return (date: number | Date = now()) => format(date)
  }
  Object.defineProperty(prototype, 'format', { configurable: true, get })
}

function startTemporal(now: () => number): void {
  const { Temporal } = globalThis as { Temporal?: TemporalPart }
  if (!Temporal) return
  const { Now, Instant } = Temporal
  const instant = () => Instant.fromEpochMilliseconds(now())
  const zonedDateTimeISO = (zone = Now.timeZoneId()) => instant().toZonedDateTimeISO(zone)
  Object.assign(Now, {
    instant,
    zonedDateTimeISO,
    plainDateTimeISO: (zone?: string) => zonedDateTimeISO(zone).toPlainDateTime(),
    plainDateISO: (zone?: string) => zonedDateTimeISO(zone).toPlainDate(),
    plainTimeISO: (zone?: string) => zonedDateTimeISO(zone).toPlainTime(),
  })
}
