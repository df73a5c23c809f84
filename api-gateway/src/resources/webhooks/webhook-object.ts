import { seal } from '@tintype/crds/crypto/sealed'
import { newSigningSecret } from '@tintype/crds/crypto/signatures'
import { Annotation, toObjectName } from '@tintype/crds/identifiers/names'
import type { Webhook, WebhookSpec } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { REQUEST_EVENTS } from '@tintype/crds/schema/event-types'
import { DEFAULT_WEBHOOK_URL, defaultWebhookId, findDefaultWebhook } from '@tintype/crds/webhooks/deliveries'
import { ApiError, invalid } from '../../common/errors.ts'
import { definedOf } from '../../http/fields.ts'
import { type ObjectPatch, type RecordStore, type SealingKeySource, toUpdatedMetadata } from '../../store/ports.ts'
import { assertNoOverlap, overlapEnd, type RotateBody } from '../shared/rotation.ts'
import { type CreateWebhookBody, hintOf, type UpdateWebhookBody } from './fields.ts'

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

export interface DefaultWebhookDeps {
  webhooks: Pick<RecordStore<Webhook>, 'ofAccount' | 'create'>
  sealingKey: SealingKeySource
}

/** An account's default webhook from the informer cache. */
export const findKnownDefaultWebhook = (account: string, { webhooks }: Pick<DefaultWebhookDeps, 'webhooks'>): Webhook | undefined =>
  findDefaultWebhook(webhooks.ofAccount(account))

/**
 * Returns the account's default webhook and creates it if necessary. It signs deliveries to `webhook_url`. Its first secret is never shown: the
 * account gets a secret by rotating it.
 * @throws ApiError CONFLICT when another webhook has its name
 */
export async function ensureDefaultWebhook(account: string, deps: DefaultWebhookDeps): Promise<Webhook> {
  const known = findKnownDefaultWebhook(account, deps)
  if (known) return known
  const name = toObjectName(defaultWebhookId(account))
  const text = newSigningSecret()
  const sealed = await seal(text, { purpose: 'signing-secret', subject: name, account }, deps.sealingKey())
  const created = await deps.webhooks.create({
    metadata: { name },
    spec: {
      accountName: account,
      isDefault: true,
      name: 'webhook_url of single requests',
      url: DEFAULT_WEBHOOK_URL,
      events: [...REQUEST_EVENTS],
      signingSecrets: [{ sealed, hint: hintOf(text) }],
    },
  })
  if (accountOf(created) === account && created.spec.isDefault) return created
  throw new ApiError('CONFLICT', `the name ${name} is in use by another webhook`)
}
