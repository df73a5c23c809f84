import { ApiError } from '../errors.ts'
import type { LimitFacts } from '../translate/account/usage.ts'

const WINDOW_SECONDS = 60

/** The month's quota is spent (spec 7.1). No Retry-After: a client that obeyed it would hang for weeks. */
export function usageLimitReached({ limit, used, resetAt }: Pick<LimitFacts, 'limit' | 'used' | 'resetAt'>): ApiError {
  return new ApiError('USAGE_LIMIT_REACHED', `the usage limit was reached: ${used} of ${limit} screenshots of this month are used`, {
    details: { limit, used, reset_at: resetAt.toISOString() },
    headers: { 'x-should-retry': 'false' },
  })
}

/** Too many requests in the last 60 seconds (spec 8.5); one more fits after `Retry-After`. @param standing headers that tell the same otherwise */
export function rateLimitExceeded(
  { ratePerMinute, rateResetSeconds }: Pick<LimitFacts, 'ratePerMinute' | 'rateResetSeconds'>,
  standing: Readonly<Record<string, string>> = {},
): ApiError {
  const seconds = Math.max(1, rateResetSeconds)
  return new ApiError('RATE_LIMIT_EXCEEDED', `no more than ${ratePerMinute} requests fit into a minute; the next fits in ${seconds} s`, {
    details: { limit: ratePerMinute, window_seconds: WINDOW_SECONDS, retry_after: seconds },
    headers: { 'retry-after': String(seconds), ...standing },
  })
}
