import { z } from 'zod'
import { type Definition, instant, Metadata } from './custom-resource.ts'

// Every write is a compare-and-swap. Its name is the account's. The limit is mirrored into the spec so that the API server itself can
// refuse a count above it, whatever a buggy writer asks for.

export const AccountUsageSpec = z.object({
  limit: z.int().min(0).max(10_000_000_000).describe('Screenshots a month, overage included.'),
  ratePerMinute: z.int().min(1).max(1_000_000).describe('Creating requests in any 60 seconds; absent: no bound.').optional(),
})

export type AccountUsageSpec = z.infer<typeof AccountUsageSpec>

/** A unit of quota taken by a gateway whose objects it has not seen yet. */
export const Reservation = z.object({
  id: z.string().max(64).describe('Id of the reservation.'),
  names: z.array(z.string().max(253)).max(100).describe('Names of the Screenshots to come.'),
  gateway: z.string().max(253).describe('Instance that holds it; its Lease tells whether it lives.'),
  at: instant('When it was made: its month is charged.'),
  askedAgain: instant('When a repetition of its request last relied on it.').optional(),
})
export type Reservation = z.infer<typeof Reservation>

export const AccountUsageStatus = z.object({
  period: z
    .string()
    .regex(/^\d{4}-\d{2}$/)
    .describe('UTC month, YYYY-MM.')
    .optional(),
  used: z.int().min(0).describe('Screenshots charged in the period.'),
  window: z
    .array(z.object({ second: z.int().min(0).describe('Unix time.'), count: z.int().min(0).describe('Requests accepted in it.') }))
    .max(61)
    .describe('Accepted requests of the last 60 seconds, by second.')
    .optional(),
  reservations: z.array(Reservation).max(1000).describe('Units taken for objects not seen yet.').optional(),
  refunds: z.array(z.string().max(64)).max(1000).describe('Ids given back lately.').optional(),
})
export type AccountUsageStatus = z.infer<typeof AccountUsageStatus>

export const AccountUsage = z.object({ metadata: Metadata, spec: AccountUsageSpec, status: AccountUsageStatus.optional() })
export type AccountUsage = z.infer<typeof AccountUsage>

export const accountUsageDefinition: Definition = {
  kind: 'AccountUsage',
  plural: 'accountusages',
  singular: 'accountusage',
  shortNames: ['usage'],
  description: 'An AccountUsage counts what an account of the same name has used this month.',
  columns: [
    { name: 'Period', type: 'string', jsonPath: '.status.period' },
    { name: 'Used', type: 'integer', jsonPath: '.status.used' },
    { name: 'Limit', type: 'integer', jsonPath: '.spec.limit' },
    { name: 'Rate', type: 'integer', jsonPath: '.spec.ratePerMinute' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: AccountUsageSpec,
  status: AccountUsageStatus,
  rules: [
    {
      rule: '!has(self.status) || self.status.used <= self.spec.limit || (has(oldSelf.status) && self.status.used <= oldSelf.status.used)',
      message: 'used may not pass the limit of the spec',
    },
  ],
}
