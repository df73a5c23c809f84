/**
 * Queue of keys to reconcile, as in client-go: a key is queued once however often it is added, and is never processed twice at the same
 * time. A key that is added during processing is queued again afterwards. Live changes are processed before keys from a list.
 */
import { findFirst } from '@tintype/crds/runtime/lists'
import { type Clock, systemClock } from './clock.ts'
import type { RuntimeMetrics } from './metrics.ts'

/** Priorities of queued keys: live changes are processed before keys from a list. */
export type Priority = 'live' | 'resync'

/** Delays are in milliseconds. The defaults are client-go's, except for a maximum of one minute instead of 1,000 s. */
export type WorkQueueOptions = {
  name: string
  baseDelayMilliseconds?: number
  maxDelayMilliseconds?: number
  clock?: Clock
  metrics?: RuntimeMetrics | undefined
}

type Waiting = { key: string; dueAt: number; priority: Priority }

export class WorkQueue {
  readonly name: string
  readonly #clock: Clock
  readonly #metrics: RuntimeMetrics | undefined
  readonly #labels: { name: string; controller: string }
  readonly #baseDelay: number
  readonly #maxDelay: number
  /** Queued keys in processing order (Maps keep insertion order), with the time at which they were added. */
  readonly #queued: Record<Priority, Map<string, number>> = { live: new Map(), resync: new Map() }
  readonly #processing = new Map<string, { started: number; priority: Priority }>()
  /** Keys that were added while they were being processed. */
  readonly #dirty = new Map<string, Priority>()
  readonly #waiting = new Map<string, Waiting>()
  /** The same, the next one last. One timer serves all, because ten thousand timers take 7 MiB. */
  readonly #timeline: Waiting[] = []
  #cancelTimer = () => {}
  readonly #failures = new Map<string, number>()
  readonly #takers: ((key: string | undefined) => void)[] = []
  #isShutDown = false

  constructor({ name, baseDelayMilliseconds = 5, maxDelayMilliseconds = 60_000, clock = systemClock, metrics }: WorkQueueOptions) {
    this.name = name
    this.#baseDelay = baseDelayMilliseconds
    this.#maxDelay = maxDelayMilliseconds
    this.#clock = clock
    this.#metrics = metrics
    this.#labels = { name, controller: name }
  }

  /** Queues a key. A `resync` key that is added as `live` moves up. */
  add(key: string, priority: Priority = 'live'): void {
    if (this.#isShutDown) return
    if (this.#processing.has(key)) {
      if (this.#dirty.get(key) === 'live') return
      if (!this.#dirty.has(key)) this.#metrics?.adds.inc(this.#labels)
      this.#dirty.set(key, priority)
      return
    }
    if (this.#queued.live.has(key)) return
    const since = this.#queued.resync.get(key)
    if (since !== undefined && priority === 'resync') return
    if (since === undefined) this.#metrics?.adds.inc(this.#labels)
    this.#queued.resync.delete(key)
    this.#queued[priority].set(key, since ?? this.#clock.monotonic())
    this.#noteDepth()
    this.#serve()
  }

  /** Queues a key after a delay. Of several delays for one key the earliest counts; `add` does not cancel it. */
  addAfter(key: string, milliseconds: number, priority: Priority = 'live'): void {
    if (this.#isShutDown) return
    if (milliseconds <= 0) {
      this.add(key, priority)
      return
    }
    const dueAt = this.#clock.monotonic() + milliseconds
    const known = this.#waiting.get(key)
    if (known && known.dueAt <= dueAt) return
    if (known) this.#timeline.splice(this.#timeline.indexOf(known, this.#placeOf(known.dueAt)), 1)
    const waiting = { key, dueAt, priority }
    this.#waiting.set(key, waiting)
    this.#timeline.splice(this.#placeOf(dueAt), 0, waiting)
    if (this.#timeline.at(-1) === waiting) this.#setTimer()
  }

  /** Queues a key after a delay that doubles with each call until `forget`. A key that is being processed keeps its priority. */
  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.#metrics?.retries.inc(this.#labels)
    this.addAfter(key, Math.min(this.#maxDelay, this.#baseDelay * 2 ** failures), this.#processing.get(key)?.priority)
  }

  /** Resets the backoff of a key. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** How often the key was rate-limited since the last `forget`. */
  retries(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /**
   * Returns the next key and waits for one if the queue is empty; undefined once the queue is shut down. Call `done` for each key taken.
   */
  take(): Promise<string | undefined> {
    if (this.#isShutDown) return Promise.resolve(undefined)
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    this.#takers.push(resolve)
    this.#serve()
    return promise
  }

  /** Marks a key as processed. It is queued again if it was added meanwhile. */
  done(key: string): void {
    const work = this.#processing.get(key)
    if (!work) return
    this.#processing.delete(key)
    this.#metrics?.workSeconds.observe(this.#labels, (this.#clock.monotonic() - work.started) / 1_000)
    const priority = this.#dirty.get(key)
    this.#dirty.delete(key)
    if (priority && !this.#isShutDown) {
      this.#queued[priority].set(key, this.#clock.monotonic())
      this.#noteDepth()
      this.#serve()
    }
  }

  /** Stops accepting and returning keys. Keys that are being processed may finish. */
  shutDown(): void {
    this.#isShutDown = true
    this.#cancelTimer()
    for (const resolve of this.#takers.splice(0)) resolve(undefined)
  }

  /** Number of queued keys, without those being processed and those waiting for a delay. */
  get depth(): number {
    return this.#queued.live.size + this.#queued.resync.size
  }

  /** workqueue_longest_running_processor_seconds */
  longestRunningSeconds(): number {
    const now = this.#clock.monotonic()
    return Math.max(0, ...this.#processing.values().map(({ started }) => now - started)) / 1_000
  }

  /** workqueue_unfinished_work_seconds: time spent so far on keys that are being processed. */
  unfinishedSeconds(): number {
    const now = this.#clock.monotonic()
    return this.#processing.values().reduce((sum, { started }) => sum + now - started, 0) / 1_000
  }

  #placeOf(dueAt: number): number {
    return findFirst(this.#timeline, (waiting) => waiting.dueAt <= dueAt)
  }

  #setTimer(): void {
    this.#cancelTimer()
    const next = this.#timeline.at(-1)
    if (!next || this.#isShutDown) return
    const milliseconds = Math.max(0, next.dueAt - this.#clock.monotonic())
    this.#cancelTimer = this.#clock.after(Math.min(milliseconds, MAX_TIMER_MILLISECONDS), () => this.#addDue())
  }

  #addDue(): void {
    const now = this.#clock.monotonic()
    for (let next = this.#timeline.at(-1); next && next.dueAt <= now; next = this.#timeline.at(-1)) {
      this.#timeline.pop()
      this.#waiting.delete(next.key)
      this.add(next.key, next.priority)
    }
    this.#setTimer()
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
      this.#metrics?.queueSeconds.observe(this.#labels, (now - since) / 1_000)
      this.#noteDepth()
      this.#takers.shift()?.(key)
    }
  }

  #noteDepth(): void {
    for (const priority of ['live', 'resync'] as const) this.#metrics?.depth.set({ ...this.#labels, priority }, this.#queued[priority].size)
  }
}

/** setTimeout fires immediately for delays beyond 2^31 - 1 ms. */
const MAX_TIMER_MILLISECONDS = 2_147_000_000
