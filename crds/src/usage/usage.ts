import { createdAtOf } from '../identifiers/ids.ts'
import type { AccountUsage, AccountUsageStatus, Reservation } from '../kinds/account.ts'
import type { CaptureOptions } from '../options/catalog.ts'
import { isMoving, videoDefaults } from '../options/output/formats.ts'

// Quota and rate accounting for gateways and operator. Every change of an AccountUsage is one compare-and-swap of the result of a UsageDraft,
// so that two writers cannot use the same unit. All changes are idempotent, because a write may have an unknown outcome: a known reservation
// is not charged again, a name is released once, and an id is refunded once.

/** The UTC month, such as `2026-11`. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

/** Start of the month after that of `at`. */
export const startOfNextMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))

/** The usage of an account at one time. */
export interface UsageFacts {
  at: Date
  /** UTC month, `2026-11`. */
  period: string
  used: number
  /** Start of the next UTC month. */
  resetAt: Date
  /** Maximum units per month, including overage. */
  limit: number
  /** Maximum creating requests in any 60 seconds; absent: unlimited. */
  ratePerMinute?: number
  /** Creating requests that are still allowed now; infinity if unlimited. */
  rateRemaining: number
  /** Seconds until another request is allowed; 0 if one is allowed now. */
  rateResetSeconds: number
}

/** Reads an AccountUsage. In a new month, the usage is 0. */
export function toUsageFacts({ spec, status }: Pick<AccountUsage, 'spec' | 'status'>, now: Date): UsageFacts {
  const { limit, ratePerMinute } = spec
  const period = monthOf(now)
  const used = status?.period !== undefined && status.period >= period ? status.used : 0
  const rest = { at: now, period, used, resetAt: startOfNextMonth(now), limit }
  if (ratePerMinute === undefined) return { ...rest, rateRemaining: Number.POSITIVE_INFINITY, rateResetSeconds: 0 }
  const window = status?.window ?? []
  return {
    ...rest,
    ratePerMinute,
    rateRemaining: rateRemaining(window, ratePerMinute, now),
    rateResetSeconds: secondsUntilRoom(window, ratePerMinute, now),
  }
}

/** Maximum entries and names in the object, which is always read and written as a whole (1,000 names are about 40 kB). */
const MAX_RESERVATIONS = 1_000
const MAX_NAMES = 5_000
const MAX_REFUNDS = 1_000

/** A request for units of quota. */
export interface Wanted {
  id: string
  /** Object names of the Screenshots to create. */
  names: readonly string[]
  /** Units that each name costs ({@link unitsOf}); absent: 1. */
  units?: number | undefined
  /** Gateway replica that will create them. */
  gateway: string
  /** Time of acceptance, whose month is charged. */
  at: Date
  /** False: uses quota but does not count for the rate. */
  countsForRate: boolean
}

/** Time at which a request last used a reservation. */
export const lastUsedAt = ({ at, lastRetryAt = at }: Pick<Reservation, 'at' | 'lastRetryAt'>): Date => new Date(lastRetryAt)

/** The result of a reservation. `full`: the object has the maximum number of reservations; a later retry can succeed. */
export interface Outcome {
  granted: number
  refusal?: 'quota' | 'rate' | 'full'
}

/** Builds the next status of an AccountUsage. */
export class UsageDraft {
  readonly #spec: AccountUsage['spec']
  readonly #now: Date
  #period: string
  #used: number
  #window: readonly Bucket[]
  #reservations: Reservation[]
  #refunds: string[]
  #days: DailyUsage
  #changes = 0

  /** @param now the time at which requests count for the rate */
  constructor({ spec, status }: Pick<AccountUsage, 'spec' | 'status'>, now: Date) {
    this.#spec = spec
    this.#now = now
    this.#period = status?.period ?? monthOf(now)
    this.#used = status?.used ?? 0
    this.#window = status?.window ?? []
    this.#reservations = [...(status?.reservations ?? [])]
    this.#refunds = [...(status?.refunds ?? [])]
    this.#days = status?.days ?? {}
  }

  /** Number of changes; 0: there is nothing to write. */
  get changes(): number {
    return this.#changes
  }

  get used(): number {
    return this.#used
  }

  get period(): string {
    return this.#period
  }

  /** Charges as many of the names as the quota allows, from the first, and stores the reservation. */
  reserve({ id, names, units = 1, gateway, at, countsForRate }: Wanted): Outcome {
    const known = this.#reservations.find((reservation) => reservation.id === id)
    if (known) return this.#takeOver(known, names, gateway)
    const affordable = Math.floor(this.#leftIn(monthOf(at)) / units)
    if (affordable <= 0) return { granted: 0, refusal: 'quota' }
    const { ratePerMinute } = this.#spec
    if (countsForRate && ratePerMinute !== undefined && rateRemaining(this.#window, ratePerMinute, this.#now) === 0)
      return { granted: 0, refusal: 'rate' }
    const paid = names.slice(0, affordable)
    if (!this.#hasRoomFor(paid.length)) return { granted: 0, refusal: 'full' }
    this.#enter(monthOf(at))
    this.#used += paid.length * units
    this.#days = addUnits(this.#days, at, paid.length * units, this.#period)
    if (countsForRate) this.#window = countRequest(this.#window, this.#now)
    this.#reservations.push({ id, names: paid, ...(units === 1 ? {} : { units }), gateway, at: at.toISOString() })
    this.#changes++
    return paid.length === names.length ? { granted: paid.length } : { granted: paid.length, refusal: 'quota' }
  }

  /** Removes a reservation whose objects exist. Their units stay charged. */
  drop(id: string): void {
    const kept = this.#reservations.filter((reservation) => reservation.id !== id)
    if (kept.length !== this.#reservations.length) this.#changes++
    this.#reservations = kept
  }

  /**
   * Releases names of a reservation that will not be created. Does nothing if a retry has used the reservation, because another call may be
   * creating them: the operator settles it.
   */
  release(id: string, names: readonly string[], holder: string): void {
    const held = this.#reservations.find((reservation) => reservation.id === id && reservation.gateway === holder)
    if (held && held.lastRetryAt === undefined) this.#giveBack(held, names)
  }

  #giveBack(held: Reservation, names: readonly string[]): void {
    const gone = held.names.filter((name) => names.includes(name))
    if (gone.length === 0) return
    const rest = held.names.filter((name) => !gone.includes(name))
    const others = this.#reservations.filter((reservation) => reservation !== held)
    this.#reservations = rest.length === 0 ? others : [...others, { ...held, names: rest }]
    this.#lower(gone.length * (held.units ?? 1), new Date(held.at))
    this.#changes++
  }

  /**
   * Ends an abandoned reservation: releases the names that were never created, and keeps the charge for the rest.
   * @param seen the reservation when it was found abandoned; a reservation that was used since is unchanged
   */
  settle(seen: Reservation, neverMade: readonly string[]): void {
    const held = this.#reservations.find(({ id }) => id === seen.id)
    if (held?.gateway !== seen.gateway || held.lastRetryAt !== seen.lastRetryAt) return
    this.#giveBack(held, neverMade)
    this.drop(seen.id)
  }

  hasRefunded(screenshotId: string): boolean {
    return this.#refunds.includes(screenshotId)
  }

  /**
   * Refunds a failed screenshot once, and only in the month in which it was charged. Returns true if it is refunded, now or earlier.
   * @param units what it cost
   */
  refund(screenshotId: string, units = 1): boolean {
    if (this.hasRefunded(screenshotId)) return true
    const at = createdAtOf(screenshotId)
    if (monthOf(at) !== this.#period || this.#refunds.length >= MAX_REFUNDS) return false
    this.#refunds.push(screenshotId)
    this.#lower(units, at)
    this.#changes++
    return true
  }

  /** Removes refunds whose Screenshots have the condition Refunded or no longer exist. */
  forgetRefunds(screenshotIds: readonly string[]): void {
    const kept = this.#refunds.filter((id) => !screenshotIds.includes(id))
    if (kept.length !== this.#refunds.length) this.#changes++
    this.#refunds = kept
  }

  /** The status to write. */
  toStatus(): AccountUsageStatus {
    return {
      period: this.#period,
      used: this.#used,
      window: liveBuckets(this.#window, this.#now),
      reservations: this.#reservations,
      refunds: this.#refunds,
      days: this.#days,
    }
  }

  /**
   * A client's retry may come late, or to another replica, which then becomes the holder of the reservation. It is always written, so that a
   * release that was sent before fails.
   */
  #takeOver(known: Reservation, names: readonly string[], gateway: string): Outcome {
    const renewed = { ...known, gateway, lastRetryAt: this.#now.toISOString() }
    this.#reservations = this.#reservations.map((other) => (other === known ? renewed : other))
    this.#changes++
    // A retry may request fewer names, because it omits the existing objects. The charged names are the first of the rest.
    const granted = names.filter((name) => known.names.includes(name)).length
    return granted === names.length ? { granted } : { granted, refusal: 'quota' }
  }

  /** Units left in a month. The counted month never goes back to an earlier one. */
  #leftIn(month: string): number {
    return this.#spec.limit - (month > this.#period ? 0 : this.#used)
  }

  #enter(month: string): void {
    if (month <= this.#period) return
    this.#period = month
    this.#used = 0
  }

  /** @param at time of the charge */
  #lower(units: number, at: Date): void {
    if (monthOf(at) !== this.#period) return
    this.#used = Math.max(0, this.#used - units)
    this.#days = removeUnits(this.#days, at, units)
  }

  #hasRoomFor(names: number): boolean {
    const held = this.#reservations.reduce((total, reservation) => total + reservation.names.length, 0)
    return this.#reservations.length < MAX_RESERVATIONS && held + names <= MAX_NAMES
  }
}

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

// An exact sliding window with one bucket per second. A bucket is removed when its whole second is more than 60 seconds in the past, so that
// no 60 seconds ever exceed the limit. The cost is that a request may wait up to one second longer. A token bucket of the same size would
// accept up to twice as many requests.

/** Requests accepted in one second. */
export type Bucket = NonNullable<AccountUsageStatus['window']>[number]

const WINDOW_SECONDS = 60
/** A bucket further in the future comes from a wrong clock, and would block requests until its time has passed. */
const MAX_AHEAD_SECONDS = 60

const secondOf = (at: Date): number => Math.floor(at.getTime() / 1_000)

/** The buckets inside the window, oldest first. */
export function liveBuckets(window: readonly Bucket[], now: Date): Bucket[] {
  const second = secondOf(now)
  return window
    .map((bucket) => (bucket.second > second + MAX_AHEAD_SECONDS ? { ...bucket, second } : bucket))
    .filter((bucket) => bucket.second >= second - WINDOW_SECONDS)
    .sort((a, b) => a.second - b.second)
}

const sum = (window: readonly Bucket[]): number => window.reduce((total, { count }) => total + count, 0)

/** The number of requests that are still allowed now. */
export const rateRemaining = (window: readonly Bucket[], limit: number, now: Date): number =>
  Math.max(0, limit - sum(liveBuckets(window, now)))

/** Whole seconds until another request is allowed, if there are no others before it; 0 if one is allowed now. */
export function secondsUntilRoom(window: readonly Bucket[], limit: number, now: Date): number {
  const live = liveBuckets(window, now)
  let left = sum(live)
  if (left < limit) return 0
  for (const { second, count } of live) {
    left -= count
    if (left < limit) return Math.max(1, Math.ceil(second + WINDOW_SECONDS + 1 - now.getTime() / 1_000))
  }
  return WINDOW_SECONDS + 1
}

/** Adds a request to the window. Requests from a slow clock count in the newest second, so that time never goes backward. */
export function countRequest(window: readonly Bucket[], now: Date): Bucket[] {
  const live = liveBuckets(window, now)
  const newest = live.at(-1)
  if (newest === undefined || newest.second < secondOf(now)) return [...live, { second: secondOf(now), count: 1 }]
  return [...live.slice(0, -1), { ...newest, count: newest.count + 1 }]
}

/** Seconds of a video for one unit of quota. */
const SECONDS_PER_UNIT = 10

/** Units of quota that a capture costs: 1 for a screenshot, 1 for each 10 seconds or less of a video. This is the only cost function. */
export function unitsOf({ options }: { options?: CaptureOptions | undefined }): number {
  if (!isMoving(options?.format)) return 1
  return Math.ceil((options.videoDuration ?? videoDefaults.videoDuration) / SECONDS_PER_UNIT)
}
