import { createHash } from 'node:crypto'
import { ObjectTooLargeError, type WriteCondition } from '../../../crds/storage/port.ts'
import { RetryableError } from '../../../operator/src/controller-runtime/controller.ts'
import type { Storage } from '../../../operator/src/storage/storage.ts'

/** An operation on a bucket. */
export type BucketCall = 'list' | 'read' | 'exists' | 'write' | 'remove' | 'copy'

/**
 * An in-memory bucket that behaves like S3: lists are sorted, after a key and with common prefixes, writes can have conditions, and ETags depend on
 * the content. test/integration/storage/memory-bucket.test.ts shows the same on a real store.
 */
export class MemoryBucket {
  readonly objects = new Map<string, string>()
  /** Time at which each object was stored. Default: 1970. */
  readonly modified = new Map<string, Date>()
  /** Called before each operation. An error that it throws fails the operation. */
  beforeCall: (what: BucketCall, key: string) => void = () => {}

  keys(prefix = ''): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort()
  }

  /** Makes the store unavailable for some operations, or for all. Returns what ends it. */
  goAway(...calls: BucketCall[]): () => void {
    this.beforeCall = (what, key) => {
      if (calls.length === 0 || calls.includes(what)) throw new RetryableError(`${what} ${key}: the store is unavailable`)
    }
    return () => {
      this.beforeCall = () => {}
    }
  }

  list(
    prefix: string,
    { after = '', limit = 1_000, folders = false }: { after?: string | undefined; limit?: number; folders?: boolean } = {},
  ) {
    this.beforeCall('list', prefix)
    const rolled = (key: string): string => {
      const end = folders ? key.indexOf('/', prefix.length) : -1
      return end === -1 ? key : key.slice(0, end + 1)
    }
    const found = new Set(
      this.keys(prefix)
        .filter((key) => key > after)
        .map(rolled),
    )
    const page = [...found].slice(0, Math.min(limit, 1_000))
    // The client of the store lists the folders of a page after its files.
    const isFolder = (key: string): boolean => folders && key.endsWith('/')
    return [...page.filter((key) => !isFolder(key)), ...page.filter(isFolder)]
  }

  /** The ETag of an object, without quotes. */
  etagOf(key: string): string | undefined {
    const text = this.objects.get(key)
    return text === undefined ? undefined : createHash('md5').update(text).digest('hex')
  }

  #modifiedAt(key: string): Date {
    return this.modified.get(key) ?? new Date(0)
  }

  #exists(key: string): boolean {
    this.beforeCall('exists', key)
    return this.objects.has(key)
  }

  #read(key: string, maxBytes = Number.POSITIVE_INFINITY): string | undefined {
    this.beforeCall('read', key)
    const text = this.objects.get(key)
    if (text !== undefined && Buffer.byteLength(text) > maxBytes) throw new ObjectTooLargeError(key, maxBytes)
    return text
  }

  #write(key: string, text: string, { ifAbsent = false, ifMatch }: WriteCondition = {}): string | undefined {
    this.beforeCall('write', key)
    const present = this.etagOf(key)
    if ((ifAbsent && present !== undefined) || (ifMatch !== undefined && ifMatch !== present)) return undefined
    this.objects.set(key, text)
    return this.etagOf(key)
  }

  #remove(what: string, keys: readonly string[]): void {
    this.beforeCall('remove', what)
    for (const key of keys) this.objects.delete(key)
  }

  #copy({ from, etag, to }: Parameters<Storage['copy']>[0]): string | undefined {
    this.beforeCall('copy', from)
    const text = this.objects.get(from)
    if (text === undefined || this.etagOf(from) !== etag) return undefined
    this.objects.set(to, text)
    return this.etagOf(to)
  }

  /** The operator's view of it. */
  get storage(): Storage {
    return {
      ensureBucket: async () => undefined,
      list: async (...args) => this.list(...args),
      listObjects: async (prefix, options) => this.list(prefix, options).map((key) => ({ key, lastModified: this.#modifiedAt(key) })),
      exists: async (key) => this.#exists(key),
      readText: async (key, maxBytes) => this.#read(key, maxBytes),
      write: async (key, text) => void this.#write(key, text),
      remove: async (keys) => this.#remove(keys[0] ?? '', keys),
      removePrefix: async (prefix) => this.#remove(prefix, this.keys(prefix)),
      copy: async (copied) => this.#copy(copied),
      presignGet: ({ key, etag }) => ({ url: `memory:/${key}`, headers: etag === undefined ? {} : { 'if-match': `"${etag}"` } }),
      presignPut: ({ key, contentType }) => ({
        url: `memory:/${key}`,
        headers: { 'content-type': contentType, 'if-none-match': '*' },
      }),
    }
  }

  /** The gateway's view of it. */
  get store() {
    return {
      ...this.storage,
      read: async (key: string, maxBytes?: number) => {
        const text = this.#read(key, maxBytes)
        return text === undefined ? undefined : { text, etag: this.etagOf(key) ?? '' }
      },
      write: async (key: string, text: string, condition?: WriteCondition) => this.#write(key, text, condition),
    }
  }
}
