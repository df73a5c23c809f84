import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { doubled } from '@tintype/crds/runtime/retry'
import type { Charge, ChargeOutcome } from '../quota/charges.ts'
import { isCharged } from '../quota/decide.ts'

interface ChargeContext {
  /** Absent: nothing is charged. */
  charge?: Charge | undefined
  chargeBackoff: ChargeBackoff
  now: () => Date
}

/** What came of a charge. `waitMilliseconds`: it was not tried, because the account could not be charged a moment ago. */
export type ChargeResult = ChargeOutcome | { waitMilliseconds: number }

/** Charges the Screenshot; repeated calls charge only once. */
export async function chargeFor(shot: Screenshot, { charge, chargeBackoff, now }: ChargeContext): Promise<ChargeResult> {
  if (charge === undefined || isCharged(shot)) return 'charged'
  const account = accountOf(shot)
  const at = now().getTime()
  if (!chargeBackoff.mayTry(account, at)) return { waitMilliseconds: chargeBackoff.waitOf(account, at) }
  const outcome = await charge(shot).catch((error: unknown) => {
    chargeBackoff.onFailed(account, now().getTime())
    throw error
  })
  chargeBackoff.onSucceeded(account)
  return outcome
}

const FIRST_MILLISECONDS = 1_000
const LONGEST_MILLISECONDS = 60_000
/** A trial that has no result by then no longer blocks the next one. */
const TRIAL_MILLISECONDS = 15_000

interface Backoff {
  failures: number
  /** Epoch milliseconds. */
  until: number
}

/**
 * Backoff for accounts that could not be charged. A runner is reserved while its account is charged, which may take seconds. So an account
 * whose usage cannot be written would block runners for all others. After a failure, nothing of the account is charged for a backoff time
 * that doubles. Then one Screenshot at a time is tried until a charge succeeds. Kept in memory: a new leader starts without backoff. Pure.
 */
export class ChargeBackoff {
  readonly #backoffs = new Map<string, Backoff>()

  /** True when a charge may be tried now. During backoff each `true` allows a single trial. */
  mayTry(account: string, now: number): boolean {
    const backoff = this.#backoffs.get(account)
    if (!backoff) return true
    if (now < backoff.until) return false
    backoff.until = now + TRIAL_MILLISECONDS
    return true
  }

  /** Milliseconds until the next trial. */
  waitOf(account: string, now: number): number {
    return Math.max(1, (this.#backoffs.get(account)?.until ?? now) - now)
  }

  onFailed(account: string, now: number): void {
    const failures = (this.#backoffs.get(account)?.failures ?? 0) + 1
    const wait = doubled(FIRST_MILLISECONDS, LONGEST_MILLISECONDS, failures)
    this.#backoffs.set(account, { failures, until: now + wait })
  }

  onSucceeded(account: string): void {
    this.#backoffs.delete(account)
  }
}
