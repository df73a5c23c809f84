import { z } from 'zod'
import type { Definition, Metadata } from '../schema/custom-resource.ts'

// Every write is a compare-and-swap. Its name is the account's. The limit is mirrored into the spec so that the API server itself can
// refuse a count above it, whatever a buggy writer asks for.

export const AccountUsageSpec = z.object({
  limit: z.int().min(0).max(10_000_000_000).describe('Screenshots a month, overage included.'),
  ratePerMinute: z.int().min(1).max(1_000_000).describe('Creating requests in any 60 seconds; absent: no bound.').optional(),
})

export type AccountUsageSpec = z.infer<typeof AccountUsageSpec>

/** A unit of quota taken by a gateway whose objects it has not seen yet. */
export interface Reservation {
  /** At most 64 characters. */
  id: string
  /** Names of the Screenshots to come, at most 100. */
  names: string[]
  /** Instance that holds it; its Lease tells whether it lives. */
  gateway: string
  /** When it was made: its month is charged. */
  at: string
  /** When a repetition of its request last relied on it. */
  askedAgain?: string | undefined
}

/** What is counted, as programs see it. The API server keeps it as {@link StoredUsageStatus}. */
export interface AccountUsageStatus {
  /** UTC month, YYYY-MM. */
  period?: string | undefined
  used: number
  /** Accepted requests of the last 60 seconds, by second of Unix time. */
  window?: { second: number; count: number }[] | undefined
  reservations?: Reservation[] | undefined
  refunds?: string[] | undefined
}

/**
 * What the API server keeps: a line for each thing that is counted, since this object is written by every group of creations, and what the
 * API server does for a write grows with the fields and elements in it (measured: half of its time).
 */
export const StoredUsageStatus = z.object({
  period: z
    .string()
    .regex(/^\d{4}-\d{2}$/)
    .describe('UTC month, YYYY-MM.')
    .optional(),
  used: z.int().min(0).describe('Screenshots charged in the period.'),
  window: z
    .string()
    .max(2048)
    .regex(/^(?:\d{1,12}=\d{1,9}(?: \d{1,12}=\d{1,9})*)?$/)
    .describe('Accepted requests of the last 60 seconds: `<Unix time>=<requests>`, a blank between two seconds.')
    .optional(),
  reservations: z
    .array(
      z
        .string()
        .max(32768)
        .regex(/^\S+ \S+ \S+ \S+ \S+$/),
    )
    .max(1000)
    .describe('Units taken for objects not seen yet: `<id> <made at> <asked for again at, or -> <gateway> <name>,<name>…`.')
    .optional(),
  refunds: z.array(z.string().max(64)).max(1000).describe('Ids given back lately.').optional(),
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
  description: 'An AccountUsage counts what an account of the same name has used this month.',
  columns: [
    { name: 'Period', type: 'string', jsonPath: '.status.period' },
    { name: 'Used', type: 'integer', jsonPath: '.status.used' },
    { name: 'Limit', type: 'integer', jsonPath: '.spec.limit' },
    { name: 'Rate', type: 'integer', jsonPath: '.spec.ratePerMinute' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: AccountUsageSpec.describe('The limits of the account, copied from its plan by the operator.'),
  status: StoredUsageStatus.describe('What the account has used. Written by the gateway and the operator.'),
  isWrittenWhole: true,
  rules: [
    {
      rule: '!has(self.status) || self.status.used <= self.spec.limit || (has(oldSelf.status) && self.status.used <= oldSelf.status.used)',
      message: 'used may not pass the limit of the spec',
    },
  ],
}
