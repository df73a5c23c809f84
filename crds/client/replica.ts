/**
 * A cache of the API server's objects of one kind. Lists, watch events and the process's own writes update it, in any order.
 * The state with the higher resourceVersion wins, so an object never returns to an older state. Each change emits one event.
 */
import { type KubeObject, keyOf, resourceVersionOf } from './kube-object.ts'
import type { Store } from './lister.ts'

/** A change of the cache. `source` is the cause: a list, the watch, or a write of this process. */
export type ReflectorEvent<T extends KubeObject> = {
  type: 'added' | 'modified' | 'deleted'
  object: T
  old?: T
  source: 'list' | 'watch' | 'write'
}

/** Changes found by a list; the watch should have delivered `missed` of them. */
export type ListFindings = { changed: number; missed: number }

type Source = ReflectorEvent<KubeObject>['source']

const DELETION_MEMORY_MILLISECONDS = 300_000

export class Replica<T extends KubeObject> {
  readonly store: Store<T>
  readonly #emit: (event: ReflectorEvent<T>) => void
  /** Uids that this process has deleted and whose DELETED event has not arrived. Late events must not restore these objects. */
  readonly #deletedUids = new Map<string, number>()

  constructor(store: Store<T>, emit: (event: ReflectorEvent<T>) => void) {
    this.store = store
    this.#emit = emit
  }

  /** Stores an object unless the cache has a newer state. Returns whether it did. `force` ignores the version. */
  set(object: T, source: Source, force = false): boolean {
    if (this.#deletedUids.has(object.metadata.uid ?? '')) return false
    const old = this.store.get(keyOf(object))
    if (old && !force && resourceVersionOf(object) <= resourceVersionOf(old)) return false
    if (old && force && object.metadata.resourceVersion === old.metadata.resourceVersion) return false
    this.store.set(object)
    this.#emit(old ? { type: 'modified', object, old, source } : { type: 'added', object, source })
    return true
  }

  /** Removes an object that the watch reports as deleted, unless the cache has a newer one with the same name. */
  remove(object: T): void {
    this.#deletedUids.delete(object.metadata.uid ?? '')
    const old = this.store.get(keyOf(object))
    if (!old || resourceVersionOf(old) > resourceVersionOf(object)) return
    this.store.delete(keyOf(object))
    this.#emit({ type: 'deleted', object, old, source: 'watch' })
  }

  /** Removes an object that this process has deleted. Does nothing if another object has the name now. */
  removeOwn(object: KubeObject): void {
    const old = this.store.get(keyOf(object))
    const uid = object.metadata.uid ?? old?.metadata.uid
    if (uid !== undefined && (old?.metadata.uid === uid || !old)) this.#deletedUids.set(uid, performance.now())
    if (!old || old.metadata.uid !== uid) return
    this.store.delete(keyOf(object))
    this.#emit({ type: 'deleted', object: old, old, source: 'write' })
  }

  /** Starts to process a list. `knownVersion` is the last version of the watch, or 0 before the first list. */
  beginList(knownVersion: number): ListSession<T> {
    return new ListSession(this, this.#deletedUids, knownVersion)
  }

  /** Removes an object that is missing in a list. */
  removeUnlisted(object: T): void {
    this.store.delete(keyOf(object))
    this.#emit({ type: 'deleted', object, old: object, source: 'list' })
  }
}

/** Compares one list, page by page, with the cache. */
export class ListSession<T extends KubeObject> {
  readonly #replica: Replica<T>
  readonly #deletedUids: Map<string, number>
  readonly #knownVersion: number
  readonly #keys = new Set<string>()
  readonly #uids = new Set<string>()
  readonly #findings: ListFindings = { changed: 0, missed: 0 }

  constructor(replica: Replica<T>, deletedUids: Map<string, number>, knownVersion: number) {
    this.#replica = replica
    this.#deletedUids = deletedUids
    this.#knownVersion = knownVersion
  }

  /** Processes a page of a list at `listVersion`. */
  add(objects: readonly T[], listVersion: number): void {
    const force = this.#isNewHistory(listVersion)
    for (const object of objects) {
      this.#keys.add(keyOf(object))
      this.#uids.add(object.metadata.uid ?? '')
      if (!this.#replica.set(object, 'list', force)) continue
      this.#findings.changed++
      if (resourceVersionOf(object) <= this.#knownVersion) this.#findings.missed++
    }
  }

  /** Removes objects that the list does not have. Keeps objects that are newer than the list; the watch will update them. */
  finish(listVersion: number): ListFindings {
    const force = this.#isNewHistory(listVersion)
    for (const object of this.#replica.store.list()) {
      if (this.#keys.has(keyOf(object)) || (!force && resourceVersionOf(object) > listVersion)) continue
      this.#replica.removeUnlisted(object)
      this.#findings.changed++
      if (listVersion === this.#knownVersion) this.#findings.missed++
    }
    this.#forgetDeletions()
    return this.#findings
  }

  /** Forgets deletions whose DELETED event was lost between two watches. Keeps recent ones, because the list may be older than the creation. */
  #forgetDeletions(): void {
    const before = performance.now() - DELETION_MEMORY_MILLISECONDS
    for (const [uid, deletedAt] of this.#deletedUids) {
      if (deletedAt < before && !this.#uids.has(uid)) this.#deletedUids.delete(uid)
    }
  }

  /** True if the API server's store was restored from a backup or rebuilt: versions start again, and the list replaces everything. */
  #isNewHistory(listVersion: number): boolean {
    return listVersion < this.#knownVersion
  }
}
