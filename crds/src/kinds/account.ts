import { z } from 'zod'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, Metadata } from '../schema/custom-resource.ts'

export const Plan = z.enum(['free', 'basic', 'growth', 'scale'])
export type Plan = z.infer<typeof Plan>

export const AccountSpec = z.object({
  plan: Plan.describe('Plan: free, basic, growth or scale; quotas and rates are the chart’s values.'),
  displayName: z.string().max(100).describe('Name for people.').optional(),
  suspended: z.boolean().describe('True refuses every request of the account. Default: false.').optional(),
  overage: z
    .object({
      enabled: z.boolean().describe('True lets the account pass its monthly quota.'),
      max: z.int().min(0).max(1_000_000_000).describe('Screenshots a month beyond the quota.').optional(),
    })
    .describe('Screenshots beyond the monthly quota.')
    .optional(),
})
export type AccountSpec = z.infer<typeof AccountSpec>

export const AccountStatus = z.object({ conditions: Conditions.describe('Ready.').optional() })

export const Account = z.object({ metadata: Metadata, spec: AccountSpec, status: AccountStatus.optional() })
export type Account = z.infer<typeof Account>

export const accountDefinition: Definition = {
  kind: 'Account',
  plural: 'accounts',
  singular: 'account',
  shortNames: ['acct'],
  description: 'An Account is one customer: its plan bounds what its keys may ask for.',
  columns: [
    { name: 'Plan', type: 'string', jsonPath: '.spec.plan' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: AccountSpec.describe('The plan of the account and what it may do beyond it.'),
  status: AccountStatus.describe('Whether requests of the account are accepted. Written by the operator.'),
}
