/**
 * This controller observes the open deliveries in the bucket: those whose Screenshot has left the Kubernetes API. Its keys are the endpoints,
 * and `scan`, which finds the endpoints at the start of a term and every ten minutes. It keeps no list of deliveries: the bucket sorts those
 * of an endpoint by the time at which they are due. Posts take seconds, so a reconcile only starts them; when they end, they enqueue the
 * endpoint again. It requeues when the next delivery of an endpoint is due.
 */

import { OPEN_PREFIX, parseOpenKey } from '@tintype/crds/records/storage-keys'
import type { Controller, Requeue } from '../../../controller-runtime/controller.ts'
import { LimiterClosed } from '../../../controller-runtime/keyed-limiter.ts'
import { createController, type Deps } from '../../../runtime/deps.ts'
import type { PostLimiter } from '../flow-control/post-limiter.ts'
import { UndeliveredWorker, type UndeliveredWorkerDeps } from './undelivered-worker.ts'

export interface UndeliveredOptions extends UndeliveredWorkerDeps, Pick<Deps, 'controllerMetrics'> {
  limiter: Pick<PostLimiter, 'run'>
  /** False once this operator loses leadership. */
  mayStart: () => boolean
}

const WORKERS = 4
const SCAN = 'scan'
/** Finds what an earlier leader wrote after this one has started. */
const SCAN_MILLISECONDS = 600_000
/** Delay after an error. */
const RETRY_MILLISECONDS = 5_000

export class UndeliveredController {
  readonly controller: Controller
  readonly #options: UndeliveredOptions
  readonly #worker: UndeliveredWorker
  /** Keys whose post runs or waits for its turn. */
  readonly #inFlight = new Set<string>()
  /** Keys that must not be tried before a time. */
  readonly #held = new Map<string, number>()

  constructor(options: UndeliveredOptions) {
    this.#options = options
    this.#worker = new UndeliveredWorker(options)
    this.controller = createController(
      'undelivered',
      { workers: WORKERS },
      (key) => (key === SCAN ? this.#scan() : this.reconcile(key)),
      options,
    )
    options.undelivered.onOpened = (prefix) => this.controller.enqueue(prefix)
    this.controller.enqueue(SCAN)
  }

  async #scan(): Promise<Requeue> {
    for await (const prefix of this.#options.undelivered.endpoints()) this.controller.enqueue(prefix)
    return { requeueAfterMilliseconds: SCAN_MILLISECONDS }
  }

  /** Starts the posts of an endpoint that are due. */
  async reconcile(prefix: string): Promise<Requeue | undefined> {
    const { undelivered, mayStart, now } = this.#options
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
    const { limiter, config, mayStart, log } = this.#options
    const account = parseOpenKey(key)?.account ?? ''
    // As the keys of live deliveries, so that both share the limits.
    const keys = {
      account: `${config.namespace}/${account}`,
      endpoint: `${config.namespace}/${prefix.slice(OPEN_PREFIX.length + account.length + 1, -1)}`,
    }
    this.#inFlight.add(key)
    this.#held.delete(key)
    limiter
      .run(keys, async () => (mayStart() ? this.#worker.deliver(key, account) : undefined))
      .then(
        (until) => until && this.#held.set(key, until.getTime()),
        (error: unknown) => {
          if (error instanceof LimiterClosed) return // the next leader starts from the bucket
          log.warn({ key, err: error }, 'undelivered event not posted; will retry')
          this.#held.set(key, this.#options.now().getTime() + RETRY_MILLISECONDS)
        },
      )
      .finally(() => {
        this.#inFlight.delete(key)
        this.controller.enqueue(prefix)
      })
  }
}
