import { SCOPES } from '@tintype/crds/kinds/api-key'
import { z } from 'zod'
import type { Problem } from '../../common/errors.ts'
import { boundedText } from '../common/fields.ts'
import { findDuplicateProblems, findEmptyUpdateProblems, type ReadBody, readBody } from '../common/read-body.ts'

// Bodies of the key routes.

const MAX_DAYS = 3_650
const DAY_MILLISECONDS = 86_400_000

const name = boundedText(1, 100).describe('Display name, at most 100 characters.')
const scopes = z
  .array(z.enum(SCOPES))
  .min(1)
  .max(SCOPES.length)
  .meta({ uniqueItems: true })
  .describe('Scopes of the key. A key cannot grant scopes that it lacks.')
const expiresAt = z.iso
  .datetime({ offset: true, error: 'must be a time in ISO 8601, such as 2027-01-31T10:00:00Z' })
  .describe('When the key expires, in ISO 8601.')

export const CreateKeyBody = z.strictObject({
  name,
  scopes: scopes.optional().describe('Scopes of the key. Default: all (*).'),
  expires_at: expiresAt.nullable().optional().describe('When the key expires. Null or absent: never.'),
  expires_in_days: z.int().min(1).max(MAX_DAYS).optional().describe('Days until the key expires, instead of expires_at.'),
})
export type CreateKeyBody = z.infer<typeof CreateKeyBody>

export const UpdateKeyBody = z.strictObject({
  name: name.optional(),
  scopes: scopes.optional(),
  is_active: z.boolean().optional().describe('False makes the key invalid until it is true again.'),
  expires_at: expiresAt.nullable().optional().describe('When the key expires. Null: never.'),
})
export type UpdateKeyBody = z.infer<typeof UpdateKeyBody>

function findExpiryProblems({ expires_at }: Pick<CreateKeyBody, 'expires_at'>, now: Date): Problem[] {
  if (typeof expires_at !== 'string' || new Date(expires_at) > now) return []
  return [{ path: 'expires_at', code: 'in_the_past', message: 'expires_at must be in the future' }]
}

function findExpiryConflicts({ expires_at, expires_in_days }: Partial<CreateKeyBody>): Problem[] {
  if (typeof expires_at !== 'string' || expires_in_days === undefined) return []
  return [{ path: 'expires_in_days', code: 'contradiction', message: 'expires_at and expires_in_days exclude each other' }]
}

/** @throws ApiError VALIDATION_ERROR that lists every problem */
export const parseCreateKey = (raw: unknown, now: Date, lenient: boolean): ReadBody<CreateKeyBody> =>
  readBody(CreateKeyBody, raw, {
    lenient,
    validate: (body) => [...findDuplicateProblems('scopes', body.scopes), ...findExpiryProblems(body, now), ...findExpiryConflicts(body)],
  })

/** @throws ApiError VALIDATION_ERROR that lists every problem */
export const parseUpdateKey = (raw: unknown, now: Date, lenient: boolean): ReadBody<UpdateKeyBody> =>
  readBody(UpdateKeyBody, raw, {
    lenient,
    validate: (body) => [
      ...findEmptyUpdateProblems(body),
      ...findDuplicateProblems('scopes', body.scopes),
      ...findExpiryProblems(body, now),
    ],
  })

/** The expiry of a new key, or undefined. */
export function expiryOf({ expires_at, expires_in_days }: CreateKeyBody, now: Date): string | undefined {
  if (expires_in_days !== undefined) return new Date(now.getTime() + expires_in_days * DAY_MILLISECONDS).toISOString()
  return typeof expires_at === 'string' ? new Date(expires_at).toISOString() : undefined
}
