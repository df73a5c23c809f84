// rbac: tintype.dev/webhooks get,list,watch
// rbac: tintype.dev/webhooks/status patch
// rbac: /secrets get

/**
 * This controller observes Webhooks with annotations that request a post, such as a test or a redelivery
 * (crds/src/webhooks/webhook-requests.ts). It writes the results to their status. Posts take seconds, so a reconcile only starts them; when
 * they end, they enqueue the Webhook again, and all available results are written at once. The next leader repeats posts without a recorded
 * result. It never requeues.
 */

import { isNotFound } from '@tintype/crds/client/kube-error'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import { mergePatch } from '@tintype/crds/client/resource'
import { type PostResponse, Webhook } from '@tintype/crds/kinds/webhook'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { findOpenRequests, type PostRequest, toResponsePatch } from '@tintype/crds/webhooks/webhook-requests'
import type { Controller } from '../../../controller-runtime/controller.ts'
import { LimiterClosed } from '../../../controller-runtime/keyed-limiter.ts'
import type { Patcher } from '../../../kube/clients.ts'
import { readObject } from '../../../kube/read-object.ts'
import { createController, type Deps } from '../../../runtime/deps.ts'
import { accountKeyOf } from '../endpoint.ts'
import type { PostLimiter } from '../flow-control/post-limiter.ts'
import type { DeliveryMetrics } from '../telemetry/metrics.ts'

export interface PostRequestsOptions extends Pick<Deps, 'controllerMetrics'> {
  clients: { webhooks: Patcher<Webhook> }
  reflectors: { webhooks: Reflector<Webhook> }
  limiter: Pick<PostLimiter, 'run'>
  /** Executes the request. */
  perform: (webhook: Webhook, request: PostRequest) => Promise<PostResponse>
  /** False once this operator loses leadership. */
  mayStart: () => boolean
  now: () => Date
  log: Log
  metrics: Pick<DeliveryMetrics, 'requestedPosts'>
}

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
  readonly #options: PostRequestsOptions
  readonly #started = new Map<string, { uid: string; requests: Map<string, StartedRequest> }>()

  constructor(options: PostRequestsOptions) {
    this.#options = options
    this.controller = createController('webhook-request', { workers: WORKERS }, (key, signal) => this.reconcile(key, signal), options)
    this.controller.watch(options.reflectors.webhooks)
  }

  /** Starts new requests and writes available results. */
  async reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { reflectors, mayStart, now } = this.#options
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
    this.#options.limiter
      .run({ account: requests, endpoint: requests }, () => this.#options.perform(webhook, request))
      .then(
        (response) => {
          this.#options.metrics.requestedPosts.inc({ kind: request.do, result: response.success ? 'ok' : 'failed' })
          started.set(name, { request, response })
          this.controller.enqueue(key)
        },
        (error: unknown) => this.#retry({ key, name, started, error }),
      )
  }

  #retry({ key, name, started, error }: { key: string; name: string; started: Map<string, StartedRequest>; error: unknown }): void {
    if (error instanceof LimiterClosed) return // the next leader starts from the annotation
    started.delete(name)
    this.#options.log.warn({ key, err: error }, 'requested post failed; will retry')
    this.controller.queue.addRateLimited(key)
  }

  async #respond(webhook: Webhook, started: Map<string, StartedRequest>, signal: AbortSignal): Promise<void> {
    const ended = [...started].flatMap(([name, { request, response }]) => (response ? [{ name, request, response }] : []))
    const status = toResponsePatch(webhook, ended)
    if (Object.keys(status).length === 0) return
    try {
      // Each result has its own field, so the patch needs no precondition.
      await this.#options.clients.webhooks.patch(webhook.metadata.name, mergePatch({ status }), { subresource: 'status', signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    for (const each of ended) started.delete(each.name)
  }
}
