import { z } from 'zod'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, MAX_LABEL_LENGTH, Metadata } from '../schema/custom-resource.ts'

/** Name of a plan: a DNS label. The chart's values define the plans, so a name may have no plan. */
export const Plan = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
export type Plan = z.infer<typeof Plan>

export const AccountSpec = z.object({
  plan: Plan.describe('Name of a plan. The chart’s values define the plans; by default free, basic, growth and scale.'),
  displayName: z.string().max(100).describe('Name for people.').optional(),
  suspended: z.boolean().describe('If true, every request of the account is refused. Default: false.').optional(),
  overage: z
    .object({
      enabled: z.boolean().describe('If true, the account may exceed its monthly quota.'),
      max: z.int().min(0).max(1_000_000_000).describe('Maximum units per month beyond the quota. Default: no maximum.').optional(),
    })
    .describe('Use beyond the monthly quota. No effect if the plan has no overagePricePer1000.')
    .optional(),
})
export type AccountSpec = z.infer<typeof AccountSpec>

const AccountStatus = z.object({ conditions: Conditions.describe('Condition Ready.').optional() })

export const Account = z.object({ metadata: Metadata, spec: AccountSpec, status: AccountStatus.optional() })
export type Account = z.infer<typeof Account>

export const accountDefinition: Definition = {
  kind: 'Account',
  plural: 'accounts',
  singular: 'account',
  shortNames: ['acct'],
  description: 'An Account is one customer. Its plan limits the requests of its keys.',
  // Other objects name it in `accountName`, and Secrets in a label.
  names: { maxLength: MAX_LABEL_LENGTH, isLabel: true },
  columns: [
    { name: 'Plan', type: 'string', jsonPath: '.spec.plan' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: AccountSpec.describe('Plan of the account, and exceptions from it.'),
  status: AccountStatus.describe('State of the account. Written by the operator.'),
}

// An AccountUsage has the name of its account. Every write is a compare-and-swap. The spec repeats the plan's limit, so that the API server
// can refuse a count above it even if a program has a bug.

export const AccountUsageSpec = z.object({
  limit: z.int().min(0).max(10_000_000_000).describe('Maximum units per month, including overage.'),
  ratePerMinute: z.int().min(1).max(1_000_000).describe('Maximum creating requests in any 60 seconds; absent: unlimited.').optional(),
})

export type AccountUsageSpec = z.infer<typeof AccountUsageSpec>

/** Units of quota that a gateway has charged for objects that it has not yet seen in its cache. */
export interface Reservation {
  /** At most 64 characters. */
  id: string
  /** Names of the Screenshots to come, at most 100. */
  names: string[]
  /** Units that each name costs; absent: 1. All captures of a request cost the same. */
  units?: number | undefined
  /** Gateway replica that holds the reservation. Its Lease shows whether the replica is alive. */
  gateway: string
  /** Time of creation, whose month is charged. */
  at: string
  /** Time at which a retry of the request last used the reservation. */
  lastRetryAt?: string | undefined
}

/** The counts, as the programs use them. The API server stores them as {@link StoredUsageStatus}. */
export interface AccountUsageStatus {
  /** UTC month, YYYY-MM. */
  period?: string | undefined
  used: number
  /** Accepted requests of the last 60 seconds, by second of Unix time. */
  window?: { second: number; count: number }[] | undefined
  reservations?: Reservation[] | undefined
  refunds?: string[] | undefined
  /** Units charged on each UTC day, such as `{ '2026-11-25': 120 }`. */
  days?: Readonly<Record<string, number>> | undefined
}

/**
 * The stored form of the counts, with one line of text per item. Every group of creations writes this object, and the cost of a write in the
 * API server grows with the number of fields and elements: separate fields doubled it.
 */
export const StoredUsageStatus = z.object({
  period: z
    .string()
    .regex(/^\d{4}-\d{2}$/)
    .describe('UTC month, YYYY-MM.')
    .optional(),
  used: z.int().min(0).describe('Units charged in the period: 1 for a screenshot, 1 for each 10 seconds of a video.'),
  window: z
    .string()
    .max(2048)
    .regex(/^(?:\d{1,12}=\d{1,9}(?: \d{1,12}=\d{1,9})*)?$/)
    .describe('Accepted requests of the last 60 seconds: `<Unix time>=<requests>`, separated by spaces.')
    .optional(),
  reservations: z
    .array(
      z
        .string()
        .max(32768)
        .regex(/^\S+ \S+ \S+ \S+ \S+$/),
    )
    .max(1000)
    .describe(
      'Units charged for objects that are not yet in the cache: `<id> <created at> <retried at, or -> <gateway> <name>,<name>…`. A name that costs more than one unit is followed by `*<units>`.',
    )
    .optional(),
  refunds: z.array(z.string().max(64)).max(1000).describe('Ids of recently refunded screenshots.').optional(),
  days: z
    .string()
    .max(2048)
    .regex(/^(?:\d{4}-\d{2}-\d{2}=\d{1,11}(?: \d{4}-\d{2}-\d{2}=\d{1,11})*)?$/)
    .describe('Units charged on each UTC day of about two months: `<date>=<units>`, separated by spaces.')
    .optional(),
})
export type StoredUsageStatus = z.infer<typeof StoredUsageStatus>

export interface AccountUsage {
  metadata: Metadata
  spec: AccountUsageSpec
  status?: AccountUsageStatus | undefined
}

export const accountUsageDefinition: Definition = {
  kind: 'AccountUsage',
  plural: 'accountusages',
  singular: 'accountusage',
  shortNames: ['usage'],
  description: 'An AccountUsage counts the usage of the account with the same name in the current month.',
  // That of its account.
  names: { maxLength: MAX_LABEL_LENGTH, isLabel: true },
  columns: [
    { name: 'Period', type: 'string', jsonPath: '.status.period' },
    { name: 'Used', type: 'integer', jsonPath: '.status.used' },
    { name: 'Limit', type: 'integer', jsonPath: '.spec.limit' },
    { name: 'Rate', type: 'integer', jsonPath: '.spec.ratePerMinute' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: AccountUsageSpec.describe('Limits of the account. The operator copies them from the plan.'),
  status: StoredUsageStatus.describe('Usage of the account. Written by the gateway and the operator.'),
  isWrittenWhole: true,
  rules: [
    {
      rule: '!has(self.status) || self.status.used <= self.spec.limit || (has(oldSelf.status) && self.status.used <= oldSelf.status.used)',
      message: 'status.used must not exceed spec.limit',
    },
  ],
}
