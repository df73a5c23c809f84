import { z } from 'zod'
import { count, instant, success } from './common.ts'
import { name } from './naming.ts'

const overage = z.object({
  count: count('Screenshots beyond the quota.'),
  unit_price_per_1000: z.number().min(0).nullable().describe('Price of a thousand of them.'),
  amount: z.number().min(0).nullable().describe('What they cost so far.'),
})

/** The operations. */
export const UsageReport = name(
  'Usage',
  z
    .object({
      success,
      data: z.object({
        period: z
          .string()
          .regex(/^\d{4}-\d{2}$/)
          .describe('UTC month.'),
        count: count('Screenshots used in the period.'),
        limit: count('Screenshots a month.'),
        percentage: z.number().min(0).describe('Percent of the quota used; beyond 100 with overage.'),
        remaining: count('Screenshots left.'),
        reset_at: instant('When the next month begins.'),
        plan: z.string().describe('The account’s plan.'),
        rate_limit_per_minute: z.int().min(1).nullable().describe('Creating requests in any 60 seconds; null: no bound.'),
        overage: overage.optional().describe('Present when the account may pass its quota.'),
      }),
    })
    .describe('What the account has used this month.'),
)
