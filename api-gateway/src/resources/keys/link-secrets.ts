import { deriveLinkSecret, type LinkKey } from '@tintype/crds/crypto/api-keys'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { isAhead } from '../../http/fields.ts'
import { type ObjectPatch, toUpdatedMetadata } from '../../store/object-patch.ts'
import { assertNoOverlap, overlapEnd, type RotateBody } from '../shared/rotation.ts'

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
