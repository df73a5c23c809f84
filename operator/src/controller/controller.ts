/**
 * Takes keys from a work queue and hands each to `reconcile`, several at a time, none twice at once. It knows no kind.
 * Errors end here: retryable ones and bugs come back with backoff, conflicts too but uncounted, terminal ones wait for the object to change.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict, isNotFound, isTransient } from '@tintype/crds/client/kube-error'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector, ReflectorEvent } from '@tintype/crds/client/reflector'
import { RetryableError, TerminalError } from './errors.ts'
import type { ControllerMetrics, Priority, ReconcileResult, WorkQueueMetrics } from './metrics.ts'
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts'

/** What a reconcile may ask for: another look after some time, even if nothing changes. */
export type Requeue = { requeueAfterMilliseconds?: number | undefined }

/** One level-triggered step for one key. The signal ends with the time-out and with the controller. */
// biome-ignore lint/suspicious/noConfusingVoidType: a reconcile that asks for nothing need not say so
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Requeue | undefined | void>

export type ControllerOptions = {
  name: string
  reconcile: Reconcile
  log: Log
  workers?: number
  /** One reconcile's time; its signal ends then, and it counts as failed. */
  timeoutMilliseconds?: number
  queue?: Omit<WorkQueueOptions, 'name' | 'metrics'>
  /** A worker that has kept a key this long past its time-out does not heed its signal: the probe calls the operator stuck. */
  stuckGraceMilliseconds?: number
  metrics?: ControllerMetrics & WorkQueueMetrics
}

const DEFAULT_TIMEOUT_MILLISECONDS = 60_000
const DEFAULT_STUCK_GRACE_MILLISECONDS = 60_000
const DEFAULT_DRAIN_MILLISECONDS = 30_000
const ABORT_MILLISECONDS = 1_000

export class Controller {
  readonly name: string
  readonly queue: WorkQueue
  readonly #options: ControllerOptions
  readonly #metrics: ControllerMetrics
  readonly #stopping = new AbortController()
  readonly #unsubscribe: (() => void)[] = []
  readonly #workers: Promise<void>[] = []
  #active = 0

  constructor(options: ControllerOptions) {
    const { name, metrics = {}, queue = {} } = options
    this.name = name
    this.#options = options
    this.#metrics = metrics
    this.queue = new WorkQueue({ ...queue, name, metrics })
  }

  enqueue(key: string, priority: Priority = 'live'): void {
    this.queue.add(key, priority)
  }

  enqueueAfter(key: string, milliseconds: number): void {
    this.queue.addAfter(key, milliseconds)
  }

  /** Enqueues a key for each change of a reflector; `toKeys` leads from an object to the keys it concerns, by default its own. */
  watch<T extends KubeObject>(reflector: Reflector<T>, toKeys: ToKeys<T> = ({ object }) => keyOf(object)): void {
    const stop = reflector.addListener((event) => {
      const keys = toKeys(event) ?? []
      for (const key of typeof keys === 'string' ? [keys] : keys) this.enqueue(key, event.source === 'list' ? 'resync' : 'live')
    })
    this.#unsubscribe.push(stop)
  }

  /** Starts the workers. Keys may be enqueued before. */
  start(): void {
    const { workers = 1 } = this.#options
    this.#metrics.onMaxWorkers?.(this.name, workers)
    for (let n = 0; n < workers; n++) this.#workers.push(this.#work())
  }

  /** Takes no more keys; what is being reconciled may finish for `drainMilliseconds`, then its signal ends. */
  async stop(drainMilliseconds = DEFAULT_DRAIN_MILLISECONDS): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
    this.queue.shutDown()
    const workers = Promise.all(this.#workers.splice(0))
    await Promise.race([workers, sleep(drainMilliseconds, undefined, { ref: false })])
    this.#stopping.abort(new RetryableError('the controller stops'))
    // A worker that does not heed its signal must not keep the process from ending.
    await Promise.race([workers, sleep(ABORT_MILLISECONDS, undefined, { ref: false })])
  }

  /** Milliseconds by which the slowest worker is beyond its time-out and grace; 0 while all is well, however busy. */
  stuckFor(): number {
    const { timeoutMilliseconds = DEFAULT_TIMEOUT_MILLISECONDS, stuckGraceMilliseconds = DEFAULT_STUCK_GRACE_MILLISECONDS } = this.#options
    return Math.max(0, this.queue.longestRunningSeconds() * 1_000 - timeoutMilliseconds - stuckGraceMilliseconds)
  }

  async #work(): Promise<void> {
    for (;;) {
      const key = await this.queue.take()
      if (key === undefined) return
      this.#metrics.onActiveWorkers?.(this.name, ++this.#active)
      await this.#reconcile(key)
      this.#metrics.onActiveWorkers?.(this.name, --this.#active)
      this.queue.done(key)
    }
  }

  async #reconcile(key: string): Promise<void> {
    const started = performance.now()
    const timeout = AbortSignal.timeout(this.#options.timeoutMilliseconds ?? DEFAULT_TIMEOUT_MILLISECONDS)
    const signal = AbortSignal.any([this.#stopping.signal, timeout])
    let result: ReconcileResult
    try {
      result = this.#settle(key, (await this.#options.reconcile(key, signal)) ?? undefined)
    } catch (error) {
      if (timeout.aborted) this.#metrics.onTimeout?.(this.name)
      result = this.#fail(key, error, timeout.aborted)
    }
    this.#metrics.onReconcile?.(this.name, result, (performance.now() - started) / 1_000)
  }

  #settle(key: string, requeue: Requeue | undefined): ReconcileResult {
    this.queue.forget(key)
    if (requeue?.requeueAfterMilliseconds === undefined) return 'success'
    // By a timer in any case: a key that is due at once each time must not keep the process from all else.
    this.queue.addAfter(key, Math.max(1, requeue.requeueAfterMilliseconds))
    return 'requeue_after'
  }

  #fail(key: string, error: unknown, timedOut: boolean): ReconcileResult {
    const { log } = this.#options
    const fields = { controller: this.name, key, attempt: this.queue.retries(key) + 1, err: error }
    if (error instanceof TerminalError) {
      this.queue.forget(key)
      this.#metrics.onError?.(this.name, 'terminal')
      log.error({ ...fields, reason: error.reason }, 'reconcile cannot succeed')
      return 'error'
    }
    this.queue.addRateLimited(key)
    if (isConflict(error) || (error instanceof RetryableError && (isConflict(error.cause) || isNotFound(error.cause)))) {
      log.debug(fields, 'reconcile lost a race')
      return 'requeue'
    }
    const isExpected = timedOut || error instanceof RetryableError || isTransient(error)
    this.#metrics.onError?.(this.name, isExpected ? 'retryable' : 'bug')
    if (isExpected) log.warn(fields, 'reconcile failed and is tried again')
    else log.error(fields, 'reconcile failed by a bug and is tried again')
    return 'error'
  }
}

type ToKeys<T extends KubeObject> = (event: ReflectorEvent<T>) => string | readonly string[] | undefined
