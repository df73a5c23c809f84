import { createdAtOf } from '../identifiers/ids.ts'
import type { AccountUsage, AccountUsageStatus, Reservation } from '../kinds/account-usage.ts'
import { type Bucket, countRequest, liveBuckets, rateRemaining, secondsUntilRoom } from './rate-window.ts'

// The arithmetic of quota and rate, shared by gateways and operator. Nobody changes an AccountUsage but by one compare-and-swap of what a
// UsageDraft comes to: so two writers never spend the same unit. Everything may be repeated after an unknown outcome: a reservation that is
// known is not charged again, names that are gone are not given back again, an id is refunded once.

/** `2026-11`: months are UTC's. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

/** When the month after that of `at` begins. */
export const startOfNextMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))

/** What an AccountUsage comes to at an instant. */
export interface UsageFacts {
  /** The instant. */
  at: Date
  /** UTC month, `2026-11`. */
  period: string
  used: number
  /** Start of the next UTC month. */
  resetAt: Date
  /** Screenshots a month, overage included. */
  limit: number
  /** Creating requests in any 60 seconds; absent: no bound. */
  ratePerMinute?: number
  /** Creating requests that fit now; without a bound, infinity. */
  rateRemaining: number
  /** Seconds until one more fits; 0 when one fits now. */
  rateResetSeconds: number
}

/** Reads an AccountUsage: in a month that it has not seen yet, nothing is used. */
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

/** After so long a repetition is noted: from then on it is as young as that. */
const YOUNG_MILLISECONDS = 60_000

/** Entries and names that the object may hold in all: it is read and written whole each time (1,000 names are about 40 kB). */
const MAX_RESERVATIONS = 1_000
const MAX_NAMES = 5_000
const MAX_REFUNDS = 1_000

/** Units that are asked for. */
export interface Wanted {
  id: string
  /** Object names of the Screenshots to come. */
  names: readonly string[]
  /** Instance that will create them. */
  gateway: string
  /** Acceptance: its month is charged. */
  at: Date
  /** False: costs quota only. */
  countsForRate: boolean
}

/** When somebody last relied on a reservation. */
export const lastAskedFor = ({ at, askedAgain = at }: Pick<Reservation, 'at' | 'askedAgain'>): Date => new Date(askedAgain)

/** What came of it. `full`: there is no room to note another reservation; a little later there is. */
export interface Outcome {
  granted: number
  refusal?: 'quota' | 'rate' | 'full'
}

/** The next status of an AccountUsage, step by step. */
export class UsageDraft {
  readonly #spec: AccountUsage['spec']
  readonly #now: Date
  #period: string
  #used: number
  #window: readonly Bucket[]
  #reservations: Reservation[]
  #refunds: string[]
  #changes = 0

  /** @param now the instant at which requests of the rate are accepted */
  constructor({ spec, status }: Pick<AccountUsage, 'spec' | 'status'>, now: Date) {
    this.#spec = spec
    this.#now = now
    this.#period = status?.period ?? monthOf(now)
    this.#used = status?.used ?? 0
    this.#window = status?.window ?? []
    this.#reservations = [...(status?.reservations ?? [])]
    this.#refunds = [...(status?.refunds ?? [])]
  }

  /** Changes so far; 0: there is nothing to write. */
  get changes(): number {
    return this.#changes
  }

  get used(): number {
    return this.#used
  }

  get period(): string {
    return this.#period
  }

  /** Charges the first of the names, as many as fit, and notes the reservation. */
  reserve({ id, names, gateway, at, countsForRate }: Wanted): Outcome {
    const known = this.#reservations.find((reservation) => reservation.id === id)
    if (known) return this.#takeOver(known, names, gateway)
    const left = this.#leftIn(monthOf(at))
    if (left <= 0) return { granted: 0, refusal: 'quota' }
    const { ratePerMinute } = this.#spec
    if (countsForRate && ratePerMinute !== undefined && rateRemaining(this.#window, ratePerMinute, this.#now) === 0)
      return { granted: 0, refusal: 'rate' }
    const paid = names.slice(0, left)
    if (!this.#hasRoomFor(paid.length)) return { granted: 0, refusal: 'full' }
    this.#enter(monthOf(at))
    this.#used += paid.length
    if (countsForRate) this.#window = countRequest(this.#window, this.#now)
    this.#reservations.push({ id, names: paid, gateway, at: at.toISOString() })
    this.#changes++
    return paid.length === names.length ? { granted: paid.length } : { granted: paid.length, refusal: 'quota' }
  }

  /** The objects of the reservation exist: their units stay spent, and nobody needs the note any more. */
  drop(id: string): void {
    const kept = this.#reservations.filter((reservation) => reservation.id !== id)
    if (kept.length !== this.#reservations.length) this.#changes++
    this.#reservations = kept
  }

  /** Names of a reservation that were never made and never will be. Only its holder may say so: another may be making them. */
  giveBack(id: string, names: readonly string[], holder: string): void {
    const held = this.#reservations.find((reservation) => reservation.id === id && reservation.gateway === holder)
    const gone = held?.names.filter((name) => names.includes(name)) ?? []
    if (!held || gone.length === 0) return
    const rest = held.names.filter((name) => !gone.includes(name))
    const others = this.#reservations.filter((reservation) => reservation !== held)
    this.#reservations = rest.length === 0 ? others : [...others, { ...held, names: rest }]
    this.#lower(gone.length, monthOf(new Date(held.at)))
    this.#changes++
  }

  /**
   * Ends a reservation that nobody works under any more: what was never made goes back, the rest stays spent.
   * @param seen the reservation as it was when that was found out; one that was relied on since is left alone
   */
  settle(seen: Reservation, neverMade: readonly string[]): void {
    const held = this.#reservations.find(({ id }) => id === seen.id)
    if (held?.gateway !== seen.gateway || held.askedAgain !== seen.askedAgain) return
    this.giveBack(seen.id, neverMade, seen.gateway)
    this.drop(seen.id)
  }

  hasRefunded(screenshotId: string): boolean {
    return this.#refunds.includes(screenshotId)
  }

  /** Gives a failed screenshot's unit back, once, and only in the month that it was charged to. True when it did, now or before. */
  refund(screenshotId: string): boolean {
    if (this.hasRefunded(screenshotId)) return true
    if (monthOf(createdAtOf(screenshotId)) !== this.#period || this.#refunds.length >= MAX_REFUNDS) return false
    this.#refunds.push(screenshotId)
    this.#lower(1, this.#period)
    this.#changes++
    return true
  }

  /** Forgets refunds whose Screenshots say so themselves or are gone. */
  forgetRefunds(screenshotIds: readonly string[]): void {
    const kept = this.#refunds.filter((id) => !screenshotIds.includes(id))
    if (kept.length !== this.#refunds.length) this.#changes++
    this.#refunds = kept
  }

  /** The status to be written. */
  toStatus(): AccountUsageStatus {
    return {
      period: this.#period,
      used: this.#used,
      window: liveBuckets(this.#window, this.#now),
      reservations: this.#reservations,
      refunds: this.#refunds,
    }
  }

  /** A client's repetition may come late, or to another replica: from then on that one answers for the reservation. */
  #takeOver(known: Reservation, names: readonly string[], gateway: string): Outcome {
    const isOld = this.#now.getTime() - lastAskedFor(known).getTime() > YOUNG_MILLISECONDS
    if (known.gateway !== gateway || isOld) {
      const renewed = { ...known, gateway, askedAgain: this.#now.toISOString() }
      this.#reservations = this.#reservations.map((other) => (other === known ? renewed : other))
      this.#changes++
    }
    // A repetition may ask for less: what exists by then is left out. What is paid is the first of the rest.
    const granted = names.filter((name) => known.names.includes(name)).length
    return granted === names.length ? { granted } : { granted, refusal: 'quota' }
  }

  /** Units left in a month. The one that is counted never goes back to an earlier one. */
  #leftIn(month: string): number {
    return this.#spec.limit - (month > this.#period ? 0 : this.#used)
  }

  #enter(month: string): void {
    if (month <= this.#period) return
    this.#period = month
    this.#used = 0
  }

  #lower(units: number, month: string): void {
    if (month === this.#period) this.#used = Math.max(0, this.#used - units)
  }

  #hasRoomFor(names: number): boolean {
    const held = this.#reservations.reduce((total, reservation) => total + reservation.names.length, 0)
    return this.#reservations.length < MAX_RESERVATIONS && held + names <= MAX_NAMES
  }
}
