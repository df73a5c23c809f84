import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'

/**
 * Limits how many runners an account's captures may crash. A page can crash the pod that shows it, and an account with a thousand such pages
 * would keep the pool busy with starting pods. Each account has a budget of crashes that refills with time. It may run as many captures at a
 * time as its budget has left; when the budget is empty, none starts. Kept in memory: a new leader rebuilds it from the Screenshots. Pure.
 */

/** Runners that an account may crash in a short time. */
export const MAX_CRASHES = 10
/** Seconds after which one crash is forgiven. */
export const CRASH_RECOVERY_SECONDS = 30

interface Budget {
  left: number
  /** Epoch milliseconds since when the next crash is being forgiven. */
  since: number
}

export class CrashBudget {
  readonly #budgets = new Map<string, Budget>()
  readonly #counted = new Set<string>()

  /** Counts a crashed runner once, however often this is called for it. `heldBack`: the budget is now empty. */
  note(account: string, podUid: string, now: number): 'counted' | 'heldBack' | 'known' {
    if (this.#counted.has(podUid)) return 'known'
    this.#counted.add(podUid)
    const budget = this.#at(account, now)
    budget.left = Math.max(0, budget.left - 1)
    this.#budgets.set(account, budget)
    this.#forget(now)
    return budget.left === 0 ? 'heldBack' : 'counted'
  }

  /** Captures that the account may run at a time; undefined: no limit, because it has crashed no runner lately. */
  limitOf(account: string, now: number): number | undefined {
    const { left } = this.#at(account, now)
    return left >= MAX_CRASHES ? undefined : left
  }

  #at(account: string, now: number): Budget {
    const { left, since } = this.#budgets.get(account) ?? { left: MAX_CRASHES, since: now }
    if (left >= MAX_CRASHES) return { left: MAX_CRASHES, since: now }
    const forgiven = Math.floor(Math.max(0, now - since) / (CRASH_RECOVERY_SECONDS * 1_000))
    return { left: Math.min(MAX_CRASHES, left + forgiven), since: since + forgiven * CRASH_RECOVERY_SECONDS * 1_000 }
  }

  #forget(now: number): void {
    for (const account of this.#budgets.keys()) if (this.#at(account, now).left >= MAX_CRASHES) this.#budgets.delete(account)
    if (this.#budgets.size === 0) this.#counted.clear()
  }
}

/** A runner that an account's capture crashed under another leader. */
export interface CrashRecord {
  account: string
  /** The same each time the record is found. */
  id: string
  /** Epoch milliseconds. */
  at: number
}

/**
 * Returns the crashes recorded in Screenshots that still count, oldest first. The time of a crash is not recorded: it is taken to be the end
 * of the Screenshot, or now while it has not ended.
 */
export function findCrashRecords(screenshots: readonly Screenshot[], now: number): CrashRecord[] {
  return screenshots
    .filter(({ status }) => (status?.lostRunners ?? 0) > 0)
    .flatMap((shot) => {
      const at = Math.min(now, Date.parse(shot.status?.completionTime ?? '') || now)
      if (now - at >= MAX_CRASHES * CRASH_RECOVERY_SECONDS * 1_000) return []
      return Array.from({ length: countOf(shot) }, (_, n) => ({ account: accountOf(shot), id: `${shot.metadata.uid}/${n}`, at }))
    })
    .sort((a, b) => a.at - b.at)
}

/** The crash for which a page was blamed is not counted in `lostRunners`. */
const countOf = ({ status }: Screenshot): number => (status?.lostRunners ?? 0) + (status?.result?.error?.code === 'PAGE_CRASHED' ? 1 : 0)
