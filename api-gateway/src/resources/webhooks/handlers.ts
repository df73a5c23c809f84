import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { seal } from '@tintype/crds/crypto/sealed'
import { newSigningSecret } from '@tintype/crds/crypto/webhook-signature'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import type { FastifyReply } from 'fastify'
import type { Idempotency } from '../../creation/idempotency.ts'
import { isAhead } from '../../http/fields.ts'
import { NO_STORE } from '../../http/response-headers.ts'
import type { Input } from '../../http/route.ts'
import type { ObjectStore, RecordStore, ScreenshotStore, SealingKeySource } from '../../store/ports.ts'
import { createOnce } from '../shared/create-once.ts'
import { type OffsetQuery, toCountedList } from '../shared/offset-page.ts'
import { assertBelowLimit, type ById, changeLatest, deleteOwn, findOwn, findOwnLatest, sendRecord, tagOf } from '../shared/owned-records.ts'
import type { RotateBody } from '../shared/rotation.ts'
import type { CreateWebhookBody, UpdateWebhookBody } from './bodies.ts'
import { countDeliveries } from './count-deliveries.ts'
import { toStatisticsRecord, toWebhookRecord } from './record.ts'
import { hintOf } from './signing-secret.ts'
import { buildWebhook, toSecretRotation, toWebhookPatch } from './webhook-object.ts'

// Handlers of the routes of webhook endpoints.

/** Dependencies of the webhook routes. */
export interface WebhooksDeps {
  webhooks: RecordStore<Webhook>
  screenshots: Pick<ScreenshotStore, 'countOpenDeliveries'>
  objects: Pick<ObjectStore, 'list'>
  idempotency: Idempotency
  sealingKey: SealingKeySource
  /** Egress rules for webhook URLs, without DNS. The operator checks resolved addresses at each post. */
  webhookRules: EgressRules
  /** Maximum webhooks per account. */
  maxWebhooks: number
  now: () => Date
}

const WHAT = 'webhook'

/** Seals a secret. Only the operator can open it, and only for this Webhook. */
async function sealSecret(text: string, name: string, accountName: string, { sealingKey }: Pick<WebhooksDeps, 'sealingKey'>) {
  const sealed = await seal(text, { purpose: 'signing-secret', subject: name, account: accountName }, sealingKey())
  return { sealed, hint: hintOf(text) }
}

export async function createWebhook(input: Input<object, CreateWebhookBody>, deps: WebhooksDeps): Promise<FastifyReply> {
  const { request, body } = input
  const creation = {
    route: 'POST /webhooks',
    prefix: 'wh',
    store: deps.webhooks,
    make: (id: string) => makeWebhook(id, body, request.accountName, deps),
    toRecord: toWebhookRecord,
    message: 'Webhook created successfully',
    replayedMessage: 'Webhook created by an earlier request. Its signing secret is shown only once: rotate it to get a new one',
  } as const
  return createOnce(input, creation, deps)
}

/** Creates a webhook. Its secret is returned once and stored sealed. */
async function makeWebhook(id: string, body: CreateWebhookBody, accountName: string, deps: WebhooksDeps) {
  const registered = deps.webhooks.ofAccount(accountName).filter(({ spec }) => !spec.isDefault)
  assertBelowLimit(registered.length, deps.maxWebhooks, 'webhooks')
  const text = body.signing_secret ?? newSigningSecret()
  const secret = await sealSecret(text, toObjectName(id), accountName, deps)
  const created = await deps.webhooks.create(buildWebhook(body, { id, accountName, secret }))
  const isOurs = created.spec.signingSecrets?.[0]?.sealed === secret.sealed
  return { created, secret: isOurs ? { signing_secret: text } : undefined }
}

export function listWebhooks({ request, query }: Input<object, undefined, OffsetQuery>, { webhooks }: WebhooksDeps) {
  const selected = webhooks.ofAccount(request.accountName).filter((webhook) => query.include_inactive || isActive(webhook))
  return toCountedList(selected, query, toWebhookRecord)
}

export async function readWebhook(input: Input<ById>, deps: WebhooksDeps): Promise<FastifyReply> {
  return sendWebhook(input, await findOwn(input, deps.webhooks, WHAT), deps)
}

/** Responds with a webhook and its statistics. */
export async function sendWebhook(input: Pick<Input, 'request' | 'reply'>, webhook: Webhook, deps: WebhooksDeps): Promise<FastifyReply> {
  const data = { ...toWebhookRecord(webhook), statistics: toStatisticsRecord(webhook, await countDeliveries(webhook, deps)) }
  return sendRecord(input, webhook, { success: true, data })
}

export async function updateWebhook(input: Input<ById, UpdateWebhookBody>, deps: WebhooksDeps): Promise<FastifyReply> {
  const { request, reply, body } = input
  const changed = await changeLatest({
    condition: request.headers['if-match'],
    read: () => findOwnLatest(input, deps.webhooks, WHAT),
    change: (webhook) => deps.webhooks.patch(webhook, toWebhookPatch(body, webhook, deps.now())),
  })
  return reply.header('etag', tagOf(changed)).send({ message: 'Webhook updated successfully', data: toWebhookRecord(changed) })
}

export const deleteWebhook = (input: Input<ById>, { webhooks }: WebhooksDeps): Promise<FastifyReply> => deleteOwn(input, webhooks, WHAT)

/** Rotates the secret of the webhook that `read` returns. */
export async function rotateSecretOf(
  read: () => Promise<Webhook>,
  { request, reply, body }: Input<object, RotateBody>,
  deps: WebhooksDeps,
): Promise<FastifyReply> {
  const text = newSigningSecret()
  const rotated = await changeLatest({
    read,
    change: async (webhook) => {
      const secret = await sealSecret(text, webhook.metadata.name, request.accountName, deps)
      return deps.webhooks.patch(webhook, toSecretRotation(webhook, secret, body, deps.now()))
    },
  })
  const end = rotated.spec.signingSecrets?.[1]?.expiryTime
  return reply.headers({ ...NO_STORE, etag: tagOf(rotated) }).send({
    message: 'Signing secret rotated successfully',
    data: { signing_secret: text, previous_secret_expires_at: isAhead(end, deps.now()) ? end : null },
  })
}

export const rotateSecret = (input: Input<ById, RotateBody>, deps: WebhooksDeps): Promise<FastifyReply> =>
  rotateSecretOf(() => findOwnLatest(input, deps.webhooks, WHAT), input, deps)
