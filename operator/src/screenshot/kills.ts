/**
 * A ceiling of the runners that an account's captures may cost. A page can kill the pod that shows it; an account with a thousand such pages
 * would have the pool start pods for nobody else. So each account has some kills, which come back with time: who has used them up waits for the
 * next to come back before anything of it is begun, and who has some left has no more captures at a time than these. In memory: a new leader begins with what the Screenshots tell (past-kills.ts). Pure.
 */

/** Runners that an account may cost in a short time. */
export const MAX_KILLS = 10
/** Seconds after which one of them is forgiven. */
export const KILL_SECONDS = 30

interface Tally {
  left: number
  /** Epoch milliseconds from which on the next is being forgiven. */
  since: number
}

/** See the head of this file. */
export class Kills {
  readonly #tallies = new Map<string, Tally>()
  readonly #counted = new Set<string>()

  /** Counts a runner once, however often it is told of. `heldBack`: this one was the last that the account had. */
  note(account: string, podUid: string, now: number): 'counted' | 'heldBack' | 'known' {
    if (this.#counted.has(podUid)) return 'known'
    this.#counted.add(podUid)
    const tally = this.#at(account, now)
    tally.left = Math.max(0, tally.left - 1)
    this.#tallies.set(account, tally)
    this.#forget(now)
    return tally.left === 0 ? 'heldBack' : 'counted'
  }

  /** Captures that the account may have at a time; undefined: its captures cost nobody anything. */
  ceilingOf(account: string, now: number): number | undefined {
    const { left } = this.#at(account, now)
    return left >= MAX_KILLS ? undefined : left
  }

  #at(account: string, now: number): Tally {
    const { left, since } = this.#tallies.get(account) ?? { left: MAX_KILLS, since: now }
    if (left >= MAX_KILLS) return { left: MAX_KILLS, since: now }
    const forgiven = Math.floor(Math.max(0, now - since) / (KILL_SECONDS * 1_000))
    return { left: Math.min(MAX_KILLS, left + forgiven), since: since + forgiven * KILL_SECONDS * 1_000 }
  }

  #forget(now: number): void {
    for (const account of this.#tallies.keys()) if (this.#at(account, now).left >= MAX_KILLS) this.#tallies.delete(account)
    if (this.#tallies.size === 0) this.#counted.clear()
  }
}
