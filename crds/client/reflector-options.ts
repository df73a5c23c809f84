import type { KubeHttp } from './kube-http.ts'
import type { KubeObject } from './kube-object.ts'
import type { Store } from './lister.ts'
import type { Log } from './log.ts'
import type { ReflectorEvent } from './replica.ts'
import type { ResourceDefinition } from './resource.ts'

/** Why the reflector listed: at the start, after a 410, as a periodic check, or because the watch was malformed. */
export type RelistReason = 'initial' | 'expired' | 'safety' | 'malformed'

/** Why a watch ended. */
export type WatchEnd = 'ended' | 'idle' | 'expired' | 'malformed' | 'failed'

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
