/**
 * Accounts that could not be charged of late. Who is about to be charged has a runner kept for it, and the answer may take seconds: an account whose
 * count cannot be written would keep runners from all others for as long as that lasts. So after a failure nothing of it is charged for a while,
 * longer each time, and then one Screenshot at a time until that goes well. In memory only: a new leader tries anew. Pure.
 */

const FIRST_MILLISECONDS = 1_000
const LONGEST_MILLISECONDS = 60_000
/** A trial has an answer within that, or none. */
const TRIAL_MILLISECONDS = 15_000

interface Setback {
  failures: number
  /** Epoch milliseconds. */
  until: number
}

/** See the head of this file. */
export class Setbacks {
  readonly #setbacks = new Map<string, Setback>()

  /** True when a charge may be tried now. While there is a setback each true is a trial, and others wait for it. */
  mayTry(account: string, now: number): boolean {
    const setback = this.#setbacks.get(account)
    if (!setback) return true
    if (now < setback.until) return false
    setback.until = now + TRIAL_MILLISECONDS
    return true
  }

  /** Milliseconds until the next trial. */
  waitOf(account: string, now: number): number {
    return Math.max(1, (this.#setbacks.get(account)?.until ?? now) - now)
  }

  onFailed(account: string, now: number): void {
    const failures = (this.#setbacks.get(account)?.failures ?? 0) + 1
    const wait = Math.min(LONGEST_MILLISECONDS, FIRST_MILLISECONDS * 2 ** Math.min(failures - 1, 16))
    this.#setbacks.set(account, { failures, until: now + wait })
  }

  onAnswered(account: string): void {
    this.#setbacks.delete(account)
  }
}
