import { z } from 'zod'
import { type AccountSpec, type AccountUsageSpec, Plan } from '../kinds/account.ts'
import { parseJson } from '../text/json.ts'

// Limits of the plans. They are values of the chart, which passes them to the gateway and the operator as JSON in one environment variable.

/** Monthly limit of an account with overage but without a maximum. */
const NO_BOUND = 10_000_000_000

// Helm removes keys whose value is null, so absent and null must mean the same.
const absentOr = <T extends z.ZodType>(schema: T) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional()

export const PlanValues = z.strictObject({
  /** Screenshots per month. */
  monthlyQuota: z.int().min(0).max(1_000_000_000),
  /** Creating requests in any 60 seconds; absent: unlimited. */
  ratePerMinute: absentOr(z.int().min(1).max(1_000_000)),
  /** Price of 1,000 screenshots beyond the quota; absent: the plan does not allow overage. */
  overagePricePer1000: absentOr(z.number().min(0).max(1_000_000)),
  /** Days to keep files. */
  retentionDays: z.int().min(1).max(3_650).default(30),
  /** Days to keep records; absent: the retention of the release. */
  recordDays: absentOr(z.int().min(1).max(3_650)),
  /** Weight in the weighted fair queueing of accounts. */
  weight: z.int().min(1).max(100).default(1),
  /** Maximum concurrent captures of an account that is not the only one; absent: all runners of a pool but the last. */
  maxRunning: absentOr(z.int().min(1).max(3_000)),
  /** Maximum queued screenshots of an account; absent: the limit of the release. */
  maxQueued: absentOr(z.int().min(1).max(100_000)),
  /** RunnerPool of Screenshots without poolName; absent: the default pool. */
  poolName: absentOr(z.string().regex(/^[a-z0-9]([-a-z0-9]{0,52}[a-z0-9])?$/)),
})
export type PlanValues = z.infer<typeof PlanValues>

/** The plans of a release by name. */
export const Plans = z.record(Plan, PlanValues).refine((plans) => Object.keys(plans).length > 0, 'must have at least one plan')
export type Plans = Readonly<Record<string, PlanValues>>

/** The default plans. */
export const DEFAULT_PLANS = z.object({ free: PlanValues, basic: PlanValues, growth: PlanValues, scale: PlanValues }).parse({
  free: { monthlyQuota: 100, ratePerMinute: 2, weight: 1, maxRunning: 5 },
  basic: { monthlyQuota: 2_000, ratePerMinute: 40, overagePricePer1000: 2, weight: 2, maxRunning: 6 },
  growth: { monthlyQuota: 10_000, ratePerMinute: 80, overagePricePer1000: 1.5, weight: 4, maxRunning: 8 },
  scale: { monthlyQuota: 50_000, ratePerMinute: 150, overagePricePer1000: 0.75, weight: 8 },
})

/** The plans as JSON in one environment variable; empty: {@link DEFAULT_PLANS}. */
export const PlansText = z
  .string()
  .default('')
  .transform((text, context): Plans => {
    if (text === '') return DEFAULT_PLANS
    const parsed = Plans.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the whole text'}: ${message}`)
    context.addIssue({ code: 'custom', message: `must be the plans as JSON (${faults.join('; ')})` })
    return z.NEVER
  })

/** The limits of a plan; undefined if no plan has this name. */
export const findPlan = (plans: Plans, name: string): PlanValues | undefined => (Object.hasOwn(plans, name) ? plans[name] : undefined)

/**
 * The limits of an account with this plan. If no plan has this name, the account cannot create screenshots, and its earlier ones run one at a
 * time. Its files are kept as long as on any plan, so that a wrong name deletes nothing.
 */
export const limitsOfPlan = (plans: Plans, name: string): PlanValues =>
  findPlan(plans, name) ?? { monthlyQuota: 0, retentionDays: longestRetention(plans), weight: 1, maxRunning: 1 }

/** Retention of files in the plan with the longest one, in days. */
export const longestRetention = (plans: Plans): number => Math.max(...Object.values(plans).map(({ retentionDays }) => retentionDays))

/** Whether the account may exceed its quota: its overage is enabled, and the plan has a price for overage. */
export const mayExceed = ({ overage }: Pick<AccountSpec, 'overage'>, { overagePricePer1000 }: PlanValues): boolean =>
  overage?.enabled === true && overagePricePer1000 !== undefined

/** The limits that follow from an account's spec and plan. */
export function toLimits(account: AccountSpec, plan: PlanValues): AccountUsageSpec {
  const beyond = mayExceed(account, plan) ? (account.overage?.max ?? NO_BOUND) : 0
  return {
    limit: Math.min(NO_BOUND, plan.monthlyQuota + beyond),
    ...(plan.ratePerMinute === undefined ? {} : { ratePerMinute: plan.ratePerMinute }),
  }
}
