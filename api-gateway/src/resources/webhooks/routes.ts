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
import { NO_STORE } from '../../http/headers.ts'
import { ifNoneMatch, pathId } from '../../http/parameters.ts'
import { type Input, linkTo, type Route, routeFor } from '../../http/route.ts'
import type { ObjectStore, PostRequests, RecordStore, ScreenshotStore, SealingKeySource } from '../../store/ports.ts'
import {
  assertBelowLimit,
  assertOwned,
  type ById,
  changeLatest,
  findOwn,
  findOwnLatest,
  type OwnedKind,
  ownedRoutes,
  sendFound,
  tagOf,
} from '../shared/owned-records.ts'
import { type RotateBody, rotateBody } from '../shared/rotation.ts'
import { countDeliveries } from './count-deliveries.ts'
import {
  CreatedWebhook,
  type CreateWebhookBody,
  createWebhookBody,
  hintOf,
  SecretRotated,
  toStatisticsRecord,
  toTestResult,
  toWebhookRecord,
  type UpdateWebhookBody,
  updateWebhookBody,
  WebhookRecord,
  WebhookTestResult,
  WebhookWithStatistics,
} from './fields.ts'
import { buildWebhook, ensureDefaultWebhook, findKnownDefaultWebhook, toSecretRotation, toWebhookPatch } from './webhook-object.ts'

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
export const webhookId = 'wh_01kajq2v0vtz8m3c5x7r9w4n6p'
const createdAt = '2026-11-21T10:00:00.000Z'
const example = {
  id: webhookId,
  name: 'orders',
  url: 'https://hooks.example.com/tintype',
  events: ['screenshot.completed', 'screenshot.failed'],
  description: 'Archives the screenshots.',
  is_active: true,
  is_default: false,
  created_at: createdAt,
  updated_at: createdAt,
  disabled_reason: null,
  signing_secret_hint: 'whsec_…Fsd2',
}

const secret = 'whsec_RVhBTVBMRWV4YW1wbGVFWEFNUExFZXhhbXBsZUVY'

const statistics = {
  total_deliveries: 120,
  successful_deliveries: 118,
  failed_deliveries: 1,
  pending_deliveries: 1,
  missed_deliveries: 0,
  success_rate: 99.16,
  average_response_time_ms: 84.2,
  last_delivery_at: '2026-11-21T11:02:10.000Z',
  last_success_at: '2026-11-21T11:02:10.000Z',
  last_failure_at: '2026-11-20T03:00:05.000Z',
  last_status_code: 200,
  consecutive_failures: 0,
}

const kind: OwnedKind<Webhook, WebhooksDeps, CreateWebhookBody, UpdateWebhookBody> = {
  word: 'webhook',
  what: WHAT,
  noun: 'a webhook endpoint',
  prefix: 'wh',
  storeOf: ({ webhooks }) => webhooks,
  toRecord: toWebhookRecord,
  isActive,
  readMore: async (webhook, deps) => ({ statistics: toStatisticsRecord(webhook, await countDeliveries(webhook, deps)) }),
  create:
    ({ request, body }, deps) =>
    (id) =>
      makeWebhook(id, body, request.accountName, deps),
  update:
    async ({ body }, deps) =>
    (webhook) =>
      deps.webhooks.patch(webhook, toWebhookPatch(body, webhook, deps.now())),
  put: { description: 'Same as PATCH: absent fields stay unchanged.' },
  bodies: { create: createWebhookBody, update: updateWebhookBody },
  schemas: { record: WebhookRecord, created: CreatedWebhook, found: WebhookWithStatistics },
  examples: { record: example, created: { signing_secret: secret }, updated: { is_active: false }, found: { statistics } },
  descriptions: {
    create: 'Only this response contains the signing secret.',
    update: 'A merge patch (RFC 7396): absent fields stay unchanged.',
    remove: 'Deletes the webhook permanently and stops its deliveries.',
    found: 'The endpoint and its statistics.',
    response: 'A webhook and its delivery statistics.',
    read: 'Reads the webhook and its delivery statistics.',
  },
  replayedMessage: 'Webhook created by an earlier request. Its signing secret is shown only once: rotate it to get a new one',
  links: { rotate: linkTo('rotateWebhookSecret', 'Rotates the signing secret.') },
  errors: { create: ['URL_NOT_ALLOWED'], update: ['URL_NOT_ALLOWED'], remove: [] },
}

const defaultWebhookFound = {
  success: true,
  data: {
    ...example,
    name: 'webhook_url of single requests',
    url: 'https://webhook-url.invalid/',
    description: null,
    is_default: true,
    statistics,
  },
}

const secretRotated = {
  message: 'Signing secret rotated successfully',
  data: { signing_secret: secret, previous_secret_expires_at: '2026-11-22T10:00:00.000Z' },
}

const webhookTested = {
  success: true,
  message: 'The endpoint accepted the test event',
  status_code: 200,
  response_time_ms: 38,
  error: null,
  timestamp: '2026-11-21T10:00:07.252Z',
}

const route = routeFor<WebhooksDeps>('Webhooks', pathId('wh', webhookId))
const { collection, one, found } = ownedRoutes(route, kind)

export const webhookRoutes: readonly Route<WebhooksDeps>[] = [
  ...collection,
  route('GET /webhooks/default', {
    id: 'getDefaultWebhook',
    scope: 'webhooks:read',
    summary: 'Read the default webhook',
    description:
      'The default webhook signs and counts deliveries to the `webhook_url` of single requests. The first such request or the first rotation creates it.',
    parameters: [ifNoneMatch],
    responses: { 200: { description: 'The webhook and its statistics.', schema: found, example: defaultWebhookFound } },
    errors: ['NOT_FOUND'],
    handle: readDefaultWebhook,
  }),
  route('POST /webhooks/default/rotate-secret', {
    id: 'rotateDefaultWebhookSecret',
    scope: 'webhooks:write',
    summary: 'Get a signing secret for webhook_url',
    description:
      'Creates the default webhook if there is none. Only this response contains the new secret. The previous secret also signs for `overlap_hours`.',
    body: rotateBody({ atOnce: { summary: 'Replace the secret immediately', value: { overlap_hours: 0 } } }),
    responses: { 200: { description: 'Rotated.', schema: SecretRotated, example: secretRotated, headers: ['ETag'] } },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS'],
    handle: rotateDefaultSecret,
  }),
  ...one,
  route('POST /webhooks/{id}/rotate-secret', {
    id: 'rotateWebhookSecret',
    scope: 'webhooks:write',
    summary: 'Rotate the signing secret of a webhook endpoint',
    description: 'Both secrets sign events for `overlap_hours`. Only this response contains the new secret.',
    body: rotateBody({ day: { summary: 'Both secrets sign for a day', value: { overlap_hours: 24 } } }),
    responses: { 200: { description: 'Rotated.', schema: SecretRotated, example: secretRotated, headers: ['ETag'] } },
    errors: ['CONFLICT', 'ROTATION_IN_PROGRESS'],
    handle: (input, deps) => rotateSecretOf(() => findOwnLatest(input, deps.webhooks, WHAT), input, deps),
  }),
  route('POST /webhooks/{id}/test', {
    id: 'testWebhook',
    scope: 'webhooks:write',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Posts a sample `screenshot.completed` event with `data.test: true` once, even to an inactive endpoint. It does not count in the statistics. ' +
      'The status is always 200; the body contains the response of the endpoint.',
    responses: { 200: { description: 'Result of the test.', schema: WebhookTestResult, example: webhookTested } },
    handle: testWebhook,
  }),
]

/** Seals a secret. Only the operator can open it, and only for this Webhook. */
async function sealSecret(text: string, name: string, accountName: string, { sealingKey }: Pick<WebhooksDeps, 'sealingKey'>) {
  const sealed = await seal(text, { purpose: 'signing-secret', subject: name, account: accountName }, sealingKey())
  return { sealed, hint: hintOf(text) }
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

// The account's default webhook. With its routes a client gets the secret that signs deliveries to `webhook_url`.

async function readDefaultWebhook(input: Input, deps: WebhooksDeps): Promise<FastifyReply> {
  const { accountName } = input.request
  // Another replica may have just created it.
  const found = findKnownDefaultWebhook(accountName, deps) ?? (await deps.webhooks.find(defaultWebhookId(accountName)))
  return sendFound(input, assertOwned(found, accountName, WHAT), kind, deps)
}

function rotateDefaultSecret(input: Input<object, RotateBody>, deps: WebhooksDeps): Promise<FastifyReply> {
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
async function testWebhook(input: Input<ById>, deps: WebhooksDeps): Promise<FastifyReply> {
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
