import type { AccountSpec, Plan } from '@tintype/crds/kinds/account'
import { mayExceed, type PlanValues } from '@tintype/crds/plans'
import type { UsageFacts } from '@tintype/crds/usage'

/** Where an account stands, for headers and the usage report. `limit` is what ends in a refusal: the quota, and the overage that is allowed. */
export interface LimitFacts extends UsageFacts {
  plan: Plan
  /** The plan's screenshots a month. */
  quota: number
}

// The draft of RateLimit is no RFC yet, so both of its fields go out beside the older X- form, and agree with it.

const WINDOW_SECONDS = 60
const MILLISECONDS = 1_000

/** Where an account stands, for every answer that it gets. Without a bound of its own on the rate, nothing is said about it. */
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

/** The account's month so far (spec 2.8); what is beyond the quota is told apart where the account may pass it. */
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
