import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { seal } from '@tintype/crds/crypto/sealed'
import { newSigningSecret } from '@tintype/crds/crypto/webhook-signature'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Idempotency } from '../../creation/idempotency.ts'
import { isAhead } from '../../http/fields.ts'
import { readBody } from '../../http/read-body.ts'
import { isLenient } from '../../http/request-headers.ts'
import { setIgnoredOptionsHeader } from '../../http/response-headers.ts'
import { createOnce } from '../../resources/shared/create-once.ts'
import { RotateBody } from '../../resources/shared/rotation.ts'
import type { RecordStore, ScreenshotStore, SealingKeySource } from '../../store/ports.ts'
import { assertNoQuery, parseOffsetQuery, toCountedPage } from '../../translate/common/query.ts'
import { hintOf } from '../../translate/webhooks/signing-secret.ts'
import { type CreateWebhookBody, parseCreateWebhook, parseUpdateWebhook } from '../../translate/webhooks/webhook-body.ts'
import { buildWebhook, toSecretRotation, toWebhookPatch } from '../../translate/webhooks/webhook-object.ts'
import { toStatisticsRecord, toWebhookRecord } from '../../translate/webhooks/webhook-record.ts'
import { countPending } from './count-pending.ts'
import { addRecordRoutes } from './record-routes.ts'
import {
  assertBelowLimit,
  assertOwned,
  type ById,
  changeLatest,
  FRESH,
  findOwnLatest,
  type Query,
  SECRET,
  sendRecord,
  tagOf,
} from './records.ts'

/** Dependencies of the webhook routes. */
export interface WebhooksDeps {
  webhooks: RecordStore<Webhook>
  screenshots: Pick<ScreenshotStore, 'countOpenDeliveries'>
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

async function createOne(request: FastifyRequest<Query>, reply: FastifyReply, deps: WebhooksDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const { body, ignored } = parseCreateWebhook(request.body, deps.webhookRules, isLenient(request.headers.prefer))
  const creation = {
    route: 'POST /webhooks',
    prefix: 'wh',
    store: deps.webhooks,
    make: (id: string) => makeWebhook(id, body, request.accountName, deps),
    toRecord: toWebhookRecord,
    message: 'Webhook created successfully',
    replayedMessage: 'Webhook created by an earlier request. Its signing secret is shown only once: rotate it to get a new one',
  } as const
  return createOnce(request, setIgnoredOptionsHeader(reply, ignored), creation, deps)
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

function readMany(request: FastifyRequest<Query>, { webhooks }: WebhooksDeps) {
  const query = parseOffsetQuery(request.query)
  const selected = webhooks.ofAccount(request.accountName).filter((webhook) => query.includeInactive || isActive(webhook))
  const { items, pagination } = toCountedPage(selected, query)
  return { success: true, data: items.map(toWebhookRecord), pagination }
}

async function readOne(request: FastifyRequest<ById>, reply: FastifyReply, { webhooks, screenshots }: WebhooksDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const webhook = assertOwned(await webhooks.find(request.params.id), request.accountName, WHAT)
  const data = { ...toWebhookRecord(webhook), statistics: toStatisticsRecord(webhook, countPending(webhook, screenshots)) }
  return sendRecord(request, reply, webhook, { success: true, data })
}

async function updateOne(request: FastifyRequest<ById>, reply: FastifyReply, deps: WebhooksDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const { body, ignored } = parseUpdateWebhook(request.body, deps.webhookRules, isLenient(request.headers.prefer))
  const changed = await changeLatest({
    condition: request.headers['if-match'],
    read: () => findOwnLatest(request, deps.webhooks, WHAT),
    change: (webhook) => deps.webhooks.patch(webhook, toWebhookPatch(body, webhook, deps.now())),
  })
  setIgnoredOptionsHeader(reply, ignored).headers({ ...FRESH, etag: tagOf(changed) })
  return reply.send({ message: 'Webhook updated successfully', data: toWebhookRecord(changed) })
}

async function deleteOne(request: FastifyRequest<ById>, reply: FastifyReply, { webhooks }: WebhooksDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  await changeLatest({
    condition: request.headers['if-match'],
    read: () => findOwnLatest(request, webhooks, WHAT),
    change: (webhook) => webhooks.delete(webhook),
  })
  return reply.code(204).send()
}

/** Rotates the secret of a webhook. */
export async function rotateSecret(
  request: Pick<FastifyRequest<Query>, 'query' | 'body' | 'headers' | 'accountName'>,
  reply: FastifyReply,
  read: () => Promise<Webhook>,
  deps: WebhooksDeps,
): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const { body, ignored } = readBody(RotateBody, request.body === undefined ? {} : request.body, {
    lenient: isLenient(request.headers.prefer),
  })
  const text = newSigningSecret()
  const rotated = await changeLatest({
    read,
    change: async (webhook) => {
      const secret = await sealSecret(text, webhook.metadata.name, request.accountName, deps)
      return deps.webhooks.patch(webhook, toSecretRotation(webhook, secret, body, deps.now()))
    },
  })
  const end = rotated.spec.signingSecrets?.[1]?.expiryTime
  setIgnoredOptionsHeader(reply, ignored).headers({ ...SECRET, etag: tagOf(rotated) })
  return reply.send({
    message: 'Signing secret rotated successfully',
    data: { signing_secret: text, previous_secret_expires_at: isAhead(end, deps.now()) ? end : null },
  })
}

/** Routes of webhook endpoints. */
export function addWebhookRoutes(app: FastifyInstance, deps: WebhooksDeps): void {
  addRecordRoutes(app, 'webhooks', {
    createOne: (request, reply) => createOne(request, reply, deps),
    readMany: (request) => readMany(request, deps),
    readOne: (request, reply) => readOne(request, reply, deps),
    updateOne: (request, reply) => updateOne(request, reply, deps),
    deleteOne: (request, reply) => deleteOne(request, reply, deps),
  })
  app.post<ById>('/webhooks/:id/rotate-secret', { config: { scope: 'webhooks:write' } }, (request, reply) =>
    rotateSecret(request, reply, () => findOwnLatest(request, deps.webhooks, WHAT), deps),
  )
}
