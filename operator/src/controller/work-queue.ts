/**
 * Keys that wait to be reconciled, as in client-go: a key is queued once however often it is added, is never worked on twice at the same
 * time, and one that is added meanwhile comes back afterwards. What just happened goes before what a list brought.
 */
import { type Clock, systemClock } from './clock.ts'
import type { Priority, WorkQueueMetrics } from './metrics.ts'

/** Delays are in milliseconds; the defaults are client-go's, but for a cap of a minute instead of 1,000 s. */
export type WorkQueueOptions = {
  name: string
  baseDelayMilliseconds?: number
  maxDelayMilliseconds?: number
  clock?: Clock
  metrics?: WorkQueueMetrics
}

type Waiting = { dueAt: number; priority: Priority; cancel: () => void }

export class WorkQueue {
  readonly name: string
  readonly #clock: Clock
  readonly #metrics: WorkQueueMetrics
  readonly #baseDelay: number
  readonly #maxDelay: number
  /** Keys in the order of their turn (Maps keep it), with the time they came. */
  readonly #queued: Record<Priority, Map<string, number>> = { live: new Map(), resync: new Map() }
  readonly #processing = new Map<string, { started: number; priority: Priority }>()
  /** Added while being worked on. */
  readonly #dirty = new Map<string, Priority>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #failures = new Map<string, number>()
  readonly #takers: ((key: string | undefined) => void)[] = []
  readonly #onDrained: (() => void)[] = []
  #isShutDown = false

  constructor({ name, baseDelayMilliseconds = 5, maxDelayMilliseconds = 60_000, clock = systemClock, metrics = {} }: WorkQueueOptions) {
    this.name = name
    this.#baseDelay = baseDelayMilliseconds
    this.#maxDelay = maxDelayMilliseconds
    this.#clock = clock
    this.#metrics = metrics
  }

  /** Queues a key. A key that waits as `resync` and is added as `live` moves up. */
  add(key: string, priority: Priority = 'live'): void {
    if (this.#isShutDown) return
    if (this.#processing.has(key)) {
      if (this.#dirty.get(key) === 'live') return
      if (!this.#dirty.has(key)) this.#metrics.onAdd?.(this.name)
      this.#dirty.set(key, priority)
      return
    }
    if (this.#queued.live.has(key)) return
    const since = this.#queued.resync.get(key)
    if (since !== undefined && priority === 'resync') return
    if (since === undefined) this.#metrics.onAdd?.(this.name)
    this.#queued.resync.delete(key)
    this.#queued[priority].set(key, since ?? this.#clock.monotonic())
    this.#noteDepth()
    this.#serve()
  }

  /** Queues a key later. Of several times for one key the earliest counts; `add` does not cancel it. */
  addAfter(key: string, milliseconds: number, priority: Priority = 'live'): void {
    if (this.#isShutDown) return
    if (milliseconds <= 0) {
      this.add(key, priority)
      return
    }
    const dueAt = this.#clock.monotonic() + milliseconds
    const waiting = this.#waiting.get(key)
    if (waiting && waiting.dueAt <= dueAt) return
    waiting?.cancel()
    const cancel = this.#clock.after(Math.min(milliseconds, MAX_TIMER_MILLISECONDS), () => {
      this.#waiting.delete(key)
      this.addAfter(key, dueAt - this.#clock.monotonic(), priority)
    })
    this.#waiting.set(key, { dueAt, priority, cancel })
  }

  /** Queues a key after a delay that doubles with each call until `forget`. A key being worked on keeps its priority. */
  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.#metrics.onRetry?.(this.name)
    this.addAfter(key, Math.min(this.#maxDelay, this.#baseDelay * 2 ** failures), this.#processing.get(key)?.priority)
  }

  /** Ends a key's backoff. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** How often the key was rate-limited since the last `forget`. */
  retries(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** The next key, waiting for one if need be; undefined once the queue is shut down. Each key taken must be given back by `done`. */
  take(): Promise<string | undefined> {
    if (this.#isShutDown) return Promise.resolve(undefined)
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    this.#takers.push(resolve)
    this.#serve()
    return promise
  }

  /** Gives a key back; it comes again if it was added meanwhile. */
  done(key: string): void {
    const work = this.#processing.get(key)
    if (!work) return
    this.#processing.delete(key)
    this.#metrics.onDone?.(this.name, (this.#clock.monotonic() - work.started) / 1_000)
    const priority = this.#dirty.get(key)
    this.#dirty.delete(key)
    if (priority && !this.#isShutDown) {
      this.#queued[priority].set(key, this.#clock.monotonic())
      this.#noteDepth()
      this.#serve()
    }
    if (this.#isShutDown && this.#processing.size === 0) for (const resolve of this.#onDrained.splice(0)) resolve()
  }

  /** Takes no more keys in and gives none out; keys being worked on may finish. */
  shutDown(): void {
    this.#isShutDown = true
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
    for (const resolve of this.#takers.splice(0)) resolve(undefined)
  }

  /** Resolves when a queue that was shut down has no key in work any more. */
  drained(): Promise<void> {
    if (this.#processing.size === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onDrained.push(resolve)
    return promise
  }

  /** Keys whose turn has not come; those being worked on and those that wait for a time are not counted. */
  get depth(): number {
    return this.#queued.live.size + this.#queued.resync.size
  }

  /** workqueue_longest_running_processor_seconds */
  longestRunningSeconds(): number {
    const now = this.#clock.monotonic()
    return Math.max(0, ...this.#processing.values().map(({ started }) => now - started)) / 1_000
  }

  /** workqueue_unfinished_work_seconds: the time spent so far on keys being worked on. */
  unfinishedSeconds(): number {
    const now = this.#clock.monotonic()
    return this.#processing.values().reduce((sum, { started }) => sum + now - started, 0) / 1_000
  }

  #serve(): void {
    while (this.#takers.length > 0) {
      const priority: Priority = this.#queued.live.size > 0 ? 'live' : 'resync'
      const first = this.#queued[priority].entries().next()
      if (first.done) return
      const [key, since] = first.value
      const now = this.#clock.monotonic()
      this.#queued[priority].delete(key)
      this.#processing.set(key, { started: now, priority })
      this.#metrics.onTake?.(this.name, (now - since) / 1_000)
      this.#noteDepth()
      this.#takers.shift()?.(key)
    }
  }

  #noteDepth(): void {
    this.#metrics.onDepth?.(this.name, 'live', this.#queued.live.size)
    this.#metrics.onDepth?.(this.name, 'resync', this.#queued.resync.size)
  }
}

/** setTimeout fires at once beyond 2^31 - 1 ms. */
const MAX_TIMER_MILLISECONDS = 2_147_000_000
