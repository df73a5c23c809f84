// A requested post: a test, or the redelivery of an event. It has one attempt without retries and is not in status.deliveries or in the
// statistics; redeliveries are in the delivery log. It uses the same guarded agent as all posts.

import { randomBytes } from 'node:crypto'
import { keyOf } from '@tintype/crds/client/kube-object'
import { derivedId, webhookIdOf } from '@tintype/crds/identifiers/ids'
import { isActive, type PostResponse, type Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { type AttemptFinding, toPostResponse } from '@tintype/crds/webhooks/deliveries'
import { buildTestEvent, type LinkBase } from '@tintype/crds/webhooks/events'
import type { PostRequest } from '@tintype/crds/webhooks/webhook-requests'
import type { WebhookFinder } from '../endpoint.ts'
import type { RecordedEvents } from '../events/recorded-events.ts'
import { type EventPost, findSender, type SenderDeps } from '../sender.ts'
import type { DeliveryLog } from '../telemetry/delivery-log.ts'
import type { UndeliveredStore } from '../undelivered/undelivered-store.ts'

export interface RequestPostDeps extends SenderDeps, Pick<WebhookFinder, 'findWebhook'> {
  linkBase: LinkBase
  deliveryLog: Pick<DeliveryLog, 'read' | 'note'>
  recordedEvents: Pick<RecordedEvents, 'load'>
  undelivered: UndeliveredStore
}

/** The request cannot be executed, so nothing was posted. */
class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
}

/** Executes a request and returns the result. @throws RetryableError when it cannot be done now */
export async function postAsRequested(webhook: Webhook, request: PostRequest, deps: RequestPostDeps): Promise<PostResponse> {
  try {
    if (request.do === 'redeliverMissed') return await redeliverAll(webhook, deps)
    return toPostResponse(await (request.do === 'redeliver' ? redeliver(webhook, request.delivery, deps) : test(webhook, deps)))
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error
    return { time: deps.now().toISOString(), success: false, statusCode: 0, responseMilliseconds: 0, error: error.message }
  }
}

async function test(webhook: Webhook, deps: RequestPostDeps): Promise<AttemptFinding> {
  const at = deps.now()
  const event = buildTestEvent({ accountName: accountOf(webhook), at, seed: randomBytes(10), events: webhook.spec.events }, deps.linkBase)
  const deliveryId = derivedId('dlv', at, `${event.id}/${webhook.metadata.uid}`)
  return send(
    webhook,
    { url: webhook.spec.url, eventId: event.id, eventType: event.type, deliveryId, attempt: 1, body: JSON.stringify(event) },
    deps,
  )
}

/** Only opens the deliveries; they are posted one after the other. */
async function redeliverAll(webhook: Webhook, { undelivered, now }: RequestPostDeps): Promise<PostResponse> {
  if (!isActive(webhook)) throw new RequestRefused('the webhook is not active')
  await redeliverMissed(webhook, { undelivered, now })
  return { time: now().toISOString(), success: true, statusCode: 0, responseMilliseconds: 0 }
}

/**
 * Opens the missed deliveries of a webhook again, for one attempt each. Returns their number. The next leader continues if this one stops.
 * @throws RetryableError, FencedError
 */
export async function redeliverMissed(
  webhook: Webhook,
  { undelivered, now }: Pick<RequestPostDeps, 'undelivered' | 'now'>,
): Promise<number> {
  const account = accountOf(webhook)
  const webhookId = webhookIdOf(webhook.metadata)
  let count = 0
  for await (const key of undelivered.missed(account, webhookId)) {
    const missed = await undelivered.read(key)
    if (!missed) continue
    await undelivered.open(account, { ...missed, manual: true, at: now().toISOString() })
    await undelivered.forgetMissed(account, webhookId, missed.delivery)
    count += 1
  }
  return count
}

async function redeliver(webhook: Webhook, delivery: string, deps: RequestPostDeps): Promise<AttemptFinding> {
  const { deliveryLog, recordedEvents } = deps
  if (!isActive(webhook)) throw new RequestRefused('the webhook is not active')
  // Only deliveries in the webhook's own log are accepted: an annotation must not lead to another account's events.
  const lines = (await deliveryLog.read(webhook)).filter((line) => line.delivery === delivery)
  const [latest] = lines
  if (!latest) throw new RequestRefused('the log has no such delivery')
  const { event, type, screenshot } = latest
  const body = await recordedEvents.load(webhook, latest)
  if (body === undefined) throw new RequestRefused('the screenshot was deleted, and its event was not kept')
  const attempt = Math.max(...lines.map((line) => line.attempt)) + 1
  // The URL of a single request is only in the log: its webhook has none.
  const urlOverride = latest.url === undefined ? {} : { url: latest.url }
  const finding = await send(
    webhook,
    { url: webhook.spec.url, ...urlOverride, eventId: event, eventType: type, deliveryId: delivery, attempt, body },
    deps,
  )
  deliveryLog.note(webhook, { delivery, event, type, screenshot, attempt, manual: true, ...urlOverride, ...finding })
  if (finding.outcome === 'success') await deps.undelivered.forgetMissed(accountOf(webhook), webhookIdOf(webhook.metadata), delivery)
  return finding
}

async function send(webhook: Webhook, event: EventPost, deps: RequestPostDeps): Promise<AttemptFinding> {
  // The request may have waited for its turn.
  if (deps.findWebhook(keyOf(webhook))?.metadata.uid !== webhook.metadata.uid) throw new RequestRefused('the webhook was deleted')
  const sender = await findSender(webhook, deps)
  if (!sender) throw new RequestRefused('the webhook has no signing secret yet')
  return (await sender(event)).finding
}
