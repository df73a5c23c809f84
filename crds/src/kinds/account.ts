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

export const AccountStatus = z.object({ conditions: Conditions.describe('Condition Ready.').optional() })

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
