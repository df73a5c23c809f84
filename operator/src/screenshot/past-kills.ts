import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/record'
import { KILL_SECONDS, MAX_KILLS } from './kills.ts'

/** A runner that an account's capture has cost under another leader. */
export interface PastKill {
  account: string
  /** The same each time it is found. */
  id: string
  /** Epoch milliseconds. */
  at: number
}

/**
 * What Screenshots tell of the runners that they have cost, oldest first, as far as it counts still. When a runner was lost is not written down: it was
 * at the latest when the Screenshot ended, and may have been just now while it has not. Pure.
 */
export function findPastKills(screenshots: readonly Screenshot[], now: number): PastKill[] {
  return screenshots
    .filter(({ status }) => (status?.lostRunners ?? 0) > 0)
    .flatMap((shot) => {
      const at = Math.min(now, Date.parse(shot.status?.completionTime ?? '') || now)
      if (now - at >= MAX_KILLS * KILL_SECONDS * 1_000) return []
      return Array.from({ length: countOf(shot) }, (_, n) => ({ account: accountOf(shot), id: `${shot.metadata.uid}/${n}`, at }))
    })
    .sort((a, b) => a.at - b.at)
}

/** The loss that a page was blamed for is not counted in the status. */
const countOf = ({ status }: Screenshot): number => (status?.lostRunners ?? 0) + (status?.result?.error?.code === 'PAGE_CRASHED' ? 1 : 0)
