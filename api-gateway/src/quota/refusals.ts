import { counted } from '@tintype/crds/text/words'
import { ApiError } from '../common/errors.ts'
import type { LimitFacts } from '../store/ports.ts'

const WINDOW_SECONDS = 60

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
