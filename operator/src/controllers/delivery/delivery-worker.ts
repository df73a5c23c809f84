// Makes one delivery attempt: waits for the limiter, checks that the webhook still wants the event, signs it, posts it, and records the
// result in the progress store. It writes nothing to the API server and never throws.

import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import { derivedId, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { LimiterClosed } from '../../controller-runtime/keyed-limiter.ts'
import { accountKeyOf, type Endpoint, endpointKeyOf, findEndpoint, type WebhookFinder } from './endpoint.ts'
import type { EventBodies, EventBody } from './events/event-bodies.ts'
import type { Occurrence } from './events/receivers.ts'
import type { CircuitBreakers } from './flow-control/circuit-breakers.ts'
import type { PostLimiter } from './flow-control/post-limiter.ts'
import { MAX_ATTEMPTS } from './flow-control/retry.ts'
import type { PostOutcome } from './http/post.ts'
import type { ScreenshotProgress } from './progress.ts'
import { findSender, type SenderDeps } from './sender.ts'
import type { DeliveryLog } from './telemetry/delivery-log.ts'
import { countPost, type DeliveryMetrics } from './telemetry/metrics.ts'
import { toDeliverySpan } from './telemetry/trace.ts'

export interface DeliveryWorkerDeps extends WebhookFinder, SenderDeps {
  limiter: Pick<PostLimiter, 'run'>
  circuitBreakers: Pick<CircuitBreakers, 'heldUntil' | 'start'>
  eventBodies: EventBodies
  deliveryLog: Pick<DeliveryLog, 'note'>
  /** False when the Screenshot was deleted: its events are no longer posted. */
  exists: (screenshot: Screenshot) => boolean
  /** Called when a Screenshot's progress has changed. */
  onProgress: (screenshotKey: string) => void
  random: () => number
  log: Log
  metrics: DeliveryMetrics
  spans?: Pick<SpanExporter, 'add'> | undefined
}

export interface DeliveryJob {
  screenshot: Screenshot
  occurrence: Occurrence
  /** Name of the webhook. */
  webhook: string
  attempt: number
  progress: ScreenshotProgress
}

/** Delay after a post could not be sent, because there is no secret yet or the API server did not return it. */
const DEFER_MILLISECONDS = 5_000

/** Id of an event's delivery to a webhook; all attempts share it. */
export const toDeliveryId = (
  { at }: Pick<Occurrence, 'at'>,
  { id }: Pick<EventBody, 'id'>,
  { metadata }: Pick<Webhook, 'metadata'>,
): string => derivedId('dlv', at, `${id}/${metadata.uid}`)

export class DeliveryWorker {
  readonly #deps: DeliveryWorkerDeps

  constructor(deps: DeliveryWorkerDeps) {
    this.#deps = deps
  }

  /** Starts a job; its progress is known at once. */
  send(job: DeliveryJob): void {
    const { screenshot, occurrence, webhook, attempt, progress } = job
    progress.set(occurrence.event, webhook, { state: 'waiting', attempt })
    const keys = { account: accountKeyOf(screenshot), endpoint: endpointKeyOf(screenshot, webhook) }
    void this.#deps.limiter.run(keys, () => this.#run(job, keys.endpoint)).catch((error: unknown) => this.#retryLater(job, error))
  }

  async #run(job: DeliveryJob, endpointKey: string): Promise<void> {
    const { screenshot, occurrence, attempt, progress } = job
    const endpoint = this.#deps.exists(screenshot) ? findEndpoint(screenshot, occurrence, job.webhook, this.#deps) : undefined
    if (!endpoint) return this.#withdraw(job)
    // Later attempts were recorded before they got here, so delaying one could cost an attempt.
    const held = attempt === 1 && this.#deps.circuitBreakers.heldUntil(endpointKey, occurrence.at, keyOf(screenshot))
    if (held) return this.#defer(job, held)
    progress.set(occurrence.event, job.webhook, { state: 'posting', attempt })
    const end = this.#deps.circuitBreakers.start(endpointKey)
    let isSuccess: boolean | undefined
    try {
      isSuccess = await this.#deliver(job, endpoint)
    } finally {
      end(isSuccess)
    }
  }

  /** Posts once. Returns whether it succeeded; undefined when it could not be sent. */
  async #deliver(job: DeliveryJob, { url, webhook }: Endpoint): Promise<boolean | undefined> {
    const { screenshot, occurrence, attempt } = job
    const send = await findSender(webhook, this.#deps)
    if (!send) {
      this.#defer(job)
      return undefined
    }
    if (attempt === 1)
      this.#deps.metrics.firstAttemptSeconds.observe(
        { event: occurrence.event },
        (this.#deps.now().getTime() - occurrence.at.getTime()) / 1_000,
      )
    const event = await this.#deps.eventBodies.load(screenshot, occurrence.event, attempt)
    const deliveryId = toDeliveryId(occurrence, event, webhook)
    const { outcome, begun, finding } = await send({
      ...{ url, screenshot, deliveryId, attempt, body: event.body },
      ...{ eventId: event.id, eventType: occurrence.event },
    })
    const span = this.#deps.spans && toDeliverySpan({ screenshot, type: occurrence.event, deliveryId, attempt, begun, outcome })
    if (span) this.#deps.spans?.add(span)
    if (!outcome.isSuccess && attempt === 1) await this.#deps.eventBodies.keep(event)
    this.#deps.deliveryLog.note(webhook, {
      delivery: deliveryId,
      event: event.id,
      type: occurrence.event,
      screenshot: screenshotIdOf(screenshot.metadata),
      attempt,
      ...(attempt < MAX_ATTEMPTS ? {} : { last: true }),
      ...(url === webhook.spec.url ? {} : { url }),
      ...finding,
    })
    this.#report(job, event, outcome)
    return outcome.isSuccess
  }

  #report({ screenshot, occurrence, webhook, attempt, progress }: DeliveryJob, { id }: EventBody, outcome: PostOutcome): void {
    const { isSuccess, statusCode, retryAfterMilliseconds, end, detail, durationMilliseconds } = outcome
    const { log, metrics, now, random, onProgress } = this.#deps
    progress.set(occurrence.event, webhook, {
      state: 'ended',
      attempt,
      at: now(),
      isSuccess,
      statusCode,
      ...(statusCode === 0 ? {} : { responseMilliseconds: Math.round(durationMilliseconds) }),
      ...(retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds }),
      jitter: random(),
    })
    countPost(metrics, occurrence.event, outcome)
    const fields = { key: keyOf(screenshot), webhook, eventId: id, attempt, statusCode, outcome: end, detail }
    log.debug({ ...fields, durationMilliseconds: Math.round(durationMilliseconds) }, 'event posted')
    onProgress(keyOf(screenshot))
  }

  /** The webhook no longer wants the event: the next reconcile of the Screenshot ends the delivery. */
  #withdraw({ screenshot, occurrence, webhook, progress }: DeliveryJob): void {
    progress.delete(occurrence.event, webhook)
    this.#deps.onProgress(keyOf(screenshot))
  }

  #defer(
    { screenshot, occurrence, webhook, progress }: DeliveryJob,
    until = new Date(this.#deps.now().getTime() + DEFER_MILLISECONDS),
  ): void {
    progress.set(occurrence.event, webhook, { state: 'deferred', until })
    this.#deps.onProgress(keyOf(screenshot))
  }

  #retryLater(job: DeliveryJob, error: unknown): void {
    if (error instanceof LimiterClosed) return // the next leader starts from status.deliveries
    const { screenshot, webhook } = job
    this.#deps.log.warn({ key: keyOf(screenshot), webhook, err: error }, 'event not posted; will retry')
    this.#defer(job)
  }
}
