import { SCOPES } from '@tintype/crds/kinds/api-key'
import { ZONED_TIME } from '@tintype/crds/text/time-text'
import { z } from 'zod'
import type { Problem } from '../../common/errors.ts'
import { jsonBody } from '../../http/body.ts'
import { displayName } from '../../http/fields.ts'
import { name } from '../../http/named-schemas.ts'
import { findDuplicateProblems } from '../../http/read-body.ts'
import { findLinkPolicyProblems, LinkPolicyBody } from './link-policy.ts'

const MAX_DAYS = 3_650
const DAY_MILLISECONDS = 86_400_000

interface Clock {
  now: () => Date
}

const keyName = displayName('Display name, at most 100 characters.')
const scopes = z
  .array(z.enum(SCOPES))
  .min(1)
  .max(SCOPES.length)
  .meta({ uniqueItems: true })
  .describe('Scopes of the key. A key cannot grant scopes that it lacks.')
const expiresAt = z
  .string()
  .regex(ZONED_TIME, 'must be a time with its zone, that exists, such as 2027-01-31T10:00:00Z')
  .meta({ format: 'date-time' })
  .describe('When the key expires, in ISO 8601.')

const linkPolicy = LinkPolicyBody.nullable().optional()

export const CreateKeyBody = name(
  'CreateKey',
  z
    .strictObject({
      name: keyName,
      scopes: scopes.optional().describe('Scopes of the key. Default: all (*).'),
      expires_at: expiresAt.nullable().optional().describe('When the key expires. Null or absent: never.'),
      expires_in_days: z.int().min(1).max(MAX_DAYS).optional().describe('Days until the key expires, instead of expires_at.'),
      link_policy: linkPolicy.describe('Limits of the signed links of the key. Null or absent: none.'),
    })
    .describe('A new API key.'),
)
export type CreateKeyBody = z.infer<typeof CreateKeyBody>

export const UpdateKeyBody = name(
  'UpdateKey',
  z
    .strictObject({
      name: keyName.optional(),
      scopes: scopes.optional(),
      is_active: z.boolean().nullable().optional().describe('False makes the key invalid until it is true again. Null: true.'),
      expires_at: expiresAt.nullable().optional().describe('When the key expires. Null: never.'),
      link_policy: linkPolicy.describe('Limits of the signed links of the key. PATCH keeps limits that are absent. Null: none.'),
    })
    .describe('Fields of a key to change, at least one.')
    .meta({ minProperties: 1 }),
)
export type UpdateKeyBody = z.infer<typeof UpdateKeyBody>

function findExpiryProblems({ expires_at }: Pick<CreateKeyBody, 'expires_at'>, now: Date): Problem[] {
  if (typeof expires_at !== 'string' || new Date(expires_at) > now) return []
  return [{ path: 'expires_at', code: 'in_the_past', message: 'expires_at must be in the future' }]
}

function findExpiryConflicts({ expires_at, expires_in_days }: Partial<CreateKeyBody>): Problem[] {
  if (typeof expires_at !== 'string' || expires_in_days === undefined) return []
  return [{ path: 'expires_in_days', code: 'contradiction', message: 'expires_at and expires_in_days exclude each other' }]
}

export const createKeyBody = jsonBody({
  schema: CreateKeyBody,
  examples: {
    limited: {
      summary: 'A key for screenshots, for a year',
      value: { name: 'deploy pipeline', scopes: ['screenshots:read', 'screenshots:write'], expires_in_days: 365 },
    },
    full: { summary: 'A key with all scopes', value: { name: 'operations' } },
  },
  check: (body, { now }: Clock) => [
    ...findDuplicateProblems('scopes', body.scopes),
    ...findExpiryProblems(body, now()),
    ...findExpiryConflicts(body),
    ...findLinkPolicyProblems(body.link_policy ?? {}),
  ],
})

/** Body of PATCH and PUT /keys/{id}. PUT replaces the link policy as a whole. */
export const updateKeyBody = jsonBody({
  schema: UpdateKeyBody,
  examples: {
    retire: { summary: 'Deactivate the key', value: { name: 'old pipeline', is_active: false } },
    links: {
      summary: 'Limit the links of the key',
      value: { link_policy: { allowed_hosts: ['example.com', '*.example.com'], allowed_options: ['viewport_width', 'format'] } },
    },
  },
  check: (body, { now }: Clock) => [
    ...findDuplicateProblems('scopes', body.scopes),
    ...findExpiryProblems(body, now()),
    ...findLinkPolicyProblems(body.link_policy ?? {}),
  ],
})

/** The expiry of a new key, or undefined. */
export function expiryOf({ expires_at, expires_in_days }: CreateKeyBody, now: Date): string | undefined {
  if (expires_in_days !== undefined) return new Date(now.getTime() + expires_in_days * DAY_MILLISECONDS).toISOString()
  return typeof expires_at === 'string' ? new Date(expires_at).toISOString() : undefined
}
