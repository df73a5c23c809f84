import type { AccountUsageStatus } from '../kinds/account-usage.ts'

// An exact sliding window in whole seconds. A bucket leaves only when all of its second is more than 60 seconds past, so that never more
// than the limit are accepted in any 60 seconds; the price is at most one second of strictness. A token bucket of that size would let up
// to twice as many through.

/** Requests accepted in one second. */
export type Bucket = NonNullable<AccountUsageStatus['window']>[number]

const WINDOW_SECONDS = 60
/** A bucket further ahead than this comes from a clock that was wrong: it would close the window for as long as it was ahead. */
const MAX_AHEAD_SECONDS = 60

const secondOf = (at: Date): number => Math.floor(at.getTime() / 1_000)

/** The buckets that still count, oldest first. */
export function liveBuckets(window: readonly Bucket[], now: Date): Bucket[] {
  const second = secondOf(now)
  return window
    .map((bucket) => (bucket.second > second + MAX_AHEAD_SECONDS ? { ...bucket, second } : bucket))
    .filter((bucket) => bucket.second >= second - WINDOW_SECONDS)
    .sort((a, b) => a.second - b.second)
}

const sum = (window: readonly Bucket[]): number => window.reduce((total, { count }) => total + count, 0)

/** How many more requests fit now. */
export const rateRemaining = (window: readonly Bucket[], limit: number, now: Date): number =>
  Math.max(0, limit - sum(liveBuckets(window, now)))

/** Whole seconds until one more request fits, if no other comes first; 0 when one fits now. */
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

/** The window with one more request in it. Time does not go back in it: what a slow clock brings counts in the newest second. */
export function countRequest(window: readonly Bucket[], now: Date): Bucket[] {
  const live = liveBuckets(window, now)
  const newest = live.at(-1)
  if (newest === undefined || newest.second < secondOf(now)) return [...live, { second: secondOf(now), count: 1 }]
  return [...live.slice(0, -1), { ...newest, count: newest.count + 1 }]
}
