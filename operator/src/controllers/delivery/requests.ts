// rbac: tintype.dev/webhooks get,list,watch
// rbac: tintype.dev/webhooks/status patch
// rbac: /secrets get

/**
 * This controller observes Webhooks with annotations that request a post, such as a test or a redelivery
 * (crds/src/webhooks/webhook-requests.ts). It writes the results to their status. Posts take seconds, so a reconcile only starts them; when
 * they end, they enqueue the Webhook again, and all available results are written at once. The next leader repeats posts without a recorded
 * result. It never requeues.
 */

import { randomBytes } from 'node:crypto'
import { isNotFound } from '@tintype/crds/client/kube-error'
import { keyOf } from '@tintype/crds/client/kube-object'
import { mergePatch } from '@tintype/crds/client/resource'
import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import { isActive, type PostResponse, Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { type AttemptFinding, toPostResponse } from '@tintype/crds/webhooks/deliveries'
import { buildTestEvent } from '@tintype/crds/webhooks/events'
import { findOpenRequests, type PostRequest, toResponsePatch } from '@tintype/crds/webhooks/webhook-requests'
import type { Controller } from '../../controller-runtime/controller.ts'
import { LimiterClosed } from '../../controller-runtime/keyed-limiter.ts'
import { readObject } from '../../kube/read-object.ts'
import { createController } from '../../runtime/deps.ts'
import { type Attempt, makeAttempt } from './attempt.ts'
import type { DeliveryContext } from './context.ts'
import { accountKeyOf, toDeliveryId } from './events/receivers.ts'

/** A request that this leader has started; without a result it is in progress. */
interface StartedRequest {
  request: PostRequest
  response?: PostResponse
}

const WORKERS = 4

/** Identifies a request: the next manual one has the same nonce and another text. */
const nameOf = (request: PostRequest): string => (request.do === 'manualTest' ? `${request.nonce}/${request.text}` : request.nonce)

export class PostRequests {
  readonly controller: Controller
  readonly #deps: DeliveryContext
  readonly #started = new Map<string, { uid: string; requests: Map<string, StartedRequest> }>()

  constructor(deps: DeliveryContext) {
    this.#deps = deps
    this.controller = createController('webhook-request', { workers: WORKERS }, (key, signal) => this.reconcile(key, signal), deps)
    this.controller.watch(deps.reflectors.webhooks)
  }

  /** Starts new requests and writes available results. */
  async reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { reflectors, mayStart, now } = this.#deps
    const cached = reflectors.webhooks.lister.get(key)
    if (!cached || isBeingDeleted(cached)) {
      this.#started.delete(key)
      return
    }
    const webhook = readObject('Webhook', Webhook, cached)
    const started = this.#startedOf(webhook)
    if (mayStart()) for (const request of findOpenRequests(webhook, now())) this.#begin(webhook, request, started)
    await this.#respond(webhook, started, signal)
    if (started.size === 0) this.#started.delete(key)
  }

  /** Started requests of this object. An object that was recreated under the same name does not get results of the old one. */
  #startedOf(webhook: Webhook): Map<string, StartedRequest> {
    const { uid } = webhook.metadata
    const known = this.#started.get(keyOf(webhook))
    if (known?.uid === uid) return known.requests
    const requests = new Map<string, StartedRequest>()
    this.#started.set(keyOf(webhook), { uid, requests })
    return requests
  }

  #begin(webhook: Webhook, request: PostRequest, started: Map<string, StartedRequest>): void {
    const name = nameOf(request)
    if (started.has(name)) return
    started.set(name, { request })
    const key = keyOf(webhook)
    // Uses separate keys, so that a test does not wait for the account's deliveries, which may all hang.
    const requests = `${accountKeyOf(webhook)}/requests`
    this.#deps.limiter
      .run({ account: requests, endpoint: requests }, () => postAsRequested(webhook, request, this.#deps))
      .then(
        (response) => {
          this.#deps.metrics.requestedPosts.inc({ kind: request.do, result: response.success ? 'ok' : 'failed' })
          started.set(name, { request, response })
          this.controller.enqueue(key)
        },
        (error: unknown) => this.#retry({ key, name, started, error }),
      )
  }

  #retry({ key, name, started, error }: { key: string; name: string; started: Map<string, StartedRequest>; error: unknown }): void {
    if (error instanceof LimiterClosed) return // the next leader starts from the annotation
    started.delete(name)
    this.#deps.log.warn({ key, err: error }, 'requested post failed; will retry')
    this.controller.queue.addRateLimited(key)
  }

  async #respond(webhook: Webhook, started: Map<string, StartedRequest>, signal: AbortSignal): Promise<void> {
    const ended = [...started].flatMap(([name, { request, response }]) => (response ? [{ name, request, response }] : []))
    const status = toResponsePatch(webhook, ended)
    if (Object.keys(status).length === 0) return
    try {
      // Each result has its own field, so the patch needs no precondition.
      await this.#deps.clients.webhooks.patch(webhook.metadata.name, mergePatch({ status }), { subresource: 'status', signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    for (const each of ended) started.delete(each.name)
  }
}

// A requested post: a test, or the redelivery of an event. It has one attempt without retries and is not in status.deliveries or in the
// statistics; redeliveries are in the delivery log. It uses the same guarded agent as all posts.

/** The request cannot be executed, so nothing was posted. */
class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
}

/** Executes a request and returns the result. @throws RetryableError when it cannot be done now */
export async function postAsRequested(webhook: Webhook, request: PostRequest, deps: DeliveryContext): Promise<PostResponse> {
  try {
    if (request.do === 'redeliverMissed') return await redeliverAll(webhook, deps)
    return toPostResponse(await (request.do === 'redeliver' ? redeliver(webhook, request.delivery, deps) : test(webhook, deps)))
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error
    return { time: deps.now().toISOString(), success: false, statusCode: 0, responseMilliseconds: 0, error: error.message }
  }
}

async function test(webhook: Webhook, deps: DeliveryContext): Promise<AttemptFinding> {
  const at = deps.now()
  const event = buildTestEvent({ accountName: accountOf(webhook), at, seed: randomBytes(10), events: webhook.spec.events }, deps.linkBase)
  const line = { delivery: toDeliveryId(at, event.id, webhook), event: event.id, type: event.type, attempt: 1 }
  return send({ ...line, webhook, load: async () => JSON.stringify(event) }, deps)
}

/** Only opens the deliveries; they are posted one after the other. */
async function redeliverAll(webhook: Webhook, deps: DeliveryContext): Promise<PostResponse> {
  if (!isActive(webhook)) throw new RequestRefused('the webhook is not active')
  await redeliverMissed(webhook, deps)
  return { time: deps.now().toISOString(), success: true, statusCode: 0, responseMilliseconds: 0 }
}

/**
 * Opens the missed deliveries of a webhook again, for one attempt each. Returns their number. The next leader continues if this one stops.
 * @throws RetryableError, FencedError
 */
export async function redeliverMissed(webhook: Webhook, { undelivered, now }: DeliveryContext): Promise<number> {
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

async function redeliver(webhook: Webhook, delivery: string, deps: DeliveryContext): Promise<AttemptFinding> {
  const { deliveryLog, recordedEvents } = deps
  if (!isActive(webhook)) throw new RequestRefused('the webhook is not active')
  // Only deliveries in the webhook's own log are accepted: an annotation must not lead to another account's events.
  const lines = (await deliveryLog.read(webhook)).filter((line) => line.delivery === delivery)
  const [latest] = lines
  if (!latest) throw new RequestRefused('the log has no such delivery')
  const { event, type, screenshot, url } = latest
  const attempt = Math.max(...lines.map((line) => line.attempt)) + 1
  // The URL of a single request is only in the log: its webhook has none.
  const line = { delivery, event, type, screenshot, attempt, manual: true as const, ...(url === undefined ? {} : { url }) }
  const finding = await send({ ...line, webhook, load: () => recordedEvents.load(webhook, latest) }, deps)
  if (finding.outcome === 'success') await deps.undelivered.forgetMissed(accountOf(webhook), webhookIdOf(webhook.metadata), delivery)
  return finding
}

async function send(attempt: Attempt, deps: DeliveryContext): Promise<AttemptFinding> {
  const { webhook } = attempt
  // The request may have waited for its turn.
  if (deps.findWebhook(keyOf(webhook))?.metadata.uid !== webhook.metadata.uid) throw new RequestRefused('the webhook was deleted')
  const sent = await makeAttempt(attempt, deps)
  if (sent === 'unsigned') throw new RequestRefused('the webhook has no signing secret yet')
  if (sent === 'gone') throw new RequestRefused('the screenshot was deleted, and its event was not kept')
  return sent.finding
}
