import { z } from 'zod'
import type { AccountSpec } from '../kinds/account.ts'
import type { AccountUsageSpec } from '../kinds/account-usage.ts'
import { parseJson } from '../text/parse-json.ts'

// What the plans allow: the chart's values, handed to gateway and operator as one variable with JSON.

/** Most screenshots a month that a limit may say: an overage without a maximum of its own. */
const NO_BOUND = 10_000_000_000

// Helm takes a key away whose value is null: absent and null mean the same.
const absentOr = <T extends z.ZodType>(schema: T) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional()

export const PlanValues = z.strictObject({
  /** Screenshots a month. */
  monthlyQuota: z.int().min(0).max(1_000_000_000),
  /** Creating requests in any 60 seconds; absent: no bound. */
  ratePerMinute: absentOr(z.int().min(1).max(1_000_000)),
  /** Price of 1,000 screenshots beyond the quota; absent: the plan cannot be passed. */
  overagePricePer1000: absentOr(z.number().min(0).max(1_000_000)),
  /** Days that files are kept. */
  retentionDays: z.int().min(1).max(3_650).default(30),
  /** Days that records are kept; absent: as long as the release keeps them. */
  recordDays: absentOr(z.int().min(1).max(3_650)),
  /** Share of the runners beside other accounts that wait. */
  weight: z.int().min(1).max(100).default(1),
  /** Captures of an account at a time; absent: no ceiling. */
  maxRunning: absentOr(z.int().min(1).max(3_000)),
  /** Screenshots of an account that may wait; absent: as many as the release lets an account have. */
  maxQueued: absentOr(z.int().min(1).max(100_000)),
  /** RunnerPool of Screenshots that name none; absent: the default one. */
  poolName: absentOr(z.string().regex(/^[a-z0-9]([-a-z0-9]{0,52}[a-z0-9])?$/)),
})
export type PlanValues = z.infer<typeof PlanValues>

export const Plans = z.strictObject({ free: PlanValues, basic: PlanValues, growth: PlanValues, scale: PlanValues })
export type Plans = z.infer<typeof Plans>

/** Spec 8; weights and ceilings are ours. */
export const DEFAULT_PLANS: Plans = Plans.parse({
  free: { monthlyQuota: 100, ratePerMinute: 2, weight: 1, maxRunning: 5 },
  basic: { monthlyQuota: 2_000, ratePerMinute: 40, overagePricePer1000: 2, weight: 2, maxRunning: 10 },
  growth: { monthlyQuota: 10_000, ratePerMinute: 80, overagePricePer1000: 1.5, weight: 4, maxRunning: 25 },
  scale: { monthlyQuota: 50_000, ratePerMinute: 150, overagePricePer1000: 0.75, weight: 8 },
})

/** The plans as JSON in one variable of the environment; empty: {@link DEFAULT_PLANS}. */
export const PlansText = z
  .string()
  .default('')
  .transform((text, context) => {
    if (text === '') return DEFAULT_PLANS
    const parsed = Plans.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the whole text'}: ${message}`)
    context.addIssue({ code: 'custom', message: `must be the plans as JSON (${faults.join('; ')})` })
    return z.NEVER
  })

/** Whether the account may pass its quota: its own switch is on, and the plan has a price for it. */
export const mayExceed = ({ overage }: Pick<AccountSpec, 'overage'>, { overagePricePer1000 }: PlanValues): boolean =>
  overage?.enabled === true && overagePricePer1000 !== undefined

/** The bounds that an account's plan and switches come to. */
export function toLimits(account: AccountSpec, plan: PlanValues): AccountUsageSpec {
  const beyond = mayExceed(account, plan) ? (account.overage?.max ?? NO_BOUND) : 0
  return {
    limit: Math.min(NO_BOUND, plan.monthlyQuota + beyond),
    ...(plan.ratePerMinute === undefined ? {} : { ratePerMinute: plan.ratePerMinute }),
  }
}
