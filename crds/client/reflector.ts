/**
 * Keeps a cache of the objects of one kind up to date: list, then watch, repeatedly. It continues after errors, unlike client-node's informer.
 *
 *   list (pages of at most 500, consistent)
 *     → watch from the list's version, with bookmarks, for 30 to 40 seconds
 *       clean end → watch again immediately     410 → list and compare     silence, reset, 5xx → watch again from the last version seen
 *
 * Watches are short, because a dead connection looks like a kind without changes. A watch that exceeds its duration is dead. A dead connection
 * is therefore detected within 45 s, as in client-go with its pings, and a new watch costs only one request.
 *
 * An event only says that an object has changed. An error in one listener does not affect the others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { toCached } from './cached-form.ts'
import { isGone, isUnreachable, isVersionTooLarge, KubeError } from './kube-error.ts'
import type { KubeHttp } from './kube-http.ts'
import { type KubeObject, keyOf, resourceVersionOf } from './kube-object.ts'
import { type Lister, type ReflectorEvent, Replica, Store } from './lister.ts'
import { type Log, silentLog } from './log.ts'
import { apiVersionOf, PAGE_SIZE, pathOf, Resource, type ResourceDefinition } from './resource.ts'
import { Backoff, MalformedWatchError, readWatchEvents, type WatchEvent } from './watch-stream.ts'

export type { ReflectorEvent } from './lister.ts'

const LIST_TIMEOUT_MILLISECONDS = 60_000

export class Reflector<T extends KubeObject> {
  readonly resource: ResourceDefinition<T>
  readonly #options: ReflectorOptions<T>
  readonly #client: Resource<T>
  readonly #store: Store<T>
  readonly #replica: Replica<T>
  readonly #backoff: Backoff
  /**
   * A separate backoff for an unreachable server. A restarted server refuses requests until it has loaded its roles and kinds, and the wait for
   * that must not depend on how long it was unreachable.
   */
  readonly #unreachableBackoff: Backoff
  readonly #log: Log
  readonly #listeners = new Set<(event: ReflectorEvent<T>) => void>()
  readonly #stopping = new AbortController()
  readonly #synced = Promise.withResolvers<void>()
  #run: Promise<void> | undefined
  #hasSynced = false
  /** The last resourceVersion of the watch; undefined before the first list. */
  #version: string | undefined
  #relist: RelistReason | undefined = 'initial'
  #listedAt = 0
  #listExpirations = 0
  #malformedAt: string | undefined
  #lastSeenAt = Date.now()
  #lastActiveAt = Date.now()

  constructor(options: ReflectorOptions<T>) {
    const {
      resource,
      http,
      namespace = http.namespace,
      store = new Store<T>(),
      log = silentLog,
      backoffMilliseconds: [base, cap] = [800, 30_000],
      unreachableCapMilliseconds = 2_000,
      random = Math.random,
    } = options
    this.#options = options
    this.resource = resource
    this.#client = new Resource(http, resource, { namespace, timeoutMilliseconds: LIST_TIMEOUT_MILLISECONDS })
    this.#store = store
    this.#replica = new Replica(store, (event) => this.#emit(event))
    this.#backoff = new Backoff({ base, cap, random })
    this.#unreachableBackoff = new Backoff({ base, cap: unreachableCapMilliseconds, random })
    this.#log = log
  }

  /** Read access to the cache. */
  get lister(): Lister<T> {
    return this.#store
  }

  /** Whether the first list is complete. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Epoch milliseconds of the last list, event, bookmark or accepted watch: the maximum age of the cache. */
  get lastSeenAt(): number {
    return this.#lastSeenAt
  }

  /** Epoch milliseconds of the last activity of the loop, including failures. If it stops changing, the loop is stuck. */
  get lastActiveAt(): number {
    return this.#lastActiveAt
  }

  /** Calls `listener` immediately for each existing object, and later for each change. Returns an unsubscribe function. */
  addListener(listener: (event: ReflectorEvent<T>) => void): () => void {
    this.#listeners.add(listener)
    for (const object of this.#store.list()) this.#deliver(listener, { type: 'added', object, source: 'list' })
    return () => this.#listeners.delete(listener)
  }

  start(): void {
    if (this.#run) throw new Error('the reflector has already been started')
    this.#run = this.#loop()
  }

  /** Ends the current watch or list. No events follow. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#run
  }

  /** Resolves when the first list is complete. Rejects with the signal's reason if aborted. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (!signal) return this.#synced.promise
    signal.throwIfAborted()
    const aborted = Promise.withResolvers<never>()
    const abort = () => aborted.reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    await Promise.race([this.#synced.promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort))
  }

  /**
   * Adds the response to a write of this process to the cache before the watch delivers it. Ignores an older state.
   * The reflector's selectors must match the object, because otherwise no event would remove it.
   */
  noteWritten(object: T): void {
    // The watch is already past this version and the object is absent: it was deleted before the response to the write was read.
    if (!this.lister.has(keyOf(object)) && resourceVersionOf(object) <= Number(this.#version ?? 0)) return
    this.#replica.set(this.#toKept(object), 'write')
  }

  /** Removes an object that this process has deleted (without finalizers), before the watch reports it. */
  noteDeleted(object: KubeObject): void {
    this.#replica.removeOwn(object)
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const started = performance.now()
      const failure = await this.#round().catch((error: unknown) => error ?? new Error('unknown'))
      if (signal.aborted) return
      this.#lastActiveAt = Date.now()
      const waitMilliseconds = failure ? this.#noteFailure(failure) : this.#rewatchDelay(started)
      await sleep(waitMilliseconds, undefined, { signal }).catch(() => {})
    }
  }

  /** Makes a list, if one is due, and one watch. */
  async #round(): Promise<void> {
    if (this.#relist) await this.#list(this.#relist)
    const end = await this.#watch()
    this.#options.metrics?.onWatchEnd?.({ resource: this.resource.plural, reason: end })
    if (performance.now() - this.#listedAt > (this.#options.relistMilliseconds ?? 600_000)) this.#relist = 'safety'
  }

  async #list(reason: RelistReason): Promise<void> {
    const knownVersion = Number(this.#version ?? 0)
    const session = this.#replica.beginList(knownVersion)
    const { labelSelector, fieldSelector, allNamespaces, pageSize = PAGE_SIZE } = this.#options
    const { signal } = this.#stopping
    // If a list has expired twice between its pages, paging is too slow. The next list has no limit.
    const maxItems = this.#listExpirations > 1 ? Number.POSITIVE_INFINITY : pageSize
    // No resourceVersion: for a list from its cache, the API server ignores the limit and sends everything at once, which cost a
    // gateway 120 MiB with 20,000 Screenshots.
    const pages = this.#client.pages({ labelSelector, fieldSelector, allNamespaces, maxItems, signal, repeat: 'never' })
    let version = ''
    for await (const { items, resourceVersion } of pages) {
      signal.throwIfAborted()
      this.#noteSign()
      version = resourceVersion
      session.add(items.map(this.#toKept), Number(version))
    }
    const { changed, missed } = session.finish(Number(version))
    this.#version = version
    this.#relist = undefined
    this.#listExpirations = 0
    this.#listedAt = performance.now()
    this.#resetWaits()
    this.#noteList(reason, changed, missed)
  }

  async #watch(): Promise<WatchEnd> {
    const idle = new AbortController()
    const signal = AbortSignal.any([this.#stopping.signal, idle.signal])
    const { idleMilliseconds = 75_000, overdueMilliseconds = 5_000 } = this.#options
    const query = this.#watchQuery()
    const watchdog = setTimeout(() => idle.abort(), idleMilliseconds)
    const overdue = setTimeout(() => idle.abort(), query.timeoutSeconds * 1_000 + overdueMilliseconds)
    try {
      const body = await this.#options.http.stream({
        path: this.#path(),
        query,
        signal,
        resource: this.resource.plural,
      })
      this.#noteSign()
      for await (const events of readWatchEvents<T>(body)) {
        if (signal.aborted) break
        watchdog.refresh()
        this.#noteSign()
        for (const event of events) this.#take(event)
      }
      return 'ended'
    } catch (error) {
      if (idle.signal.aborted) return 'idle'
      throw error
    } finally {
      clearTimeout(watchdog)
      clearTimeout(overdue)
    }
  }

  #path(): string {
    const { allNamespaces } = this.#options
    return allNamespaces ? pathOf(this.resource) : this.#client.pathOf()
  }

  #watchQuery() {
    const { labelSelector, fieldSelector, watchSeconds = [30, 40], random = Math.random } = this.#options
    const timeoutSeconds = Math.round(watchSeconds[0] + random() * (watchSeconds[1] - watchSeconds[0]))
    return { watch: true, allowWatchBookmarks: true, resourceVersion: this.#version, timeoutSeconds, labelSelector, fieldSelector }
  }

  #take({ type, object }: WatchEvent<T>): void {
    if (type === 'DELETED') this.#replica.remove(this.#toKept(this.#client.read(object)))
    else if (type !== 'BOOKMARK') this.#replica.set(this.#toKept(this.#client.read(object)), 'watch')
    if (resourceVersionOf(object) > Number(this.#version)) this.#version = object.metadata.resourceVersion
    this.#resetWaits()
  }

  #resetWaits(): void {
    this.#backoff.reset()
    this.#unreachableBackoff.reset()
  }

  /** Updates the state after a failure, and returns the wait before the next round. */
  #noteFailure(error: unknown): number {
    const isWatch = this.#relist === undefined
    const end = this.#classify(error)
    this.#options.metrics?.onWatchEnd?.({ resource: this.resource.plural, reason: end })
    // Long waits are for overloaded servers. A server that reports an expired version works normally.
    if (isWatch && end === 'expired') this.#backoff.reset()
    const retryAfter = error instanceof KubeError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0
    const backoff = isUnreachable(error) ? this.#unreachableBackoff : this.#backoff
    const waitMilliseconds = Math.max(retryAfter, backoff.next())
    this.#log.warn(
      { resource: this.resource.plural, reason: end, waitMilliseconds: Math.round(waitMilliseconds), err: error },
      'reflector failed; will retry',
    )
    return waitMilliseconds
  }

  #classify(error: unknown): WatchEnd {
    if (isGone(error) || isVersionTooLarge(error)) {
      this.#listExpirations += this.#relist ? 1 : 0
      this.#relist = this.#hasSynced ? 'expired' : 'initial'
      return 'expired'
    }
    if (!(error instanceof MalformedWatchError)) return 'failed'
    // The watch is malformed twice at the same version: only a list gets past it.
    if (this.#malformedAt === this.#version) this.#relist = 'malformed'
    this.#malformedAt = this.#version
    return 'malformed'
  }

  #rewatchDelay(started: number): number {
    return Math.max(0, (this.#options.rewatchMilliseconds ?? 1_000) - (performance.now() - started))
  }

  #noteSign(): void {
    this.#lastSeenAt = Date.now()
    this.#lastActiveAt = this.#lastSeenAt
  }

  #noteList(reason: RelistReason, changed: number, missed: number): void {
    const resource = this.resource.plural
    this.#options.metrics?.onRelist?.({ resource, reason })
    if (missed > 0) this.#options.metrics?.onMissed?.({ resource, count: missed })
    this.#log.debug({ resource, reason, objects: this.#store.size, changed, missed }, 'listed')
    this.#hasSynced = true
    this.#synced.resolve()
  }

  /** Adds apiVersion and kind, which list items lack, so that cached objects always have them. */
  readonly #toKept = (object: T): T => {
    const typed = object.kind ? object : { ...object, apiVersion: apiVersionOf(this.resource), kind: this.resource.kind }
    return (this.#options.transform ?? toCached)(typed)
  }

  #emit(event: ReflectorEvent<T>): void {
    this.#options.metrics?.onEvent?.({ resource: this.resource.plural, type: event.type })
    for (const listener of this.#listeners) this.#deliver(listener, event)
  }

  #deliver(listener: (event: ReflectorEvent<T>) => void, event: ReflectorEvent<T>): void {
    try {
      listener(event)
    } catch (error) {
      this.#log.error({ resource: this.resource.plural, type: event.type, err: error }, 'listener failed')
    }
  }
}

/** Why the reflector listed: at the start, after a 410, as a periodic check, or because the watch was malformed. */
type RelistReason = 'initial' | 'expired' | 'safety' | 'malformed'

/** Why a watch ended. */
type WatchEnd = 'ended' | 'idle' | 'expired' | 'malformed' | 'failed'

/** Feeds `reflector_relists_total{resource,reason}` and `reflector_missed_events_total{resource}` (should stay 0). */
export type ReflectorMetrics = {
  onRelist?(fields: { resource: string; reason: RelistReason }): void
  onMissed?(fields: { resource: string; count: number }): void
  onWatchEnd?(fields: { resource: string; reason: WatchEnd }): void
  onEvent?(fields: { resource: string; type: ReflectorEvent<KubeObject>['type'] }): void
}

/** The objects to follow. Only tests change the times. */
export type ReflectorOptions<T extends KubeObject> = {
  http: KubeHttp
  resource: ResourceDefinition<T>
  namespace?: string | undefined
  allNamespaces?: boolean
  labelSelector?: string
  fieldSelector?: string
  /** A store with the caller's indexes. */
  store?: Store<T>
  /** Transforms each object. Default: {@link import('./cached-form.ts').toCached}. */
  transform?: (object: T) => T
  log?: Log
  metrics?: ReflectorMetrics
  /** The most objects of a page of a list. */
  pageSize?: number
  /** Silence after which a watch counts as dead. Bookmarks come every minute, but only after the first event of the kind since the API server's start. */
  idleMilliseconds?: number
  /** Time after the requested end of a watch at which it counts as dead. */
  overdueMilliseconds?: number
  /** Range of the duration of a watch. Each watch has a random duration. */
  watchSeconds?: readonly [number, number]
  backoffMilliseconds?: readonly [number, number]
  /** Maximum wait while the API server is unreachable. It is short, because these requests cost the server nothing. */
  unreachableCapMilliseconds?: number
  /** Age of the last list after which the reflector lists again at the end of a watch. */
  relistMilliseconds?: number
  /** Minimum time between the starts of two watches. */
  rewatchMilliseconds?: number
  random?: () => number
}
