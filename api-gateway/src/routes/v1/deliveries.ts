import { randomBytes } from 'node:crypto'
import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { eventKey } from '@tintype/crds/records/storage-keys'
import { MAX_OBJECT_BYTES } from '@tintype/crds/records/storage-limits'
import { emptyIfTooLarge } from '@tintype/crds/storage/checked-read'
import { logPrefix, mergeLines, readLog, toDeliveries } from '@tintype/crds/webhooks/delivery-log'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findRecord, type RecordDeps } from '../../archive/find-record.ts'
import { ApiError, notFound } from '../../common/errors.ts'
import type { FileStore, ObjectStore, PostRequests, RecordStore, ScreenshotStore } from '../../store/ports.ts'
import { assertNoQuery } from '../../translate/common/query.ts'
import { parseDeliveryQuery, toDeliveryPage } from '../../translate/webhooks/delivery-query.ts'
import { toDeliveryRecord, withDeliveryState } from '../../translate/webhooks/delivery-record.ts'
import { assertOwned, type ById, FRESH, type Query } from './records.ts'

/** Dependencies of the delivery routes. */
export interface DeliveriesDeps extends RecordDeps {
  screenshots: Pick<ScreenshotStore, 'find' | 'findLive'>
  webhooks: Pick<RecordStore<Webhook>, 'find'>
  postRequests: Pick<PostRequests, 'ask'>
  objects: Pick<ObjectStore, 'read' | 'list'>
  files: Pick<FileStore, 'stat'>
  now: () => Date
  /** Called for invalid objects, which count as absent. */
  report: ReportIgnored
}

interface OfDelivery extends Query {
  Params: { id: string; delivery: string }
}

const findOwn = async ({ params, accountName }: FastifyRequest<ById>, { webhooks }: Pick<DeliveriesDeps, 'webhooks'>): Promise<Webhook> =>
  assertOwned(await webhooks.find(params.id), accountName, 'webhook')

/** All deliveries in the log of the endpoint, newest first. The log is a few seconds behind. */
async function readDeliveries(webhook: Webhook, account: string, { objects, screenshots, now, report }: DeliveriesDeps) {
  const read = async (key: string) => (await objects.read(key, MAX_OBJECT_BYTES.deliveryLog))?.text
  const log = { list: (prefix: string) => objects.list(prefix), read: (key: string) => emptyIfTooLarge(read(key)) }
  const lines = await readLog(logPrefix(account, webhookIdOf(webhook.metadata)), log, { now: now(), report })
  return toDeliveries(mergeLines(lines, now())).map((delivery) =>
    withDeliveryState(delivery, webhook, screenshots.findLive(delivery.attempts[0]!.screenshot)),
  )
}

async function findDelivery(request: FastifyRequest<OfDelivery>, webhook: Webhook, deps: DeliveriesDeps) {
  const all = await readDeliveries(webhook, request.accountName, deps)
  const found = all.find(({ id }) => id === request.params.delivery)
  if (!found) throw notFound('delivery')
  return found
}

async function readMany(request: FastifyRequest<ById>, reply: FastifyReply, deps: DeliveriesDeps): Promise<FastifyReply> {
  const query = parseDeliveryQuery(request.query)
  const webhook = await findOwn(request, deps)
  const { items, pagination } = toDeliveryPage(await readDeliveries(webhook, request.accountName, deps), query)
  return reply.headers(FRESH).send({ success: true, data: items.map(toDeliveryRecord), pagination })
}

async function readOne(request: FastifyRequest<OfDelivery>, reply: FastifyReply, deps: DeliveriesDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const delivery = await findDelivery(request, await findOwn(request, deps), deps)
  return reply.headers(FRESH).send({ success: true, data: toDeliveryRecord(delivery) })
}

async function redeliver(request: FastifyRequest<OfDelivery>, reply: FastifyReply, deps: DeliveriesDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const webhook = await findOwn(request, deps)
  const { id, attempts } = await findDelivery(request, webhook, deps)
  if (!isActive(webhook)) throw new ApiError('CONFLICT', 'the webhook is inactive: set is_active to true first')
  const { event, screenshot } = attempts[0]!
  await assertEventAvailable(event, screenshot, request.accountName, deps)
  await deps.postRequests.ask(webhook, { do: 'redeliver', nonce: newNonce(), at: deps.now(), delivery: id })
  const data = { delivery_id: id, event_id: event }
  return reply.code(202).headers(FRESH).send({ success: true, message: 'Redelivery requested', data })
}

/** An event can be redelivered while its body is stored or can be rebuilt from the record. @throws ApiError EXPIRED */
async function assertEventAvailable(event: string, screenshot: string, account: string, deps: DeliveriesDeps): Promise<void> {
  if ((await deps.files.stat(eventKey(event))) || (await findRecord(account, screenshot, deps))) return
  throw new ApiError('EXPIRED', 'the screenshot was deleted and its event has expired')
}

/** Identifies a request to the operator. */
export const newNonce = (): string => randomBytes(10).toString('hex')

/** Routes to list and repeat the deliveries to a webhook. */
export function addDeliveryRoutes(app: FastifyInstance, deps: DeliveriesDeps): void {
  const read = { config: { scope: 'webhooks:read' } } as const
  const write = { config: { scope: 'webhooks:write' } } as const
  app.get<ById>('/webhooks/:id/deliveries', read, (request, reply) => readMany(request, reply, deps))
  app.get<OfDelivery>('/webhooks/:id/deliveries/:delivery', read, (request, reply) => readOne(request, reply, deps))
  app.post<OfDelivery>('/webhooks/:id/deliveries/:delivery/redeliver', write, (request, reply) => redeliver(request, reply, deps))
}
