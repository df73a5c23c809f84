import { randomUUID } from 'node:crypto'
import { deriveLinkSecret, keyHash, type LinkKey } from '@tintype/crds/crypto/api-keys'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation, Label, toObjectName } from '@tintype/crds/identifiers/names'
import { type ApiKey, type ApiKeySpec, accountScopes, hashesOf, hasScope, type Scope, scopesOf } from '@tintype/crds/kinds/api-key'
import type { CapturePolicySpec } from '@tintype/crds/kinds/capture-policy'
import { isAtLeastAsWide } from '@tintype/crds/policies/width'
import { ApiError } from '../../common/errors.ts'
import { definedOf, isAhead, iso } from '../../http/fields.ts'
import { type ObjectPatch, toUpdatedMetadata } from '../../store/ports.ts'
import { assertNoOverlap, overlapEnd, type RotateBody } from '../shared/rotation.ts'
import { assertAsWide } from './capture-limits.ts'
import { isActive } from './credentials.ts'
import { type CreateKeyBody, expiryOf, type UpdateKeyBody } from './fields.ts'
import { capturePolicies, linkPolicies } from './policy-fields.ts'

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
  const { name, scopes, link_policy, capture_policy } = body
  const policies = { linkPolicy: linkPolicies.toSpec(link_policy), capturePolicy: capturePolicies.toSpec(capture_policy) }
  const optional = definedOf({ scopes, expiryTime: expiryOf(body, now), ...policies })
  return {
    metadata: { name: toObjectName(id), labels: { [Label.keyHash1]: keyHash(text) } },
    spec: { accountName, name, lastFour: text.slice(-4), ...optional },
  }
}

/** The patch for an update. */
export function toKeyPatch(
  { name, scopes, is_active, expires_at, link_policy, capture_policy }: UpdateKeyBody,
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
      linkPolicy: link_policy === undefined ? undefined : linkPolicies.toPatch(link_policy, spec.linkPolicy),
      capturePolicy: capture_policy === undefined ? undefined : capturePolicies.toPatch(capture_policy, spec.capturePolicy),
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

/** The capture policy of a key after a change. */
export const policyAfter = ({ spec }: Pick<ApiKey, 'spec'>, change: UpdateKeyBody): CapturePolicySpec | undefined =>
  change.capture_policy === undefined ? spec.capturePolicy : capturePolicies.toSpec(change.capture_policy, spec.capturePolicy)

/**
 * A key cannot grant scopes that it lacks, nor captures that its own policy refuses, neither to a new key nor to an existing one.
 * @param policy the capture policy of the other key
 * @throws ApiError INSUFFICIENT_SCOPE, POLICY_TOO_NARROW
 */
export function assertCanGrant(granting: ApiKey, policy: CapturePolicySpec | undefined, wanted: readonly Scope[] = ['*']): void {
  assertScopes(granting, wanted, 'the API key cannot grant scopes that it lacks')
  assertAsWide(granting, policy, 'the API key cannot grant captures that its capture policy refuses')
}

/**
 * A key cannot change, delete or rotate a key that has more scopes or a wider capture policy.
 * @throws ApiError INSUFFICIENT_SCOPE, POLICY_TOO_NARROW
 */
export function assertCanManage(changing: ApiKey, changed: Pick<ApiKey, 'spec'>): void {
  assertScopes(changing, scopesOf(changed), 'the API key cannot change a key with scopes that it lacks')
  assertAsWide(changing, changed.spec.capturePolicy, 'the API key cannot change a key with a wider capture policy')
}

/**
 * A key cannot sign links for a key that has more scopes or a wider capture policy.
 * @throws ApiError INSUFFICIENT_SCOPE, POLICY_TOO_NARROW
 */
export function assertCanSignLinks(signing: ApiKey, signed: Pick<ApiKey, 'spec'>): void {
  assertScopes(signing, scopesOf(signed), 'the API key cannot read the link secret of a key with scopes that it lacks')
  assertAsWide(signing, signed.spec.capturePolicy, 'the API key cannot read the link secret of a key with a wider capture policy')
}

// Secrets that sign links of an API key. They are derived from the release's link key, and the ApiKey stores only their version. ADR 44.

/** A key that was never rotated needs no write: its secret has version 1. */
const FIRST_VERSION = 1

const versionOf = ({ spec }: ApiKey): number => spec.linkSecret?.version ?? FIRST_VERSION

/** The current link secret of a key. */
export const linkSecretOf = (key: ApiKey, linkKey: LinkKey): string => deriveLinkSecret(linkKey, apiKeyIdOf(key.metadata), versionOf(key))

/** All secrets that sign valid links of a key, the current one first. There are two during the overlap of a rotation. */
export function validLinkSecretsOf(key: ApiKey, linkKey: LinkKey, now: Date): string[] {
  const previous = key.spec.linkSecret?.previous
  const current = linkSecretOf(key, linkKey)
  return isAhead(previous?.expiryTime, now) ? [current, deriveLinkSecret(linkKey, apiKeyIdOf(key.metadata), previous.version)] : [current]
}

/**
 * The patch for a rotation: the next version, and the current one until the overlap ends.
 * @throws ApiError ROTATION_IN_PROGRESS when an earlier overlap still runs
 */
export function toLinkSecretRotation(key: ApiKey, rotation: RotateBody, now: Date): ObjectPatch {
  const what = 'the link secret before the last rotation is still valid'
  assertNoOverlap({ what, field: 'previous_link_secret_expires_at', end: key.spec.linkSecret?.previous?.expiryTime }, rotation, now)
  const version = versionOf(key)
  const end = overlapEnd(rotation, now)
  const previous = end === undefined ? null : { version, expiryTime: end.toISOString() }
  return { metadata: toUpdatedMetadata(now), spec: { linkSecret: { version: version + 1, previous } } }
}

// An account must always keep a key that can manage keys, because otherwise it could not get a new one over REST. A change that disables such a key
// needs another key as its replacement.

/** A change of a key. */
export type KeyUpdate = UpdateKeyBody | 'delete'

/** Scopes over all accounts do not count, because an account does not need them to manage its keys. */
const covers = (granting: readonly Scope[], wanted: readonly Scope[]): boolean =>
  accountScopes(wanted).every((scope) => hasScope(granting, scope))

const managesKeys = (key: ApiKey): boolean => covers(scopesOf(key), ['keys:write'])

const endOf = ({ spec: { expiryTime } }: ApiKey): number => (expiryTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiryTime))

/** True when the key itself is valid, whatever the state of its account. */
const isValid = (key: ApiKey, now: Date): boolean => isActive(key, now) && hashesOf(key).length > 0

/** When the account loses the scopes or the capture policy of the key. Undefined when the change removes nothing of them. */
function findLossTime(key: ApiKey, change: KeyUpdate, now: Date): number | undefined {
  if (!isValid(key, now) || !managesKeys(key)) return undefined
  if (change === 'delete' || change.is_active === false) return now.getTime()
  if (change.scopes !== undefined && !covers(change.scopes, scopesOf(key))) return now.getTime()
  if (!isAtLeastAsWide(policyAfter(key, change), key.spec.capturePolicy)) return now.getTime()
  const end = typeof change.expires_at === 'string' ? Date.parse(change.expires_at) : Number.POSITIVE_INFINITY
  return end < endOf(key) ? end : undefined
}

/**
 * Finds a replacement for a key that a change disables: a key with the same scopes, and a policy at least as wide, that is valid for longer.
 * @param readAll reads the account's keys as they are now; not called when no other key is needed
 * @returns undefined when no other key is needed
 * @throws ApiError LAST_API_KEY when there is none
 */
export async function findReplacementKey(
  key: ApiKey,
  change: KeyUpdate,
  readAll: () => Promise<readonly ApiKey[]>,
  now: Date,
): Promise<ApiKey | undefined> {
  const loss = findLossTime(key, change, now)
  if (loss === undefined) return undefined
  const successor = (await readAll()).find(
    (other) =>
      other.metadata.name !== key.metadata.name &&
      isValid(other, now) &&
      managesKeys(other) &&
      covers(scopesOf(other), scopesOf(key)) &&
      isAtLeastAsWide(other.spec.capturePolicy, key.spec.capturePolicy) &&
      endOf(other) > loss,
  )
  if (successor) return successor
  const message = 'no other valid key of the account has the same scopes, and a capture policy as wide, for as long: create one first'
  throw new ApiError('LAST_API_KEY', message)
}
