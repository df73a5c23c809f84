import { apiKeyIdOf, createdAtOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import { ALL_SCOPES, type ApiKey, SCOPES } from '@tintype/crds/kinds/api-key'
import { ZONED_TIME } from '@tintype/crds/text/time-text'
import { z } from 'zod'
import type { Problem } from '../../common/errors.ts'
import { findDuplicateProblems, jsonBody } from '../../http/body.ts'
import { displayName, instantField, isAhead, iso, isoOrNull, messageBody, name } from '../../http/fields.ts'
import { CapturePolicyBody, CapturePolicyRecord, capturePolicies, LinkPolicyBody, LinkPolicyRecord, linkPolicies } from './policy-fields.ts'

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
const capturePolicy = CapturePolicyBody.nullable().optional()

export const CreateKeyBody = name(
  'CreateKey',
  z
    .strictObject({
      name: keyName,
      scopes: scopes.optional().describe('Scopes of the key. Default: all (*).'),
      expires_at: expiresAt.nullable().optional().describe('When the key expires. Null or absent: never.'),
      expires_in_days: z.int().min(1).max(MAX_DAYS).optional().describe('Days until the key expires, instead of expires_at.'),
      link_policy: linkPolicy.describe('Limits of the signed links of the key. Null or absent: none.'),
      capture_policy: capturePolicy.describe('Limits of the captures of the key. Null or absent: none.'),
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
      capture_policy: capturePolicy.describe('Limits of the captures of the key. PATCH keeps limits that are absent. Null: none.'),
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

const findPolicyProblems = ({ link_policy, capture_policy }: Pick<CreateKeyBody, 'link_policy' | 'capture_policy'>): Problem[] => [
  ...linkPolicies.findProblems(link_policy ?? {}),
  ...capturePolicies.findProblems(capture_policy ?? {}),
]

export const createKeyBody = jsonBody({
  schema: CreateKeyBody,
  examples: {
    limited: {
      summary: 'A key for screenshots, for a year',
      value: { name: 'deploy pipeline', scopes: ['screenshots:read', 'screenshots:write'], expires_in_days: 365 },
    },
    full: { summary: 'A key with all scopes', value: { name: 'operations' } },
    hosts: {
      summary: 'A key that captures one site',
      value: { name: 'docs', scopes: ['screenshots:write'], capture_policy: { allowed_hosts: ['example.com', '*.example.com'] } },
    },
  },
  check: (body, { now }: Clock) => [
    ...findDuplicateProblems('scopes', body.scopes),
    ...findExpiryProblems(body, now()),
    ...findExpiryConflicts(body),
    ...findPolicyProblems(body),
  ],
})

/** Body of PATCH and PUT /keys/{id}. PUT replaces each policy as a whole. */
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
    ...findPolicyProblems(body),
  ],
})

/** The expiry of a new key, or undefined. */
export function expiryOf({ expires_at, expires_in_days }: CreateKeyBody, now: Date): string | undefined {
  if (expires_in_days !== undefined) return new Date(now.getTime() + expires_in_days * DAY_MILLISECONDS).toISOString()
  return typeof expires_at === 'string' ? new Date(expires_at).toISOString() : undefined
}

/** The record of a key, without its text. */
export const KeyRecord = name(
  'ApiKey',
  z.object({
    id: z.string().describe('Key id, prefix key_.'),
    name: z.string(),
    key_prefix: z.string().describe('Prefix of all keys.'),
    last_four: z.string().nullable().describe('Last four characters of the text, to distinguish keys.'),
    scopes: z.array(z.enum(ALL_SCOPES)),
    is_active: z.boolean(),
    created_at: instantField,
    updated_at: instantField,
    expires_at: instantField.nullable(),
    last_used_at: instantField.nullable().describe('Last use, accurate to ten minutes.'),
    previous_key_expires_at: instantField.nullable().describe('Until when the text before the last rotation is valid.'),
    link_policy: LinkPolicyRecord.nullable().describe('Limits of the signed links of the key. Null: none.'),
    capture_policy: CapturePolicyRecord.nullable().describe('Limits of the captures of the key. Null: none.'),
  }),
)
export type KeyRecord = z.infer<typeof KeyRecord>

/** The record with the text, which is shown only once. */
const KeyWithText = KeyRecord.extend({ key: z.string().describe('The text of the key. It is shown only once.') })

// The text is not stored, so a replayed response does not contain it.
export const CreatedKey = KeyWithText.partial({ key: true }).describe(
  'An API key with its text. Only the first response contains the text, a replayed response does not.',
)

export const KeyRotated = messageBody('ApiKeyRotated', KeyWithText, 'The rotated key.')
export const LinkSecretFound = messageBody(
  'LinkSecret',
  z.object({
    key: z.string().describe('Key id: the parameter `key` of links.'),
    link_secret: z.string().describe('Secret that signs links of the key, prefix lsk_.'),
  }),
  'The secret that signs links of a key.',
)

const KEY_PREFIX = 'ttk_'

export function toKeyRecord({ metadata, spec, status }: ApiKey, now: Date): KeyRecord {
  const { expiryTime, previous } = spec
  const id = apiKeyIdOf(metadata)
  const createdAt = createdAtOf(id).toISOString()
  return {
    id,
    name: spec.name ?? metadata.name,
    key_prefix: KEY_PREFIX,
    last_four: spec.lastFour ?? null,
    scopes: spec.scopes ?? ['*'],
    is_active: spec.active !== false,
    created_at: createdAt,
    updated_at: metadata.annotations?.[Annotation.updatedAt] ?? createdAt,
    expires_at: isoOrNull(expiryTime),
    last_used_at: isoOrNull(status?.lastUsedTime),
    previous_key_expires_at: isAhead(previous?.expiryTime, now) ? iso(previous.expiryTime) : null,
    link_policy: linkPolicies.toRecord(spec.linkPolicy),
    capture_policy: capturePolicies.toRecord(spec.capturePolicy),
  }
}
