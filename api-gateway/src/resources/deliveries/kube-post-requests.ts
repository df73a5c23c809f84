import { randomBytes } from 'node:crypto'
import { isConflict, isInvalid, isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Reflector } from '@tintype/crds/client/reflector'
import { mergePatch, Resource } from '@tintype/crds/client/resource'
import { REQUEST_PREFIX } from '@tintype/crds/identifiers/names'
import type { PostResponse, Webhook } from '@tintype/crds/kinds/webhook'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import {
  findOpenRequests,
  findResponse,
  MAX_OPEN_REQUESTS,
  type ProgramRequest,
  type RequestedPost,
  toDeletions,
  toRequestAnnotation,
} from '@tintype/crds/webhooks/webhook-requests'
import { notFound, unavailable } from '../../common/errors.ts'
import { toApiError } from '../../store/kube-records.ts'
import type { PostRequests } from '../../store/ports.ts'
import { WaitingRequests } from '../../store/turns.ts'

// rbac: tintype.dev/webhooks get,list,watch,patch

const WRITE_MILLISECONDS = 5_000

interface KubePostRequestsOptions {
  http: KubeHttp
  reflector: Reflector<Webhook>
  now: () => Date
}

/** Requests posts from the operator with annotations, and reads its responses from the Webhook informer cache. */
export class KubePostRequests implements PostRequests {
  readonly #options: KubePostRequestsOptions
  readonly #client: Resource<Webhook>
  readonly #waiting = new WaitingRequests()

  constructor(options: KubePostRequestsOptions) {
    this.#options = options
    this.#client = new Resource(options.http, options.reflector.resource)
    options.reflector.addListener(({ object }) => this.#waiting.wake(keyOf(object)))
  }

  async ask(webhook: Webhook, post: RequestedPost): Promise<ProgramRequest> {
    const { reflector, now } = this.#options
    const latest = reflector.lister.get(keyOf(webhook)) ?? webhook
    const request = { ...post, nonce: randomBytes(10).toString('hex'), at: now() }
    if (findOpenRequests(latest, now()).length >= MAX_OPEN_REQUESTS) {
      throw unavailable('too many requests for this webhook are pending: retry in a few seconds')
    }
    await this.#annotate(webhook, { ...toDeletions(latest, now()), ...toRequestAnnotation(request) })
    return request
  }

  async askAndWait(webhook: Webhook, post: RequestedPost, milliseconds: number, signal: AbortSignal): Promise<PostResponse | undefined> {
    const request = await this.ask(webhook, post)
    try {
      return await this.#whenResponded(webhook, request, milliseconds, signal)
    } finally {
      // If the removal fails, the next request for this webhook removes the annotation.
      void this.#annotate(webhook, { [REQUEST_PREFIX + request.nonce]: null }).catch(() => {})
    }
  }

  /** Requests have separate annotations, so the patch only needs the uid as a precondition. */
  async #annotate({ metadata: { name, uid } }: Webhook, annotations: Record<string, string | null>): Promise<void> {
    try {
      const patch = mergePatch({ metadata: { annotations } }, { uid })
      this.#options.reflector.noteWritten(await this.#client.patch(name, patch, { timeoutMilliseconds: WRITE_MILLISECONDS }))
    } catch (error) {
      if (isNotFound(error) || isConflict(error) || isInvalid(error)) throw notFound('webhook')
      throw toApiError(error)
    }
  }

  async #whenResponded(
    webhook: Webhook,
    request: ProgramRequest,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<PostResponse | undefined> {
    const key = keyOf(webhook)
    const latest = (): Webhook | undefined => this.#options.reflector.lister.get(key)
    const isOver = (): boolean => {
      const found = latest()
      return found === undefined || isBeingDeleted(found) || findResponse(found, request) !== undefined
    }
    await this.#waiting.until(isOver, { key, milliseconds, signal })
    const found = latest()
    if (found?.metadata.uid !== webhook.metadata.uid || isBeingDeleted(found)) throw notFound('webhook')
    return findResponse(found, request)
  }
}
