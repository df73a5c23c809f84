import { counted } from '@tintype/crds/text/words'
import { type Bucket, countRequest, rateRemaining, secondsUntilRoom } from '@tintype/crds/usage/usage'
import { ApiError } from '../common/errors.ts'
import type { LimitFacts } from '../store/ports.ts'

/** Rate limit class of a request that costs no quota: reads (lists, reports, deletions), changes of keys and webhooks, or signed links. Polls have none. */
export type CallKind = 'read' | 'management' | 'link'

/** Calls per account and replica in any 60 seconds. These limits protect the process. Quota is counted exactly elsewhere. */
export type CallsPerMinute = Readonly<Record<CallKind, number>>

const FORGET_ABOVE = 10_000

/** Counts calls that cost no quota, in memory. */
export class CallLimits {
  readonly perMinute: CallsPerMinute
  readonly #windows = new Map<string, readonly Bucket[]>()

  constructor(perMinute: CallsPerMinute) {
    this.perMinute = perMinute
  }

  /** Counts a call. Returns the seconds to wait when the limit is reached, else undefined. */
  take(kind: CallKind, account: string, now: Date): number | undefined {
    const key = `${kind}/${account}`
    const limit = this.perMinute[kind]
    const window = this.#windows.get(key) ?? []
    if (rateRemaining(window, limit, now) === 0) return secondsUntilRoom(window, limit, now)
    if (this.#windows.size > FORGET_ABOVE) this.#forgetIdle(now)
    this.#windows.set(key, countRequest(window, now))
    return undefined
  }

  #forgetIdle(now: Date): void {
    for (const [key, window] of this.#windows) if (rateRemaining(window, 1, now) === 1) this.#windows.delete(key)
  }
}

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

/**
 * The monthly quota is used up, or has less than the request costs. There is no Retry-After header, because clients that follow it would wait for weeks.
 * @param units what the request costs
 */
export function usageLimitReached({ limit, used, resetAt }: Pick<LimitFacts, 'limit' | 'used' | 'resetAt'>, units = 1): ApiError {
  const state = `${used} of ${limit} units of this month are used`
  const message = used < limit ? `the request costs ${units} units, and ${state}` : `the usage limit was reached: ${state}`
  return new ApiError('USAGE_LIMIT_REACHED', message, {
    details: { limit, used, ...(units === 1 ? {} : { cost: units }), reset_at: resetAt.toISOString() },
    headers: { 'x-should-retry': 'false' },
  })
}

/** Too many requests in the last 60 seconds. The next one is accepted after `Retry-After`. @param rateHeaders further headers of the rate limit */
export function rateLimitExceeded(
  { ratePerMinute, rateResetSeconds }: Pick<LimitFacts, 'rateResetSeconds'> & { ratePerMinute: number },
  rateHeaders: Readonly<Record<string, string>> = {},
): ApiError {
  const seconds = Math.max(1, rateResetSeconds)
  return new ApiError(
    'RATE_LIMIT_EXCEEDED',
    `Rate limit is ${counted(ratePerMinute, 'request')} per minute. Retry in ${counted(seconds, 'second')}.`,
    {
      details: { limit: ratePerMinute, window_seconds: WINDOW_SECONDS, retry_after: seconds },
      headers: { 'retry-after': String(seconds), ...rateHeaders },
    },
  )
}
