// Runs the attempts of Screenshots in the Kubernetes API: waits for the limiter, checks that the webhook still wants the event, posts it, and
// notes the result in the progress store. It writes nothing to the API server and never throws.

import { keyOf } from '@tintype/crds/client/kube-object'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { buildEvent, eventIdOf } from '@tintype/crds/webhooks/events'
import { LimiterClosed } from '../../controller-runtime/keyed-limiter.ts'
import { makeAttempt, type SentEvent } from './attempt.ts'
import type { DeliveryContext } from './context.ts'
import { accountKeyOf, endpointKeyOf, findEndpoint, type Occurrence, toDeliveryId } from './events/receivers.ts'
import type { ScreenshotProgress } from './progress.ts'

interface DeliveryWorkerDeps extends DeliveryContext {
  /** False when the Screenshot was deleted: its events are no longer posted. */
  exists: (screenshot: Screenshot) => boolean
  /** Called when a Screenshot's progress has changed. */
  onProgress: (screenshotKey: string) => void
}

export interface DeliveryJob {
  screenshot: Screenshot
  occurrence: Occurrence
  /** Name of the webhook. */
  webhook: string
  attempt: number
  progress: ScreenshotProgress
}

/** Delay after a post could not be sent, because there is no secret yet, or the API server or the bucket did not respond. */
const DEFER_MILLISECONDS = 5_000

export class DeliveryWorker {
  readonly #deps: DeliveryWorkerDeps

  constructor(deps: DeliveryWorkerDeps) {
    this.#deps = deps
  }

  /** Starts a job; its progress is known at once. */
  send(job: DeliveryJob): void {
    const { screenshot, occurrence, webhook, progress } = job
    progress.set(occurrence.event, webhook, { state: 'waiting' })
    const keys = { account: accountKeyOf(screenshot), endpoint: endpointKeyOf(screenshot, webhook) }
    void this.#deps.limiter.run(keys, () => this.#run(job, keys.endpoint)).catch((error: unknown) => this.#retryLater(job, error))
  }

  /** Posts once, unless the webhook no longer wants the event, or it may not be sent yet. */
  async #run(job: DeliveryJob, endpointKey: string): Promise<void> {
    const { screenshot, attempt, progress } = job
    const { event: type, at } = job.occurrence
    const { circuitBreakers, recordedEvents, linkBase } = this.#deps
    const endpoint = this.#deps.exists(screenshot) ? findEndpoint(screenshot, job.occurrence, job.webhook, this.#deps) : undefined
    if (!endpoint) return this.#withdraw(job)
    const { url, webhook } = endpoint
    const due = screenshot.status?.deliveries?.[type]?.[job.webhook]?.at
    const held = circuitBreakers.heldUntil(endpointKey, due === undefined ? at : new Date(due))
    if (held) return this.#defer(job, held)
    progress.set(type, job.webhook, { state: 'posting' })
    const event = eventIdOf(screenshot, type)
    const line = {
      ...{ delivery: toDeliveryId(at, event, webhook), event, type, screenshot: screenshotIdOf(screenshot.metadata) },
      ...(url === webhook.spec.url ? {} : { url }),
    }
    // The first attempt builds the event, and later ones repeat its bytes.
    const build = async () => JSON.stringify(buildEvent(screenshot, type, linkBase))
    const load = attempt === 1 ? build : () => recordedEvents.load(webhook, line, screenshot)
    const sent = await makeAttempt({ ...line, attempt, webhook, load, record: screenshot, endpoint: endpointKey }, this.#deps)
    if (typeof sent === 'string') this.#defer(job)
    else this.#report(job, sent)
  }

  #report({ screenshot, occurrence, webhook, attempt, progress }: DeliveryJob, { outcome, begun }: SentEvent): void {
    const { isSuccess, statusCode, retryAfterMilliseconds, end, detail, durationMilliseconds } = outcome
    const { log, metrics, now, random, onProgress } = this.#deps
    const { event, at } = occurrence
    if (attempt === 1) metrics.firstAttemptSeconds.observe({ event }, (begun.getTime() - at.getTime()) / 1_000)
    progress.set(event, webhook, {
      ...{ state: 'ended', attempt, at: now(), isSuccess, statusCode, jitter: random() },
      ...(statusCode === 0 ? {} : { responseMilliseconds: Math.round(durationMilliseconds) }),
      ...(retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds }),
    })
    const key = keyOf(screenshot)
    const fields = { key, webhook, eventId: eventIdOf(screenshot, event), attempt, statusCode, outcome: end, detail }
    log.debug({ ...fields, durationMilliseconds: Math.round(durationMilliseconds) }, 'event posted')
    onProgress(key)
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
