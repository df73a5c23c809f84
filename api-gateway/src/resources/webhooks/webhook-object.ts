import { Annotation, toObjectName } from '@tintype/crds/identifiers/names'
import type { Webhook, WebhookSpec } from '@tintype/crds/kinds/webhook'
import { ApiError, invalid } from '../../common/errors.ts'
import { definedOf } from '../../http/fields.ts'
import { type ObjectPatch, toUpdatedMetadata } from '../../store/object-patch.ts'
import { assertNoOverlap, overlapEnd, type RotateBody } from '../shared/rotation.ts'
import type { CreateWebhookBody, UpdateWebhookBody } from './bodies.ts'

type SigningSecret = NonNullable<WebhookSpec['signingSecrets']>[number]

/** A webhook that is not created yet. */
export interface NewWebhook {
  metadata: { name: string }
  spec: WebhookSpec
}

/** The object of a new webhook. */
export function buildWebhook(
  body: CreateWebhookBody,
  { id, accountName, secret }: { id: string; accountName: string; secret: SigningSecret },
): NewWebhook {
  const { name, url, events, description, is_active } = body
  const optional = definedOf({ description: description ?? undefined, active: is_active })
  return { metadata: { name: toObjectName(id) }, spec: { accountName, name, url, events, signingSecrets: [secret], ...optional } }
}

/** The patch for an update. @throws ApiError VALIDATION_ERROR for fixed fields of the default webhook */
export function toWebhookPatch({ is_active, ...fields }: UpdateWebhookBody, { spec }: Pick<Webhook, 'spec'>, now: Date): ObjectPatch {
  if (spec.isDefault) rejectFixedFields(fields)
  if (is_active === undefined) return { metadata: toUpdatedMetadata(now), spec: fields }
  // The client sets is_active, so the reason of an earlier deactivation no longer applies.
  const { annotations } = toUpdatedMetadata(now)
  return { metadata: { annotations: { ...annotations, [Annotation.disabledReason]: null } }, spec: { ...fields, active: is_active } }
}

/** Requests with a `webhook_url` set these fields themselves. */
function rejectFixedFields(fields: Omit<UpdateWebhookBody, 'is_active'>): void {
  const paths = (['url', 'events'] as const).filter((name) => fields[name] !== undefined)
  if (paths.length === 0) return
  throw invalid(
    paths.map((path) => ({ path, code: 'fixed', message: `${path} of the default webhook cannot be changed: each request sets it` })),
  )
}

/** The first secret of a default webhook is made with it and shown to nobody, so it need not sign beside the next one. */
const isNeverShown = ({ metadata, spec }: Webhook): boolean =>
  spec.isDefault === true && spec.signingSecrets?.length === 1 && metadata.annotations?.[Annotation.updatedAt] === undefined

/**
 * The patch for a rotation: the new secret, and the old one while both sign.
 * @throws ApiError ROTATION_IN_PROGRESS during an earlier overlap, CONFLICT when the old secret cannot be used beside the new one
 */
export function toSecretRotation(webhook: Webhook, secret: SigningSecret, rotation: RotateBody, now: Date): ObjectPatch {
  const { spec } = webhook
  const [current, previous] = spec.signingSecrets ?? []
  const what = 'the secret before the last rotation still signs'
  assertNoOverlap({ what, field: 'previous_secret_expires_at', end: previous?.expiryTime }, rotation, now)
  const end = isNeverShown(webhook) ? undefined : overlapEnd(rotation, now)
  if (end === undefined) return { metadata: toUpdatedMetadata(now), spec: { signingSecrets: [secret] } }
  if (current === undefined) {
    throw new ApiError(
      'CONFLICT',
      'the secret of this webhook is in a Kubernetes Secret and cannot sign beside a new one: send overlap_hours 0',
    )
  }
  return { metadata: toUpdatedMetadata(now), spec: { signingSecrets: [secret, { ...current, expiryTime: end.toISOString() }] } }
}
