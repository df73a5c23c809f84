import type { AccountUsageStatus } from '../kinds/account-usage.ts'

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
