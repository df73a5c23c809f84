import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { OBJECTS } from '@tintype/crds/records/folders'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { eventKey, logPrefix } from '@tintype/crds/records/storage-keys'
import { emptyIfTooLarge } from '@tintype/crds/storage/stored-objects'
import { mergeLines, readLog, toDeliveries } from '@tintype/crds/webhooks/deliveries'
import type { FastifyReply } from 'fastify'
import { findRecord, type RecordDeps } from '../../archive/find-record.ts'
import { ApiError, notFound } from '../../common/errors.ts'
import type { Input } from '../../http/route.ts'
import type { ObjectStore, PostRequests, RecordStore, ScreenshotStore } from '../../store/ports.ts'
import { type ById, findOwn } from '../shared/owned-records.ts'
import { countMissed } from '../webhooks/count-deliveries.ts'
import { type DeliveryQuery, toDeliveryPage } from './page.ts'
import { toDeliveryRecord, withDeliveryState } from './record.ts'

// Handlers of the routes that list and repeat the deliveries to a webhook.

export interface DeliveriesDeps extends RecordDeps {
  screenshots: Pick<ScreenshotStore, 'find' | 'findLatest' | 'findLive'>
  webhooks: Pick<RecordStore<Webhook>, 'find'>
  postRequests: Pick<PostRequests, 'ask'>
  objects: Pick<ObjectStore, 'readText' | 'exists' | 'list'>
  now: () => Date
  /** Called for invalid objects, which count as absent. */
  report: ReportIgnored
}

interface OfDelivery extends ById {
  delivery: string
}

/** @throws ApiError CONFLICT */
function assertActive(webhook: Webhook): void {
  if (!isActive(webhook)) throw new ApiError('CONFLICT', 'the webhook is inactive: set is_active to true first')
}

/** All deliveries in the log of the endpoint, newest first. The log is a few seconds behind. */
async function readDeliveries(webhook: Webhook, account: string, { objects, screenshots, now, report }: DeliveriesDeps) {
  const read = (key: string) => emptyIfTooLarge(objects.readText(key, OBJECTS.delivery_log.maxBytes))
  const log = { list: (prefix: string) => objects.list(prefix), read }
  const lines = await readLog(logPrefix(account, webhookIdOf(webhook.metadata)), log, { now: now(), report })
  return toDeliveries(mergeLines(lines, now())).map((delivery) =>
    withDeliveryState(delivery, webhook, { live: screenshots.findLive(delivery.attempts[0]!.screenshot), now: now() }),
  )
}

async function findDelivery({ request, params }: Input<OfDelivery>, webhook: Webhook, deps: DeliveriesDeps) {
  const all = await readDeliveries(webhook, request.accountName, deps)
  const found = all.find(({ id }) => id === params.delivery)
  if (!found) throw notFound('delivery')
  return found
}

export async function listDeliveries(input: Input<ById, undefined, DeliveryQuery>, deps: DeliveriesDeps): Promise<FastifyReply> {
  const webhook = await findOwn(input, deps.webhooks, 'webhook')
  const { items, pagination } = toDeliveryPage(await readDeliveries(webhook, input.request.accountName, deps), input.query)
  return input.reply.send({ success: true, data: items.map(toDeliveryRecord), pagination })
}

export async function readDelivery(input: Input<OfDelivery>, deps: DeliveriesDeps): Promise<FastifyReply> {
  const delivery = await findDelivery(input, await findOwn(input, deps.webhooks, 'webhook'), deps)
  return input.reply.send({ success: true, data: toDeliveryRecord(delivery) })
}

export async function redeliver(input: Input<OfDelivery>, deps: DeliveriesDeps): Promise<FastifyReply> {
  const webhook = await findOwn(input, deps.webhooks, 'webhook')
  const { id, attempts } = await findDelivery(input, webhook, deps)
  assertActive(webhook)
  const { event, screenshot } = attempts[0]!
  await assertEventAvailable(event, screenshot, input.request.accountName, deps)
  await deps.postRequests.ask(webhook, { do: 'redeliver', delivery: id })
  const data = { delivery_id: id, event_id: event }
  return input.reply.code(202).send({ success: true, message: 'Redelivery requested', data })
}

/** Requests the redelivery of all missed events. Those that are already open again are not counted. */
export async function redeliverMissed(input: Input<ById>, deps: DeliveriesDeps): Promise<FastifyReply> {
  const webhook = await findOwn(input, deps.webhooks, 'webhook')
  assertActive(webhook)
  const missed = await countMissed(webhook, deps.objects)
  if (missed > 0) await deps.postRequests.ask(webhook, { do: 'redeliverMissed' })
  const data = { missed_deliveries: missed }
  return input.reply.code(202).send({ success: true, message: 'Redelivery of missed events requested', data })
}

/** An event can be redelivered while its body is stored or can be rebuilt from the record. @throws ApiError EXPIRED */
async function assertEventAvailable(event: string, screenshot: string, account: string, deps: DeliveriesDeps): Promise<void> {
  if ((await deps.objects.exists(eventKey(event))) || (await findRecord(account, screenshot, deps))) return
  throw new ApiError('EXPIRED', 'the screenshot was deleted and its event has expired')
}
