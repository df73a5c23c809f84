/**
 * A copy of the API server's objects of one kind, fed by lists, watch events and the process's own writes, in whatever order they arrive.
 * It never goes back: of two states of an object the one with the greater resourceVersion stays. Each change becomes one event.
 */
import { type KubeObject, keyOf, resourceVersionOf } from './kube-object.ts'
import type { Store } from './lister.ts'

/** A change of the copy. `source` says what brought it: a (re)list, the watch, or a write of this process. */
export type ReflectorEvent<T extends KubeObject> = {
  type: 'added' | 'modified' | 'deleted'
  object: T
  old?: T
  source: 'list' | 'watch' | 'write'
}

/** What a list brought that the copy did not have; `missed` of it should have come by the watch before. */
export type ListFindings = { changed: number; missed: number }

type Source = ReflectorEvent<KubeObject>['source']

const DELETION_MEMORY_MILLISECONDS = 300_000

/** See the head of this file. */
export class Replica<T extends KubeObject> {
  readonly store: Store<T>
  readonly #emit: (event: ReflectorEvent<T>) => void
  /** Uids that this process has deleted and whose DELETED event is still to come: late events must not bring them back. */
  readonly #deletedUids = new Map<string, number>()

  constructor(store: Store<T>, emit: (event: ReflectorEvent<T>) => void) {
    this.store = store
    this.#emit = emit
  }

  /** Takes an object over unless a newer state is here already; says whether it did. `force` takes over whatever the version. */
  set(object: T, source: Source, force = false): boolean {
    if (this.#deletedUids.has(object.metadata.uid ?? '')) return false
    const old = this.store.get(keyOf(object))
    if (old && !force && resourceVersionOf(object) <= resourceVersionOf(old)) return false
    if (old && force && object.metadata.resourceVersion === old.metadata.resourceVersion) return false
    this.store.set(object)
    this.#emit(old ? { type: 'modified', object, old, source } : { type: 'added', object, source })
    return true
  }

  /** Removes an object that the watch reports as deleted, unless a younger one of the same name is here. */
  remove(object: T): void {
    this.#deletedUids.delete(object.metadata.uid ?? '')
    const old = this.store.get(keyOf(object))
    if (!old || resourceVersionOf(old) > resourceVersionOf(object)) return
    this.store.delete(keyOf(object))
    this.#emit({ type: 'deleted', object, old, source: 'watch' })
  }

  /** Removes an object that this process has deleted. Nothing happens when another object has taken the name since. */
  removeOwn(object: KubeObject): void {
    const old = this.store.get(keyOf(object))
    const uid = object.metadata.uid ?? old?.metadata.uid
    if (uid !== undefined && (old?.metadata.uid === uid || !old)) this.#deletedUids.set(uid, performance.now())
    if (!old || old.metadata.uid !== uid) return
    this.store.delete(keyOf(object))
    this.#emit({ type: 'deleted', object: old, old, source: 'write' })
  }

  /** Begins to take over a list. `knownVersion` is how far the watch had come, 0 before the first list. */
  beginList(knownVersion: number): ListSession<T> {
    return new ListSession(this, this.#deletedUids, knownVersion)
  }

  /** Removes what a list does not have any more. */
  removeUnlisted(object: T): void {
    this.store.delete(keyOf(object))
    this.#emit({ type: 'deleted', object, old: object, source: 'list' })
  }
}

/** One list, page by page, compared with the copy. */
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

  /** Takes over a page of a list made at `listVersion`. */
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

  /** Removes what the list did not have; an object written after the list was made stays: the watch will tell. */
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

  /** Deletions whose DELETED event fell into a gap between two watches. Young ones stay: the list may be older than the create. */
  #forgetDeletions(): void {
    const before = performance.now() - DELETION_MEMORY_MILLISECONDS
    for (const [uid, deletedAt] of this.#deletedUids) {
      if (deletedAt < before && !this.#uids.has(uid)) this.#deletedUids.delete(uid)
    }
  }

  /** The store behind the API server was restored from a backup or rebuilt: versions start again, and the list wins over everything. */
  #isNewHistory(listVersion: number): boolean {
    return listVersion < this.#knownVersion
  }
}
