import type { AccountSpec } from '@tintype/crds/kinds/account'
import { count, instant } from '@tintype/crds/schema/fields'
import { mayExceed, type PlanValues } from '@tintype/crds/usage/plans'
import { z } from 'zod'
import { dataBody } from '../../http/fields.ts'
import type { LimitFacts } from '../../store/ports.ts'

const overage = z.object({
  count: count('Screenshots above the quota.'),
  unit_price_per_1000: z.number().min(0).nullable().describe('Price per thousand screenshots above the quota.'),
  amount: z.number().min(0).nullable().describe('Cost of the screenshots above the quota so far.'),
})

/** Body of GET /usage/current. */
export const UsageReport = dataBody(
  'Usage',
  z.object({
    period: z
      .string()
      .regex(/^\d{4}-\d{2}$/)
      .describe('UTC month.'),
    count: count('Screenshots used in the period.'),
    limit: count('Quota: screenshots per month.'),
    percentage: z.number().min(0).describe('Used percentage of the quota. Above 100 with overage.'),
    remaining: count('Screenshots left.'),
    reset_at: instant('Start of the next month.'),
    plan: z.string().describe('The account’s plan.'),
    rate_limit_per_minute: z.int().min(1).nullable().describe('Create requests allowed in any 60 seconds. Null: no limit.'),
    overage: overage.optional().describe('Present when the account can exceed its quota.'),
  }),
  'Usage of the account in the current month.',
)

/** Body of GET /usage/days. */
export const DailyUsageReport = dataBody(
  'DailyUsage',
  z
    .array(z.object({ date: z.iso.date().describe('UTC day.'), count: count('Screenshots used on the day.') }))
    .describe('Every day from the first one with usage to today, at most 62.'),
  'Usage of the account by day.',
)

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
