import { apiKeyIdOf, createdAtOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import { ALL_SCOPES, type ApiKey } from '@tintype/crds/kinds/api-key'
import { z } from 'zod'
import { messageBody } from '../../http/envelopes.ts'
import { instantField, isAhead, iso, isoOrNull } from '../../http/fields.ts'
import { name } from '../../http/named-schemas.ts'
import { LinkPolicyRecord, toLinkPolicyRecord } from './link-policy.ts'

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
    link_policy: toLinkPolicyRecord(spec.linkPolicy),
  }
}
