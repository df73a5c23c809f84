/**
 * Takes keys from a work queue and passes each to `reconcile`: several keys at a time, but never the same key twice at once. It is
 * independent of kinds. It handles errors: retryable errors and bugs are retried with backoff. Conflicts, and writes that are refused because
 * the lease is lost, are retried too but not counted as errors. After a terminal error, the key waits for the object to change.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict, isNotFound, isTransient } from '@tintype/crds/client/kube-error'
import { type KubeObject, keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector, ReflectorEvent } from '@tintype/crds/client/reflector'
import { isFenced } from '@tintype/crds/runtime/fence'
import type { RuntimeMetrics } from './metrics.ts'
import { type Priority, WorkQueue, type WorkQueueOptions } from './work-queue.ts'

/** Optional result of a reconcile: reconcile again after this delay, even if nothing changes. */
export type Requeue = { requeueAfterMilliseconds?: number | undefined }

/** One level-triggered reconcile of one key. The signal is aborted at the timeout and when the controller stops. */
// biome-ignore lint/suspicious/noConfusingVoidType: a reconcile without a requeue may return nothing
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Requeue | undefined | void>

export type ControllerOptions = {
  name: string
  reconcile: Reconcile
  log: Log
  workers?: number
  /** Timeout of one reconcile. When it expires, the signal is aborted and the reconcile counts as failed. */
  timeoutMilliseconds?: number
  queue?: Omit<WorkQueueOptions, 'name' | 'metrics'>
  /** A worker that keeps a key this long after its timeout ignores its signal: the liveness probe reports the operator as stuck. */
  stuckGraceMilliseconds?: number
  metrics?: RuntimeMetrics | undefined
}

const DEFAULT_TIMEOUT_MILLISECONDS = 60_000
const DEFAULT_STUCK_GRACE_MILLISECONDS = 60_000
const DEFAULT_DRAIN_MILLISECONDS = 30_000
const ABORT_MILLISECONDS = 1_000

/** Result of a reconcile, with controller-runtime's labels. */
type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after'

export class Controller {
  readonly name: string
  readonly queue: WorkQueue
  readonly #options: ControllerOptions
  readonly #metrics: RuntimeMetrics | undefined
  readonly #labels: { controller: string }
  readonly #stopping = new AbortController()
  readonly #onStop: (() => void)[] = []
  readonly #workers: Promise<void>[] = []
  #active = 0

  constructor(options: ControllerOptions) {
    const { name, metrics, queue = {} } = options
    this.name = name
    this.#options = options
    this.#metrics = metrics
    this.#labels = { controller: name }
    this.queue = new WorkQueue({ ...queue, name, metrics })
  }

  enqueue(key: string, priority: Priority = 'live'): void {
    this.queue.add(key, priority)
  }

  enqueueAfter(key: string, milliseconds: number): void {
    this.queue.addAfter(key, milliseconds)
  }

  /** Enqueues keys for each change of a reflector. `toKeys` maps a change to keys; default: the key of the object. */
  watch<T extends KubeObject>(reflector: Reflector<T>, toKeys: ToKeys<T> = ({ object }) => keyOf(object)): void {
    this.#listen(reflector, toKeys, (key, { source }) => this.enqueue(key, source === 'list' ? 'resync' : 'live'))
  }

  /** The same, but changes are collected for a while before a key is reconciled. */
  watchAndCollect<T extends KubeObject>(milliseconds: number, reflector: Reflector<T>, toKeys: ToKeys<T>): void {
    this.#listen(reflector, toKeys, (key) => this.enqueueAfter(key, milliseconds))
  }

  #listen<T extends KubeObject>(reflector: Reflector<T>, toKeys: ToKeys<T>, add: (key: string, event: ReflectorEvent<T>) => void): void {
    const unsubscribe = reflector.addListener((event) => {
      const keys = toKeys(event) ?? []
      for (const key of typeof keys === 'string' ? [keys] : keys) add(key, event)
    })
    this.onStop(unsubscribe)
  }

  /** Calls `end` when the controller begins to stop. */
  onStop(end: () => void): void {
    this.#onStop.push(end)
  }

  /** Starts the workers. Keys may be enqueued before. */
  start(): void {
    const { workers = 1 } = this.#options
    this.#metrics?.maxWorkers.set(this.#labels, workers)
    for (let n = 0; n < workers; n++) this.#workers.push(this.#work())
  }

  /** Stops taking keys. Running reconciles may finish within `drainMilliseconds`; then their signal is aborted. */
  async stop(drainMilliseconds = DEFAULT_DRAIN_MILLISECONDS): Promise<void> {
    for (const end of this.#onStop.splice(0)) end()
    this.queue.shutDown()
    const workers = Promise.all(this.#workers.splice(0))
    await Promise.race([workers, sleep(drainMilliseconds, undefined, { ref: false })])
    this.#stopping.abort(new RetryableError('the controller stops'))
    // A worker that ignores its signal must not keep the process from ending.
    await Promise.race([workers, sleep(ABORT_MILLISECONDS, undefined, { ref: false })])
  }

  /** Milliseconds by which the slowest worker exceeds its timeout and grace period; 0 while no worker is stuck, however busy. */
  stuckFor(): number {
    const { timeoutMilliseconds = DEFAULT_TIMEOUT_MILLISECONDS, stuckGraceMilliseconds = DEFAULT_STUCK_GRACE_MILLISECONDS } = this.#options
    return Math.max(0, this.queue.longestRunningSeconds() * 1_000 - timeoutMilliseconds - stuckGraceMilliseconds)
  }

  async #work(): Promise<void> {
    for (;;) {
      const key = await this.queue.take()
      if (key === undefined) return
      this.#metrics?.activeWorkers.set(this.#labels, ++this.#active)
      await this.#reconcile(key)
      this.#metrics?.activeWorkers.set(this.#labels, --this.#active)
      this.queue.done(key)
    }
  }

  async #reconcile(key: string): Promise<void> {
    const started = performance.now()
    const timeout = AbortSignal.timeout(this.#options.timeoutMilliseconds ?? DEFAULT_TIMEOUT_MILLISECONDS)
    const signal = AbortSignal.any([this.#stopping.signal, timeout])
    let result: ReconcileResult
    try {
      result = this.#succeed(key, (await this.#options.reconcile(key, signal)) ?? undefined)
    } catch (error) {
      if (timeout.aborted) this.#metrics?.timeouts.inc(this.#labels)
      result = this.#fail(key, error, timeout.aborted)
    }
    this.#metrics?.reconciles.inc({ ...this.#labels, result })
    this.#metrics?.reconcileSeconds.observe(this.#labels, (performance.now() - started) / 1_000)
  }

  #succeed(key: string, requeue: Requeue | undefined): ReconcileResult {
    this.queue.forget(key)
    if (requeue?.requeueAfterMilliseconds === undefined) return 'success'
    // Always use a timer: a key that is due at once every time must not starve everything else.
    this.queue.addAfter(key, Math.max(1, requeue.requeueAfterMilliseconds))
    return 'requeue_after'
  }

  #fail(key: string, error: unknown, timedOut: boolean): ReconcileResult {
    const { log } = this.#options
    const fields = { controller: this.name, key, attempt: this.queue.retries(key) + 1, err: error }
    if (error instanceof TerminalError) {
      this.queue.forget(key)
      this.#metrics?.errors.inc(this.#labels)
      this.#metrics?.terminalErrors.inc(this.#labels)
      log.error({ ...fields, reason: error.reason }, 'reconcile failed; will not retry')
      return 'error'
    }
    this.queue.addRateLimited(key)
    if (isFenced(error)) {
      log.debug(fields, 'reconcile ended because the lease is lost')
      return 'requeue'
    }
    if (isConflict(error) || (error instanceof RetryableError && (isConflict(error.cause) || isNotFound(error.cause)))) {
      log.debug(fields, 'reconcile conflicted with another write; will retry')
      return 'requeue'
    }
    const isExpected = timedOut || error instanceof RetryableError || isTransient(error)
    this.#metrics?.errors.inc(this.#labels)
    if (!isExpected) this.#metrics?.bugs.inc(this.#labels)
    if (isExpected) log.warn(fields, 'reconcile failed; will retry')
    else log.error(fields, 'reconcile failed unexpectedly; will retry')
    return 'error'
  }
}

type ToKeys<T extends KubeObject> = (event: ReflectorEvent<T>) => string | readonly string[] | undefined

/** An external problem that a retry may solve: the work queue retries with backoff. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError'
}

/** A retry cannot help: the key is dropped until its object changes. `reason` is a condition reason in PascalCase. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** The part of a reflector that the liveness probe reads. */
type WatchedReflector = { resource: { plural: string }; lastActiveAt: number }

/** The part of a controller that the liveness probe reads. */
type WatchedController = { name: string; stuckFor(): number }

/** Longer than the longest idle time of a healthy reflector: 75 s of silence before the watchdog, 60 s for a list, 30 s of backoff. */
const REFLECTOR_STANDSTILL_MILLISECONDS = 180_000

/**
 * Describes the problems that a restart would fix; empty when the process is healthy.
 * Only workers and reflectors that are stuck count. A long queue and a slow or unreachable API server do not: a restart would make those
 * worse.
 */
export function findProblems({
  controllers,
  reflectors,
  now,
}: {
  controllers: readonly WatchedController[]
  reflectors: readonly WatchedReflector[]
  now: number
}): string[] {
  const stuck = controllers
    .filter((controller) => controller.stuckFor() > 0)
    .map((controller) => `a worker of controller ${controller.name} is stuck, ${Math.round(controller.stuckFor() / 1_000)} s overdue`)
  const silent = reflectors
    .map(({ resource, lastActiveAt }) => ({ name: resource.plural, milliseconds: now - lastActiveAt }))
    .filter(({ milliseconds }) => milliseconds > REFLECTOR_STANDSTILL_MILLISECONDS)
    .map(({ name, milliseconds }) => `the reflector of ${name} has been inactive for ${Math.round(milliseconds / 1_000)} s`)
  return [...stuck, ...silent]
}
