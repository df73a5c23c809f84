import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { seal } from '@tintype/crds/crypto/sealed'
import { newSigningSecret } from '@tintype/crds/crypto/signatures'
import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { defaultWebhookId } from '@tintype/crds/webhooks/deliveries'
import type { FastifyReply } from 'fastify'
import { unavailable } from '../../common/errors.ts'
import type { Idempotency } from '../../creation/idempotency.ts'
import { isAhead } from '../../http/fields.ts'
import { NO_STORE } from '../../http/response-headers.ts'
import type { Input } from '../../http/route.ts'
import type { ObjectStore, PostRequests, RecordStore, ScreenshotStore, SealingKeySource } from '../../store/ports.ts'
import { createOnce } from '../shared/create-once.ts'
import { type OffsetQuery, toCountedList } from '../shared/offset-page.ts'
import {
  assertBelowLimit,
  assertOwned,
  type ById,
  changeLatest,
  deleteOwn,
  findOwn,
  findOwnLatest,
  sendRecord,
  tagOf,
} from '../shared/owned-records.ts'
import type { RotateBody } from '../shared/rotation.ts'
import type { CreateWebhookBody, UpdateWebhookBody } from './bodies.ts'
import { countDeliveries } from './count-deliveries.ts'
import { ensureDefaultWebhook, findKnownDefaultWebhook } from './default-webhook.ts'
import { toStatisticsRecord, toTestResult, toWebhookRecord } from './record.ts'
import { hintOf } from './signing-secret.ts'
import { buildWebhook, toSecretRotation, toWebhookPatch } from './webhook-object.ts'

export interface WebhooksDeps {
  webhooks: RecordStore<Webhook>
  screenshots: Pick<ScreenshotStore, 'countOpenDeliveries'>
  objects: Pick<ObjectStore, 'list'>
  idempotency: Idempotency
  sealingKey: SealingKeySource
  postRequests: Pick<PostRequests, 'askAndWait'>
  /** Aborts on shutdown. */
  draining: AbortSignal
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
async function sendWebhook(input: Pick<Input, 'request' | 'reply'>, webhook: Webhook, deps: WebhooksDeps): Promise<FastifyReply> {
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
async function rotateSecretOf(
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

// The account's default webhook. With its routes a client gets the secret that signs deliveries to `webhook_url`.

export async function readDefaultWebhook(input: Input, deps: WebhooksDeps): Promise<FastifyReply> {
  const { accountName } = input.request
  // Another replica may have just created it.
  const found = findKnownDefaultWebhook(accountName, deps) ?? (await deps.webhooks.find(defaultWebhookId(accountName)))
  return sendWebhook(input, assertOwned(found, accountName, WHAT), deps)
}

export function rotateDefaultSecret(input: Input<object, RotateBody>, deps: WebhooksDeps): Promise<FastifyReply> {
  const { accountName } = input.request
  const read = async () => {
    const { metadata } = await ensureDefaultWebhook(accountName, deps)
    return assertOwned(await deps.webhooks.findLatest(webhookIdOf(metadata)), accountName, WHAT)
  }
  return rotateSecretOf(read, input, deps)
}

/** A post takes at most 5 s. The rest is for the operator, whose leader may be changing. */
const TEST_MILLISECONDS = 12_000

/** Requests a post of a sample event, and waits for the result. */
export async function testWebhook(input: Input<ById>, deps: WebhooksDeps): Promise<FastifyReply> {
  const { reply } = input
  const webhook = await findOwn(input, deps.webhooks, WHAT)
  const ending = new AbortController()
  const end = (): void => ending.abort()
  reply.raw.once('close', end)
  try {
    const signal = AbortSignal.any([ending.signal, deps.draining])
    const result = await deps.postRequests.askAndWait(webhook, { do: 'test' }, TEST_MILLISECONDS, signal)
    // A missing response says nothing about the endpoint, so it is not a test result.
    if (!result) throw unavailable('the test event cannot be posted at the moment: retry in a few seconds')
    return reply.send(toTestResult(result))
  } finally {
    reply.raw.off('close', end)
  }
}
