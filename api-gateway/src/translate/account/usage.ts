import type { AccountSpec, Plan } from '@tintype/crds/kinds/account'
import { mayExceed, type PlanValues } from '@tintype/crds/usage/plans'
import type { UsageFacts } from '@tintype/crds/usage/usage'

/** Usage and limits of an account. `limit` is the quota plus the allowed overage. */
export interface LimitFacts extends UsageFacts {
  plan: Plan
  /** Screenshots per month in the plan. */
  quota: number
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

const round = (value: number): number => Math.round(value * 100) / 100

/** The account's usage report. Includes the overage if the account can exceed its quota. */
export function toUsageReport(facts: LimitFacts, account: AccountSpec, plan: PlanValues) {
  const { period, used, quota, resetAt, ratePerMinute } = facts
  const beyond = Math.max(0, used - quota)
  const price = plan.overagePricePer1000 ?? 0
  return {
    success: true,
    data: {
      period,
      count: used,
      limit: quota,
      percentage: quota === 0 ? 100 : round((used / quota) * 100),
      remaining: Math.max(0, quota - used),
      reset_at: resetAt.toISOString(),
      plan: facts.plan,
      rate_limit_per_minute: ratePerMinute ?? null,
      ...(mayExceed(account, plan)
        ? { overage: { count: beyond, unit_price_per_1000: price, amount: round((beyond / 1_000) * price) } }
        : {}),
    },
  }
}
