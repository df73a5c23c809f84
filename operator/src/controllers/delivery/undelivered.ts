import { keyOf } from '@tintype/crds/client/kube-object'
import { derivedId, webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { OPEN_PREFIX, parseOpenKey } from '@tintype/crds/records/storage-keys'
import { isOpenIn, REQUEST_WEBHOOK, type Undelivered } from '@tintype/crds/webhooks/deliveries'
import { eventTimeOf } from '@tintype/crds/webhooks/events'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { LimiterClosed } from '../../controller-runtime/keyed-limiter.ts'
import { createController } from '../../runtime/deps.ts'
import { makeAttempt } from './attempt.ts'
import type { DeliveryContext } from './context.ts'
import { type FailedAttempt, MAX_ATTEMPTS, nextAttempt, nextAttemptTime } from './decide.ts'
import { endpointKeyOf, isReceiver } from './events/receivers.ts'
import type { PostOutcome } from './http/post.ts'
import { toWithdrawal } from './telemetry/delivery-log.ts'

/**
 * This controller observes the open deliveries in the bucket: those whose Screenshot has left the Kubernetes API. Its keys are the endpoints,
 * and `scan`, which finds the endpoints at the start of a term and every ten minutes. It keeps no list of deliveries: the bucket sorts those
 * of an endpoint by the time at which they are due. Posts take seconds, so a reconcile only starts them; when they end, they enqueue the
 * endpoint again. It requeues when the next delivery of an endpoint is due.
 */

const WORKERS = 4
const SCAN = 'scan'
/** Finds what an earlier leader wrote after this one has started. */
const SCAN_MILLISECONDS = 600_000
/** Delay after an error. */
const RETRY_MILLISECONDS = 5_000

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

export class UndeliveredController {
  readonly controller: Controller
  readonly #deps: DeliveryContext
  /** Keys whose post runs or waits for its turn. */
  readonly #inFlight = new Set<string>()
  /** Keys that must not be tried before a time. */
  readonly #held = new Map<string, number>()
  /** Write the result of a post that the bucket has not taken. Until then the attempt is not repeated. */
  readonly #unrecorded = new Map<string, () => Promise<undefined>>()

  constructor(deps: DeliveryContext) {
    this.#deps = deps
    this.controller = createController(
      'undelivered',
      { workers: WORKERS },
      (key) => (key === SCAN ? this.#scan() : this.reconcile(key)),
      deps,
    )
    deps.undelivered.onOpened = (prefix) => this.controller.enqueue(prefix)
    this.controller.enqueue(SCAN)
  }

  async #scan(): Promise<Requeue> {
    for await (const prefix of this.#deps.undelivered.endpoints()) this.controller.enqueue(prefix)
    return { requeueAfterMilliseconds: SCAN_MILLISECONDS }
  }

  /** Starts the posts of an endpoint that are due. */
  async reconcile(prefix: string): Promise<Requeue | undefined> {
    const { undelivered, mayStart, now } = this.#deps
    if (!mayStart()) return undefined
    const at = now().getTime()
    const waits: number[] = []
    for (const { key, at: due } of await undelivered.listOpen(prefix)) {
      if (this.#inFlight.has(key)) continue
      const wait = Math.max(due.getTime(), this.#held.get(key) ?? 0) - at
      if (wait > 0) waits.push(wait)
      else this.#start(key, prefix)
    }
    return waits.length > 0 ? { requeueAfterMilliseconds: Math.min(SCAN_MILLISECONDS, ...waits) } : undefined
  }

  #start(key: string, prefix: string): void {
    const { limiter, config, mayStart, log } = this.#deps
    const account = parseOpenKey(key)?.account ?? ''
    // As the keys of live deliveries, so that both share the limits.
    const keys = {
      account: `${config.namespace}/${account}`,
      endpoint: `${config.namespace}/${prefix.slice(OPEN_PREFIX.length + account.length + 1, -1)}`,
    }
    this.#inFlight.add(key)
    this.#held.delete(key)
    limiter
      .run(keys, async () => (mayStart() ? this.#deliver(key, account) : undefined))
      .then(
        (until) => until && this.#held.set(key, until.getTime()),
        (error: unknown) => {
          if (error instanceof LimiterClosed) return // the next leader starts from the bucket
          log.warn({ key, err: error }, 'undelivered event not posted; will retry')
          this.#held.set(key, this.#deps.now().getTime() + RETRY_MILLISECONDS)
        },
      )
      .finally(() => {
        this.#inFlight.delete(key)
        this.controller.enqueue(prefix)
      })
  }

  /**
   * Makes the attempt of the open delivery with a key, and writes its result. Returns the time before which the key must not be tried again,
   * if nothing was posted. @throws RetryableError
   */
  async #deliver(key: string, account: string): Promise<Date | undefined> {
    const unrecorded = this.#unrecorded.get(key)
    if (unrecorded) return unrecorded()
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
    const held = this.#deps.circuitBreakers.heldUntil(this.#endpointOf(job), new Date(open.at))
    return held ?? this.#attempt(job, webhook, record)
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

  async #attempt(job: Job, webhook: Webhook, record: Screenshot | undefined): Promise<Date | undefined> {
    const line = toLine(job.open)
    const { attempts, manual } = job.open
    const attempt = manual ? attempts + 1 : nextAttempt(job.open)
    const load = () => this.#deps.recordedEvents.load(webhook, line, record)
    const given = { ...line, attempt, webhook, load, record, endpoint: this.#endpointOf(job), ...(manual ? { manual } : {}) }
    const sent = await makeAttempt(given, this.#deps)
    if (sent === 'unsigned') return this.#after(DEFER_MILLISECONDS)
    if (sent === 'gone') return this.#withdraw(job, webhook, false)
    const result = { attempt, at: this.#deps.now(), jitter: this.#deps.random() }
    const write = () => this.#recordResult(job, webhook, result, sent.outcome)
    this.#unrecorded.set(job.key, write)
    return write()
  }

  /** Writes the result of an attempt. It can be repeated. */
  async #recordResult(job: Job, webhook: Webhook, result: FailedAttempt, outcome: PostOutcome): Promise<undefined> {
    const { undelivered, schedule } = this.#deps
    const { open, account, key } = job
    const { attempt, at } = result
    const { isSuccess, retryAfterMilliseconds } = outcome
    const webhookId = webhookIdOf(webhook.metadata)
    const mayRetry = !isSuccess && !open.manual && attempt < MAX_ATTEMPTS
    if (mayRetry) {
      const failed = { ...result, ...(retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds }) }
      await undelivered.replace(key, account, { ...open, attempts: attempt, at: nextAttemptTime(schedule, failed).toISOString() })
    } else {
      if (!isSuccess) await undelivered.miss(account, webhookId, { ...open, attempts: attempt, at: at.toISOString() })
      await undelivered.close(key)
      // A crash between the request and the removal of the missed delivery may have left both.
      if (isSuccess && open.manual) await undelivered.forgetMissed(account, webhookId, open.delivery)
    }
    this.#unrecorded.delete(key)
    // Like other redeliveries, those of missed events do not count.
    if (open.manual) return
    const state = isSuccess ? 'ok' : mayRetry ? 'open' : 'failed'
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
