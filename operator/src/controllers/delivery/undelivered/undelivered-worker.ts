// Makes one attempt of a delivery whose Screenshot has left the Kubernetes API. The rules are those of decide.ts: a first attempt needs no write
// before it, and the second and third are recorded before they start. The event comes from the archived record, or from the stored bytes.

import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import { derivedId, webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { type AttemptFinding, isOpenIn, REQUEST_WEBHOOK, type Undelivered } from '@tintype/crds/webhooks/deliveries'
import { eventTimeOf } from '@tintype/crds/webhooks/events'
import type { DeliveryWorkerDeps } from '../delivery-worker.ts'
import { endpointKeyOf, type WebhookFinder } from '../endpoint.ts'
import { isReceiver } from '../events/receivers.ts'
import type { RecordedEvents } from '../events/recorded-events.ts'
import { MAX_ATTEMPTS, nextAttemptTime, type RetrySchedule, recordedAttemptTime } from '../flow-control/retry.ts'
import type { PostOutcome } from '../http/post.ts'
import { findSender, type SenderDeps } from '../sender.ts'
import type { Statistics } from '../statistics.ts'
import { toWithdrawal } from '../telemetry/attempt-line.ts'
import { countPost } from '../telemetry/metrics.ts'
import type { UndeliveredStore } from './undelivered-store.ts'

export interface UndeliveredWorkerDeps
  extends WebhookFinder,
    SenderDeps,
    Pick<DeliveryWorkerDeps, 'circuitBreakers' | 'eventBodies' | 'deliveryLog' | 'random' | 'metrics'> {
  undelivered: UndeliveredStore
  recordedEvents: Pick<RecordedEvents, 'find' | 'findLive' | 'load'>
  statistics: Pick<Statistics, 'count'>
  schedule: RetrySchedule
  config: { namespace: string }
  log: Log
}

/** Delay while a webhook has no secret. */
const DEFER_MILLISECONDS = 5_000
/** Delay while the Screenshot is still in the Kubernetes API, or the object cannot be read. */
const LEAVE_MILLISECONDS = 60_000

/** An open delivery that was read from the bucket. */
interface Job {
  key: string
  account: string
  open: Undelivered
}

export class UndeliveredWorker {
  readonly #deps: UndeliveredWorkerDeps

  constructor(deps: UndeliveredWorkerDeps) {
    this.#deps = deps
  }

  /**
   * Makes the attempt of the open delivery with a key, and writes its result. Returns the time before which the key must not be tried again,
   * if nothing was posted. @throws RetryableError
   */
  async deliver(key: string, account: string): Promise<Date | undefined> {
    const open = await this.#deps.undelivered.read(key)
    if (!open) return this.#after(LEAVE_MILLISECONDS)
    const job = { key, account, open }
    const webhook = this.#findWebhook(job)
    const record = await this.#deps.recordedEvents.find(account, open.screenshot)
    if (!open.manual) {
      // The archive wrote the object and did not delete the Screenshot: status.deliveries decides.
      if (this.#deps.recordedEvents.findLive(account, open.screenshot)) return this.#after(LEAVE_MILLISECONDS)
      if (record && !isOpenIn(record, open)) return this.#close(key)
    }
    if (!webhook || !this.#isReceiver(webhook, record, open)) return this.#withdraw(job, webhook)
    const held = this.#deps.circuitBreakers.heldUntil(this.#endpointOf(job), new Date(open.at), '')
    return held ?? this.#deliver(job, webhook, record)
  }

  #after(milliseconds: number): Date {
    return new Date(this.#deps.now().getTime() + milliseconds)
  }

  async #close(key: string): Promise<undefined> {
    await this.#deps.undelivered.close(key)
  }

  /** The webhook of the delivery; undefined if it was deleted, or replaced by another of the same name. */
  #findWebhook({ account, open: { webhook, event, delivery } }: Job): Webhook | undefined {
    const { findWebhook, findDefaultWebhook, config } = this.#deps
    const found = webhook === REQUEST_WEBHOOK ? findDefaultWebhook(account) : findWebhook(`${config.namespace}/${webhook}`)
    // The first part of both ids is the time of the event.
    const isSame = found && delivery.slice(-16) === derivedId('dlv', new Date(0), `${event}/${found.metadata.uid}`).slice(-16)
    return isSame ? found : undefined
  }

  #isReceiver(webhook: Webhook, record: Screenshot | undefined, { type, attempts, at, manual, webhook: name }: Undelivered): boolean {
    if (manual || name === REQUEST_WEBHOOK) return isActive(webhook)
    const entry: DeliveryEntry = { attempts, at, state: 'open' }
    return isReceiver(webhook, { event: type, at: record ? eventTimeOf(record, type) : new Date(at) }, entry)
  }

  /** Key of the endpoint in the circuit breakers, as that of live deliveries. */
  #endpointOf({ account, open: { webhook, url } }: Job): string {
    const { namespace } = this.#deps.config
    return endpointKeyOf({ metadata: { namespace }, spec: { accountName: account, webhookUrl: url } }, webhook)
  }

  async #deliver(job: Job, webhook: Webhook, record: Screenshot | undefined): Promise<Date | undefined> {
    const { recordedEvents, circuitBreakers, schedule, undelivered, now } = this.#deps
    const { open, account, key } = job
    const send = await findSender(webhook, this.#deps)
    if (!send) return this.#after(DEFER_MILLISECONDS)
    const body = await recordedEvents.load(webhook, toLine(open), record)
    if (body === undefined) return this.#withdraw(job, webhook, false)
    // A third attempt that is still open was interrupted.
    const attempt = open.manual ? open.attempts + 1 : Math.min(open.attempts + 1, MAX_ATTEMPTS)
    const isRecorded = !open.manual && attempt > 1 && attempt > open.attempts
    const recorded = isRecorded
      ? await undelivered.replace(key, account, {
          ...open,
          attempts: attempt,
          at: recordedAttemptTime(schedule, attempt, now()).toISOString(),
        })
      : key
    const end = circuitBreakers.start(this.#endpointOf(job))
    let outcome: PostOutcome | undefined
    try {
      const sent = await send({
        ...{ url: open.url ?? webhook.spec.url, screenshot: record, deliveryId: open.delivery, attempt, body },
        ...{ eventId: open.event, eventType: open.type },
      })
      outcome = sent.outcome
      this.#note(job, webhook, attempt, sent.finding)
    } finally {
      end(outcome?.isSuccess)
    }
    if (!outcome.isSuccess && attempt === 1) await this.#deps.eventBodies.keep({ id: open.event, body })
    return this.#recordResult({ ...job, key: recorded }, webhook, { attempt, outcome })
  }

  #note({ open }: Job, webhook: Webhook, attempt: number, finding: AttemptFinding): void {
    const isLast = open.manual === undefined && attempt >= MAX_ATTEMPTS
    const kind = open.manual ? { manual: true } : isLast ? { last: true } : {}
    this.#deps.deliveryLog.note(webhook, { ...toLine(open), attempt, ...kind, ...finding })
  }

  /** Writes the result of an attempt. */
  async #recordResult(job: Job, webhook: Webhook, { attempt, outcome }: { attempt: number; outcome: PostOutcome }): Promise<undefined> {
    const { undelivered, schedule, now, random } = this.#deps
    const { open, account, key } = job
    const at = now()
    const { retryAfterMilliseconds } = outcome
    const webhookId = webhookIdOf(webhook.metadata)
    const mayRetry = !outcome.isSuccess && !open.manual && attempt < MAX_ATTEMPTS
    if (mayRetry) {
      const failed = { attempt, at, jitter: random(), ...(retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds }) }
      await undelivered.replace(key, account, { ...open, attempts: attempt, at: nextAttemptTime(schedule, failed).toISOString() })
    } else {
      if (!outcome.isSuccess) await undelivered.miss(account, webhookId, { ...open, attempts: attempt, at: at.toISOString() })
      await undelivered.close(key)
      // A crash between the request and the removal of the missed delivery may have left both.
      if (outcome.isSuccess && open.manual) await undelivered.forgetMissed(account, webhookId, open.delivery)
    }
    countPost(this.#deps.metrics, open.type, outcome)
    // Like other redeliveries, those of missed events do not count.
    if (open.manual) return
    const state = outcome.isSuccess ? 'ok' : mayRetry ? 'open' : 'failed'
    this.#count(job, webhook, { attempts: attempt, at: at.toISOString(), state }, outcome)
  }

  /** Ends a delivery without a post: the webhook does not want the event any more, or the event does not exist any more. */
  async #withdraw(job: Job, webhook: Webhook | undefined, canRepeat = true): Promise<undefined> {
    const { open, account, key } = job
    const { undelivered, deliveryLog, now } = this.#deps
    if (webhook && canRepeat) await undelivered.miss(account, webhookIdOf(webhook.metadata), open)
    await undelivered.close(key)
    if (!webhook || open.manual) return
    const at = now().toISOString()
    deliveryLog.note(webhook, { ...toLine(open), ...toWithdrawal(open.attempts, at) })
    this.#count(job, webhook, { attempts: open.attempts, at, state: 'failed' })
  }

  #count({ open }: Job, webhook: Webhook, after: DeliveryEntry, outcome?: PostOutcome): void {
    const { statistics, metrics, log } = this.#deps
    const { type: event, attempts, at } = open
    const before: DeliveryEntry | undefined = attempts === 0 ? undefined : { attempts, at, state: 'open' }
    const { statusCode, durationMilliseconds = 0 } = outcome ?? {}
    statistics.count(keyOf(webhook), {
      ...{ event, webhook: open.webhook, before, after },
      ...(statusCode === undefined ? {} : { statusCode }),
      ...(statusCode ? { responseMilliseconds: Math.round(durationMilliseconds) } : {}),
    })
    if (after.state === 'open') return
    metrics.deliveries.inc({ event, result: after.state })
    const fields = { screenshot: open.screenshot, webhook: open.webhook, event, result: after.state, attempts: after.attempts }
    log.info({ ...fields, statusCode }, 'delivery ended')
  }
}

const toLine = ({ delivery, event, type, screenshot, url }: Undelivered) => ({
  ...{ delivery, event, type, screenshot },
  ...(url === undefined ? {} : { url }),
})
