import type { AccountSpec } from '@tintype/crds/kinds/account'
import { mayExceed, type PlanValues } from '@tintype/crds/plans'
import type { LimitFacts } from '../store/ports.ts'

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
