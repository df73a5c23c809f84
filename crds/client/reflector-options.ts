import type { KubeHttp } from './kube-http.ts'
import type { KubeObject } from './kube-object.ts'
import type { Store } from './lister.ts'
import type { Log } from './log.ts'
import type { ReflectorEvent } from './replica.ts'
import type { ResourceDefinition } from './resource.ts'

/** Why a list was made: at the start, after a 410, as a check now and then, or because the watch could not be read. */
export type RelistReason = 'initial' | 'expired' | 'safety' | 'malformed'

/** How a watch ended. */
export type WatchEnd = 'ended' | 'idle' | 'expired' | 'malformed' | 'failed'

/** Feeds `reflector_relists_total{resource,reason}` and `reflector_missed_events_total{resource}` (should stay 0). */
export type ReflectorMetrics = {
  onRelist?(fields: { resource: string; reason: RelistReason }): void
  onMissed?(fields: { resource: string; count: number }): void
  onWatchEnd?(fields: { resource: string; reason: WatchEnd }): void
  onEvent?(fields: { resource: string; type: ReflectorEvent<KubeObject>['type'] }): void
}

/** Which objects to follow. The times are for tests to shorten; their defaults are the ones for production. */
export type ReflectorOptions<T extends KubeObject> = {
  http: KubeHttp
  resource: ResourceDefinition<T>
  namespace?: string | undefined
  allNamespaces?: boolean
  labelSelector?: string
  fieldSelector?: string
  /** A store with indexes of the caller's. */
  store?: Store<T>
  /** What to keep of an object; by default all but managedFields and kubectl's last-applied annotation. */
  transform?: (object: T) => T
  log?: Log
  metrics?: ReflectorMetrics
  pageSize?: number
  /** Silence after which a watch counts as dead. Bookmarks come once a minute, but not before the kind's first event since the API server's start. */
  idleMilliseconds?: number
  /** How long a watch may be open beyond the time that the API server was told, before it counts as dead. */
  overdueMilliseconds?: number
  /** How long the API server keeps a watch open, drawn anew for each. */
  watchSeconds?: readonly [number, number]
  backoffMilliseconds?: readonly [number, number]
  /** The longest wait while nobody answers: asking a server that is not there costs it nothing. */
  unreachableCapMilliseconds?: number
  /** Age of the last list after which the next end of a watch is used for another. */
  relistMilliseconds?: number
  /** The least time between the starts of two watches. */
  rewatchMilliseconds?: number
  random?: () => number
}
