import { type KubeObject, keyOf, type ObjectKey } from './kube-object.ts'

/** The values under which an index files an object; `undefined` leaves it out. */
export type IndexFunction<T> = (object: T) => string | readonly string[] | undefined

type Entry<T> = { order: string; key: ObjectKey; object: T }

type Index<T> = {
  valuesOf: IndexFunction<T>
  orderBy: ((object: T) => string) | undefined
  buckets: Map<string, Bucket<T>>
}

/** What a reader may do with the objects that a reflector keeps. The objects are shared: never change them. */
export type Lister<T extends KubeObject> = Omit<Store<T>, 'set' | 'delete'>

/**
 * Objects of one kind by key and by index. The reflector is its only writer.
 * Writing costs the same however many objects there are; an ordered index adds a binary search and a move inside one array.
 */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<ObjectKey, T>()
  readonly #indexes = new Map<string, Index<T>>()

  /** Files all objects, present and future, under the values of `valuesOf`; with `orderBy`, each value's objects are kept in that order. */
  addIndex(name: string, valuesOf: IndexFunction<T>, { orderBy }: { orderBy?: (object: T) => string } = {}): this {
    if (this.#indexes.has(name)) throw new Error(`index ${name} exists already`)
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

  /** All objects, in no promised order. */
  list(): T[] {
    return [...this.#objects.values()]
  }

  keys(): ObjectKey[] {
    return [...this.#objects.keys()]
  }

  /** The objects under a value: in order if the index has one, else as they came. */
  byIndex(name: string, value: string): T[] {
    return this.#bucket(name, value)?.all() ?? []
  }

  countByIndex(name: string, value: string): number {
    return this.#bucket(name, value)?.size ?? 0
  }

  /** The values that have at least one object now. */
  indexValues(name: string): string[] {
    return [...this.#index(name).buckets.keys()]
  }

  /** A page of an ordered index: at most `limit` objects whose order is greater than `cursor`, from the start without one. */
  after(name: string, value: string, cursor: string | undefined, limit: number): T[] {
    const bucket = this.#bucket(name, value)
    if (!this.#index(name).orderBy) throw new Error(`index ${name} has no order`)
    return bucket instanceof OrderedBucket ? bucket.after(cursor, limit) : []
  }

  /** How many objects `after` would give without a limit. */
  countAfter(name: string, value: string, cursor: string): number {
    const bucket = this.#bucket(name, value)
    if (!this.#index(name).orderBy) throw new Error(`index ${name} has no order`)
    return bucket instanceof OrderedBucket ? bucket.countAfter(cursor) : 0
  }

  /** Adds or replaces; returns what was there. */
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

  /** Removes; returns what was there. */
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

/** Kept in descending order: an id that is new goes before all others, and costs no more than an entry at the end this way. */
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
    return this.#search((entry) => entry.order <= cursor)
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
    return this.#search((entry) => entry.order < order || (entry.order === order && entry.key <= key))
  }
  /** The first place whose entry satisfies `isBeyond`, which must be false up to there and true from there on. */
  #search(isBeyond: (entry: Entry<T>) => boolean): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBeyond(this.#entries[middle]!)) high = middle
      else low = middle + 1
    }
    return low
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

/** Filed anew it replaces what is there: nearly every change of an object leaves most indexes as they are. */
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
