// Carries one attempt out: waits for a free lane, asks again whether the webhook still wants it, signs, posts, and reports to the progress
// book. It writes nothing to the API server and never throws: whoever started it looks at the progress.

import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import { derivedId, screenshotIdOf, webhookIdOf } from '@tintype/crds/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { SigningTexts } from '../webhook/sealed-secrets.ts'
import type { Circuits } from './circuits.ts'
import { type Endpoint, findEndpoint, laneOf, type WebhookFinder } from './endpoint.ts'
import type { EventBytes, EventLibrary } from './event-bytes.ts'
import { buildHeaders } from './headers.ts'
import { type Lanes, LanesClosed } from './lanes.ts'
import type { DeliveryLog } from './log.ts'
import { toFinding } from './log-line.ts'
import type { DeliveryMetrics } from './metrics.ts'
import type { Post, PostOutcome } from './post.ts'
import type { ScreenshotProgress } from './progress.ts'
import type { Occurrence } from './receivers.ts'
import { MAX_ATTEMPTS } from './retry.ts'
import type { SigningSecrets } from './signing-secrets.ts'
import { toDeliverySpan, toTraceHeaders } from './trace.ts'

export interface CourierDeps extends WebhookFinder {
  lanes: Lanes
  circuits: Pick<Circuits, 'heldUntil' | 'start'>
  post: (post: Post) => Promise<PostOutcome>
  events: EventLibrary
  signingSecrets: Pick<SigningSecrets, 'find'>
  deliveryLog?: Pick<DeliveryLog, 'note'> | undefined
  /** False when the object is gone: nothing is told of it any more. */
  isThere: (screenshot: Screenshot) => boolean
  /** Called when a Screenshot's progress has changed. */
  onProgress: (screenshotKey: string) => void
  /** Called when a webhook turns out to have no secret. */
  onMissingSecret: (webhookKey: string) => void
  now: () => Date
  random: () => number
  version: string
  log: Log
  metrics: DeliveryMetrics
  spans?: Pick<SpanExporter, 'add'> | undefined
}

export interface Errand {
  screenshot: Screenshot
  occurrence: Occurrence
  /** Name of the webhook. */
  webhook: string
  attempt: number
  progress: ScreenshotProgress
}

/** How long a post waits that could not leave: no secret yet, or the API server did not tell it. */
const DEFER_MILLISECONDS = 5_000

/** Id of an event's delivery to a webhook, whatever the attempt. */
export const toDeliveryId = (
  { at }: Pick<Occurrence, 'at'>,
  { id }: Pick<EventBytes, 'id'>,
  { metadata }: Pick<Webhook, 'metadata'>,
): string => derivedId('dlv', at, `${id}/${metadata.uid}`)

/** See the head of this file. */
export class Courier {
  readonly #deps: CourierDeps

  constructor(deps: CourierDeps) {
    this.#deps = deps
  }

  /** Starts an errand; its progress is known at once. */
  send(errand: Errand): void {
    const { screenshot, occurrence, webhook, attempt, progress } = errand
    progress.set(occurrence.event, webhook, { state: 'waiting', attempt })
    const lane = laneOf(screenshot, webhook)
    void this.#deps.lanes.run(lane, () => this.#run(errand, lane)).catch((error: unknown) => this.#giveBack(errand, error))
  }

  async #run(errand: Errand, lane: string): Promise<void> {
    const { screenshot, occurrence, attempt, progress } = errand
    const endpoint = this.#deps.isThere(screenshot) ? findEndpoint(screenshot, occurrence, errand.webhook, this.#deps) : undefined
    if (!endpoint) return this.#withdraw(errand)
    // Later attempts are recorded by now: holding one back here could burn it.
    const held = attempt === 1 && this.#deps.circuits.heldUntil(lane, occurrence.at, keyOf(screenshot))
    if (held) return this.#defer(errand, held)
    progress.set(occurrence.event, errand.webhook, { state: 'posting', attempt })
    const end = this.#deps.circuits.start(lane)
    let isSuccess: boolean | undefined
    try {
      isSuccess = await this.#deliver(errand, endpoint)
    } finally {
      end(isSuccess)
    }
  }

  /** Posts once; says how it ended, or nothing when it could not leave. */
  async #deliver(errand: Errand, { url, webhook }: Endpoint): Promise<boolean | undefined> {
    const { screenshot, occurrence, attempt } = errand
    const secrets = await this.#deps.signingSecrets.find(webhook)
    if (secrets === undefined) {
      this.#deps.onMissingSecret(keyOf(webhook))
      this.#defer(errand)
      return undefined
    }
    if (attempt === 1) this.#deps.metrics.onFirstAttempt?.(occurrence.event, (this.#deps.now().getTime() - occurrence.at.getTime()) / 1000)
    const event = await this.#deps.events.load(screenshot, occurrence.event, attempt)
    const begun = this.#deps.now()
    const deliveryId = toDeliveryId(occurrence, event, webhook)
    const headers = { ...this.#sign(errand, webhook, event, secrets), ...toTraceHeaders(screenshot, deliveryId, attempt) }
    const outcome = await this.#deps.post({ url, headers, body: event.body })
    const span = this.#deps.spans && toDeliverySpan({ screenshot, type: occurrence.event, deliveryId, attempt, begun, outcome })
    if (span) this.#deps.spans?.add(span)
    if (!outcome.isSuccess && attempt === 1) await this.#deps.events.keep(event)
    this.#deps.deliveryLog?.note(webhook, {
      delivery: deliveryId,
      event: event.id,
      type: occurrence.event,
      screenshot: screenshotIdOf(screenshot.metadata),
      attempt,
      ...(attempt < MAX_ATTEMPTS ? {} : { last: true }),
      ...(url === webhook.spec.url ? {} : { url }),
      ...toFinding(outcome, begun, secrets),
    })
    this.#report(errand, event, outcome)
    return outcome.isSuccess
  }

  #sign({ occurrence, attempt }: Errand, webhook: Webhook, event: EventBytes, secrets: SigningTexts): Record<string, string> {
    return buildHeaders({
      body: event.body,
      secrets,
      eventId: event.id,
      eventType: occurrence.event,
      webhookId: webhookIdOf(webhook.metadata),
      deliveryId: toDeliveryId(occurrence, event, webhook),
      attempt,
      at: this.#deps.now(),
      version: this.#deps.version,
    })
  }

  #report({ screenshot, occurrence, webhook, attempt, progress }: Errand, { id }: EventBytes, outcome: PostOutcome): void {
    const { isSuccess, statusCode, retryAfterMilliseconds, end, detail, durationMilliseconds } = outcome
    const { log, metrics, now, random, onProgress } = this.#deps
    progress.set(occurrence.event, webhook, {
      state: 'ended',
      attempt,
      at: now(),
      isSuccess,
      statusCode,
      ...(statusCode === 0 ? {} : { answerMilliseconds: Math.round(durationMilliseconds) }),
      ...(retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds }),
      jitter: random(),
    })
    metrics.onAttempt?.(occurrence.event, isSuccess ? 'success' : end, durationMilliseconds / 1000)
    const fields = { key: keyOf(screenshot), webhook, eventId: id, attempt, statusCode, outcome: end, detail }
    log.debug({ ...fields, durationMilliseconds: Math.round(durationMilliseconds) }, 'event posted')
    onProgress(keyOf(screenshot))
  }

  /** The webhook wants it no more: the next look at the Screenshot settles the entry. */
  #withdraw({ screenshot, occurrence, webhook, progress }: Errand): void {
    progress.delete(occurrence.event, webhook)
    this.#deps.onProgress(keyOf(screenshot))
  }

  #defer({ screenshot, occurrence, webhook, progress }: Errand, until = new Date(this.#deps.now().getTime() + DEFER_MILLISECONDS)): void {
    progress.set(occurrence.event, webhook, { state: 'deferred', until })
    this.#deps.onProgress(keyOf(screenshot))
  }

  #giveBack(errand: Errand, error: unknown): void {
    if (error instanceof LanesClosed) return // the next leader begins from the ledger
    const { screenshot, webhook } = errand
    this.#deps.log.warn({ key: keyOf(screenshot), webhook, err: error }, 'event could not be posted yet')
    this.#defer(errand)
  }
}
