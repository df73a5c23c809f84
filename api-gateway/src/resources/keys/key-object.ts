import { randomUUID } from 'node:crypto'
import { keyHash } from '@tintype/crds/crypto/api-keys'
import { Annotation, Label, toObjectName } from '@tintype/crds/identifiers/names'
import { type ApiKey, type ApiKeySpec, hasScope, type Scope, scopesOf } from '@tintype/crds/kinds/api-key'
import { ApiError } from '../../common/errors.ts'
import { definedOf, iso } from '../../http/fields.ts'
import { type ObjectPatch, toUpdatedMetadata } from '../../store/object-patch.ts'
import { assertNoOverlap, overlapEnd, type RotateBody } from '../shared/rotation.ts'
import { type CreateKeyBody, expiryOf, type UpdateKeyBody } from './bodies.ts'
import { toLinkPolicyPatch, toLinkPolicySpec } from './link-policy.ts'

/** A key before it is stored. */
export interface NewApiKey {
  metadata: { name: string; labels: Record<string, string> }
  spec: ApiKeySpec
}

interface KeyParts {
  id: string
  accountName: string
  text: string
  now: Date
}

/** The object of a new key. It contains the hash of the key, never its text. */
export function buildApiKey(body: CreateKeyBody, { id, accountName, text, now }: KeyParts): NewApiKey {
  const { name, scopes, link_policy } = body
  const optional = definedOf({ scopes, expiryTime: expiryOf(body, now), linkPolicy: toLinkPolicySpec(link_policy) })
  return {
    metadata: { name: toObjectName(id), labels: { [Label.keyHash1]: keyHash(text) } },
    spec: { accountName, name, lastFour: text.slice(-4), ...optional },
  }
}

/** The patch for an update. */
export function toKeyPatch(
  { name, scopes, is_active, expires_at, link_policy }: UpdateKeyBody,
  { spec }: Pick<ApiKey, 'spec'>,
  now: Date,
): ObjectPatch {
  return {
    metadata: toUpdatedMetadata(now),
    spec: definedOf({
      name,
      scopes,
      active: is_active,
      expiryTime: typeof expires_at === 'string' ? iso(expires_at) : expires_at,
      linkPolicy: link_policy === undefined ? undefined : toLinkPolicyPatch(link_policy, spec.linkPolicy),
    }),
  }
}

/**
 * The patch for a rotation: the hash of the new key, and the old hash in the second label while both are valid.
 * @throws ApiError ROTATION_IN_PROGRESS when an earlier overlap still runs
 */
export function toKeyRotation({ metadata, spec }: ApiKey, text: string, rotation: RotateBody, now: Date): ObjectPatch {
  const what = 'the key before the last rotation is still valid'
  assertNoOverlap({ what, field: 'previous_key_expires_at', end: spec.previous?.expiryTime }, rotation, now)
  const end = overlapEnd(rotation, now)
  const oldHash = metadata.labels?.[Label.keyHash1]
  const hasOverlap = end !== undefined && oldHash !== undefined
  return {
    metadata: { ...toUpdatedMetadata(now), labels: { [Label.keyHash1]: keyHash(text), [Label.keyHash2]: hasOverlap ? oldHash : null } },
    spec: {
      lastFour: text.slice(-4),
      previous: hasOverlap ? { lastFour: spec.lastFour ?? null, expiryTime: end.toISOString() } : null,
    },
  }
}

/** A patch without effect, which makes concurrent writers of the key fail with a conflict. */
export const toKeyTouch = (): ObjectPatch => ({ metadata: { annotations: { [Annotation.standsIn]: randomUUID() } } })

function assertScopes(own: Pick<ApiKey, 'spec'>, wanted: readonly Scope[], problem: string): void {
  const scopes = scopesOf(own)
  const missing = wanted.filter((scope) => !hasScope(scopes, scope))
  if (missing.length === 0) return
  const challenge = `Bearer realm="api", error="insufficient_scope", scope="${missing.join(' ')}"`
  throw new ApiError('INSUFFICIENT_SCOPE', `${problem}: ${missing.join(', ')}`, { headers: { 'www-authenticate': challenge } })
}

/**
 * A key cannot grant scopes that it lacks, neither to a new key nor to an existing one.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export const assertCanGrant = (granting: Pick<ApiKey, 'spec'>, wanted: readonly Scope[] = ['*']): void =>
  assertScopes(granting, wanted, 'the API key cannot grant scopes that it lacks')

/**
 * A key cannot change, delete or rotate a key that has more scopes.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export const assertCanManage = (changing: Pick<ApiKey, 'spec'>, changed: Pick<ApiKey, 'spec'>): void =>
  assertScopes(changing, scopesOf(changed), 'the API key cannot change a key with scopes that it lacks')

/**
 * A key cannot sign links for a key that has more scopes.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export const assertCanSignLinks = (signing: Pick<ApiKey, 'spec'>, signed: Pick<ApiKey, 'spec'>): void =>
  assertScopes(signing, scopesOf(signed), 'the API key cannot read the link secret of a key with scopes that it lacks')
