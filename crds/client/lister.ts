import { findFirst } from '../src/runtime/lists.ts'
import { type KubeObject, keyOf, type ObjectKey, resourceVersionOf } from './kube-object.ts'

/** The index values of an object; `undefined` excludes it from the index. */
type IndexFunction<T> = (object: T) => string | readonly string[] | undefined

type Entry<T> = { order: string; key: ObjectKey; object: T }

type Index<T> = {
  valuesOf: IndexFunction<T>
  orderBy: ((object: T) => string) | undefined
  buckets: Map<string, Bucket<T>>
}

/** Read access to the cache of a reflector. The objects are shared: never change them. */
export type Lister<T extends KubeObject> = Omit<Store<T>, 'set' | 'delete'>

/**
 * Objects of one kind by key and by index. Only the reflector writes to it.
 * The cost of a write does not depend on the number of objects. An ordered index adds a binary search and an array insertion.
 */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<ObjectKey, T>()
  readonly #indexes = new Map<string, Index<T>>()

  /** Adds an index for all present and future objects, unless it exists. With `orderBy`, the objects of each value are sorted. */
  addIndex(name: string, valuesOf: IndexFunction<T>, { orderBy }: { orderBy?: (object: T) => string } = {}): this {
    const known = this.#indexes.get(name)
    if (known?.valuesOf === valuesOf) return this
    if (known) throw new Error(`index ${name} exists already`)
    const index: Index<T> = { valuesOf, orderBy, buckets: new Map() }
    this.#indexes.set(name, index)
    for (const [key, object] of this.#objects) file(index, key, object)
    return this
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key)
  }

  has(key: ObjectKey): boolean {
    return this.#objects.has(key)
  }

  get size(): number {
    return this.#objects.size
  }

  /** All objects, in no particular order. */
  list(): T[] {
    return [...this.#objects.values()]
  }

  keys(): ObjectKey[] {
    return [...this.#objects.keys()]
  }

  /** The objects with an index value, sorted if the index has an order, else in order of insertion. */
  byIndex(name: string, value: string): T[] {
    return this.#bucket(name, value)?.all() ?? []
  }

  countByIndex(name: string, value: string): number {
    return this.#bucket(name, value)?.size ?? 0
  }

  /** The index values with at least one object. */
  indexValues(name: string): string[] {
    return [...this.#index(name).buckets.keys()]
  }

  /** A page of an ordered index: at most `limit` objects after `cursor`, or from the start if it is undefined. */
  after(name: string, value: string, cursor: string | undefined, limit: number): T[] {
    const bucket = this.#bucket(name, value)
    if (!this.#index(name).orderBy) throw new Error(`index ${name} has no order`)
    return bucket instanceof OrderedBucket ? bucket.after(cursor, limit) : []
  }

  /** The number of objects that `after` would return without a limit. */
  countAfter(name: string, value: string, cursor: string): number {
    const bucket = this.#bucket(name, value)
    if (!this.#index(name).orderBy) throw new Error(`index ${name} has no order`)
    return bucket instanceof OrderedBucket ? bucket.countAfter(cursor) : 0
  }

  /** Adds or replaces an object. Returns the previous one. */
  set(object: T): T | undefined {
    const key = keyOf(object)
    const old = this.#objects.get(key)
    for (const index of this.#indexes.values()) {
      if (old && !staysInPlace(index, old, object)) unfile(index, key, old)
      file(index, key, object)
    }
    this.#objects.set(key, object)
    return old
  }

  /** Removes an object and returns it. */
  delete(key: ObjectKey): T | undefined {
    const old = this.#objects.get(key)
    if (!old) return undefined
    for (const index of this.#indexes.values()) unfile(index, key, old)
    this.#objects.delete(key)
    return old
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name)
    if (!index) throw new Error(`there is no index ${name}`)
    return index
  }

  #bucket(name: string, value: string): Bucket<T> | undefined {
    return this.#index(name).buckets.get(value)
  }
}

type Bucket<T> = PlainBucket<T> | OrderedBucket<T>

class PlainBucket<T> {
  readonly #objects = new Map<ObjectKey, T>()
  get size(): number {
    return this.#objects.size
  }
  all(): T[] {
    return [...this.#objects.values()]
  }
  add({ key, object }: Entry<T>): void {
    this.#objects.set(key, object)
  }
  remove({ key }: Entry<T>): void {
    this.#objects.delete(key)
  }
}

/** Sorted in descending order, because new ids sort before all others: they are appended, which is cheap. */
class OrderedBucket<T> {
  readonly #entries: Entry<T>[] = []
  get size(): number {
    return this.#entries.length
  }
  all(): T[] {
    return this.#entries.map(({ object }) => object).reverse()
  }
  after(cursor: string | undefined, limit: number): T[] {
    const end = cursor === undefined ? this.#entries.length : this.countAfter(cursor)
    return this.#entries
      .slice(Math.max(0, end - limit), end)
      .map(({ object }) => object)
      .reverse()
  }
  countAfter(cursor: string): number {
    return findFirst(this.#entries, (entry) => entry.order <= cursor)
  }
  /** Replaces an entry of the same key and order. */
  add(entry: Entry<T>): void {
    const place = this.#place(entry)
    this.#entries.splice(place, this.#has(place, entry) ? 1 : 0, entry)
  }
  remove(entry: Entry<T>): void {
    const place = this.#place(entry)
    if (this.#has(place, entry)) this.#entries.splice(place, 1)
  }
  #has(place: number, { order, key }: Entry<T>): boolean {
    const entry = this.#entries[place]
    return entry?.key === key && entry.order === order
  }
  #place({ order, key }: Entry<T>): number {
    return findFirst(this.#entries, (entry) => entry.order < order || (entry.order === order && entry.key <= key))
  }
}

function file<T>(index: Index<T>, key: ObjectKey, object: T): void {
  for (const value of valuesIn(index, object)) {
    let bucket = index.buckets.get(value)
    if (!bucket) {
      bucket = index.orderBy ? new OrderedBucket<T>() : new PlainBucket<T>()
      index.buckets.set(value, bucket)
    }
    bucket.add({ key, object, order: index.orderBy?.(object) ?? '' })
  }
}

function unfile<T>(index: Index<T>, key: ObjectKey, object: T): void {
  for (const value of valuesIn(index, object)) {
    const bucket = index.buckets.get(value)
    if (!bucket) continue
    bucket.remove({ key, object, order: index.orderBy?.(object) ?? '' })
    if (bucket.size === 0) index.buckets.delete(value)
  }
}

/** True if the new object has the same place in the index and can replace the old one there. Most changes do not affect most indexes. */
function staysInPlace<T>({ valuesOf, orderBy }: Index<T>, old: T, object: T): boolean {
  const values = valuesOf(object)
  const before = valuesOf(old)
  const isSame = typeof values === 'object' || typeof before === 'object' ? false : values === before
  return isSame && (values === undefined || orderBy?.(old) === orderBy?.(object))
}

function valuesIn<T>(index: Index<T>, object: T): Iterable<string> {
  const values = index.valuesOf(object)
  if (values === undefined) return []
  return typeof values === 'string' ? [values] : new Set(values)
}

/**
 * A cache of the API server's objects of one kind. Lists, watch events and the process's own writes update it, in any order.
 * The state with the higher resourceVersion wins, so an object never returns to an older state. Each change emits one event.
 */

/** A change of the cache. `source` is the cause: a list, the watch, or a write of this process. */
export type ReflectorEvent<T extends KubeObject> = {
  type: 'added' | 'modified' | 'deleted'
  object: T
  old?: T
  source: 'list' | 'watch' | 'write'
}

/** Changes found by a list; the watch should have delivered `missed` of them. */
type ListFindings = { changed: number; missed: number }

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
class ListSession<T extends KubeObject> {
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
