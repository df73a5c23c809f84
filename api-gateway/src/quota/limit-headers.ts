import type { LimitFacts } from '../store/ports.ts'

// The RateLimit header fields are not an RFC yet, so the older X- headers are sent as well.

const WINDOW_SECONDS = 60
const MILLISECONDS = 1_000

/** Limit headers for every response. Accounts without a rate limit get no rate limit headers. */
export function toLimitHeaders(facts: LimitFacts): Record<string, string> {
  const { at, quota, used, resetAt, ratePerMinute, rateRemaining, rateResetSeconds } = facts
  const quotaHeaders = {
    'x-quota-limit': String(quota),
    'x-quota-remaining': String(Math.max(0, quota - used)),
    'x-quota-reset': String(resetAt.getTime() / MILLISECONDS),
  }
  if (ratePerMinute === undefined) return quotaHeaders
  return {
    ...quotaHeaders,
    'ratelimit-policy': `"per-minute";q=${ratePerMinute};w=${WINDOW_SECONDS}`,
    ratelimit: `"per-minute";r=${rateRemaining};t=${rateResetSeconds}`,
    'x-ratelimit-limit': String(ratePerMinute),
    'x-ratelimit-remaining': String(rateRemaining),
    'x-ratelimit-reset': String(Math.ceil(at.getTime() / MILLISECONDS) + rateResetSeconds),
  }
}
