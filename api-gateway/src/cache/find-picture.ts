import type { ServerResponse } from 'node:http'
import type { KeyRing } from '@tintype/crds/crypto/signatures'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { withDefaults } from '@tintype/crds/options/catalog'
import { type CacheOptions, cacheDefaults } from '@tintype/crds/options/output/cache'
import { type CacheEntry, readCacheEntry } from '@tintype/crds/records/cache'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { cacheEntryKey, objectKey } from '@tintype/crds/records/storage-keys'
import { readAtMost } from '@tintype/crds/runtime/limited-read'
import type { StoredFile } from '@tintype/crds/storage/port'
import { readParsed } from '@tintype/crds/storage/stored-objects'
import { LRUCache } from 'lru-cache'
import type { Metrics } from '../metrics/metrics.ts'
import type { FileStore, ObjectStore } from '../store/ports.ts'
import { cacheHash, type PictureRequest } from './cache-hash.ts'

// Decides whether an earlier picture can be reused. The decision is stored in the Screenshot. The operator checks again and captures the page if
// the picture no longer exists.

export interface CacheDeps {
  objects: Pick<ObjectStore, 'readText'>
  files: Pick<FileStore, 'stat'>
  keyRing: () => KeyRing
  now: () => Date
  metrics: Pick<Metrics, 'cacheLookUps'>
  /** Called for invalid objects, which count as absent. */
  report: ReportIgnored
}

/** Cache fields of a Screenshot's spec. */
type CacheFields = Pick<ScreenshotSpec, 'cacheAs' | 'cachedFrom'>

/**
 * Looks for an earlier picture. Returns the cache fields of the new Screenshot, none for a request without `cache`.
 * @throws ApiError SERVICE_UNAVAILABLE
 */
export async function findPicture(request: PictureRequest, requested: CacheOptions | undefined, deps: CacheDeps): Promise<CacheFields> {
  if (requested?.cache !== true) return {}
  const { cacheTtl = cacheDefaults.cacheTtl, cacheRefresh = cacheDefaults.cacheRefresh, cacheKey } = requested
  const hash = cacheHash({ ...request, cacheKey }, deps.keyRing())
  const isThere = !cacheRefresh && (await readPicture(request, hash, cacheTtl, deps)) !== undefined
  deps.metrics.cacheLookUps.inc({ outcome: cacheRefresh ? 'refresh' : isThere ? 'hit' : 'miss' })
  return isThere ? { cachedFrom: hash } : { cacheAs: hash }
}

const ageOf = ({ completedAt }: CacheEntry, now: Date): number => now.getTime() - Date.parse(completedAt)

/** A cached picture that still exists. */
interface CachedPicture {
  entry: CacheEntry
  /** Object key of its file. */
  key: string
  file: StoredFile
}

/**
 * Reads a cache entry that is at most `ttlSeconds` old, and checks the file itself, because the file may have been deleted or have expired.
 * @throws ApiError SERVICE_UNAVAILABLE
 */
export async function readPicture(
  { account, options }: Pick<PictureRequest, 'account' | 'options'>,
  hash: string,
  ttlSeconds: number,
  deps: Omit<CacheDeps, 'metrics' | 'keyRing'>,
): Promise<CachedPicture | undefined> {
  const key = cacheEntryKey(account, hash)
  const entry = await readParsed('cache', key, (text) => readCacheEntry(text, deps.now()), { storage: deps.objects, report: deps.report })
  if (!entry || ageOf(entry, deps.now()) > ttlSeconds * 1_000) return undefined
  if (entry.keptUntil !== undefined && deps.now().getTime() >= Date.parse(entry.keptUntil)) return undefined
  const fileKey = objectKey(account, entry.id, withDefaults(options).format)
  const file = await deps.files.stat(fileKey)
  return file !== undefined && file.etag === entry.result.etag ? { entry, key: fileKey, file } : undefined
}

// Pictures of links in memory. A link on a popular page is requested many times per second, and a gateway then reads the bucket once in some seconds.
// The time is short, so that a deleted or replaced picture disappears soon.

/** How long a picture stays in memory. docs/links.md names this time. */
const FRESH_MILLISECONDS = 3_000
/** Larger files are streamed from the bucket. */
const MAX_FILE_BYTES = 1_048_576
/** Estimated size of a picture's other fields. */
const FIELD_BYTES = 1_024

/** A picture that responds to links. */
export interface Picture {
  /** The screenshot that has the picture. */
  id: string
  /** Object key of its file. */
  key: string
  stored: StoredFile
  capturedAt: Date
  finalUrl?: string | undefined
  /** End of its retention. Absent when only the bucket ends it. */
  keptUntil?: Date | undefined
}

/** A picture with its content, if the content is in memory. */
export interface LoadedPicture extends Picture {
  bytes?: Buffer | undefined
}

interface Entry {
  picture: LoadedPicture
  loadedAt: Date
}

interface PictureMemoryOptions {
  /** Limit of the pictures in memory, and also of those that are being loaded or sent. 0: no pictures in memory. */
  maxBytes: number
  files: Pick<FileStore, 'open'>
  now: () => Date
}

/** Remembers pictures for some seconds. Concurrent requests for a picture share one read of the bucket. */
export class PictureMemory {
  readonly #options: PictureMemoryOptions
  readonly #pictures: LRUCache<string, Entry>
  readonly #loading = new Map<string, Promise<LoadedPicture | undefined>>()
  /** Responses that are being sent, by picture. Slow clients keep a picture in memory after it has left the cache. */
  readonly #sending = new Map<Buffer, number>()
  #heldBytes = 0

  constructor(options: PictureMemoryOptions) {
    this.#options = options
    // The library rejects a size of 0.
    this.#pictures = new LRUCache({ maxSize: Math.max(1, options.maxBytes) })
  }

  /** Bytes of pictures that are being loaded or sent. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Returns a picture by its cache hash or the object key of its file. Both cover the account. If the picture is not in memory, `find` looks for it in the
   * bucket. Errors are not remembered.
   * @throws what `find` throws
   */
  get(name: string, find: () => Promise<Picture | undefined>): Promise<LoadedPicture | undefined> | LoadedPicture {
    const known = this.#pictures.get(name)
    if (known && this.#isFresh(known)) return known.picture
    const running = this.#loading.get(name)
    if (running) return running
    const loading = this.#load(name, find).finally(() => this.#loading.delete(name))
    this.#loading.set(name, loading)
    return loading
  }

  /** Counts a picture until the response has been sent. */
  hold(bytes: Buffer, response: ServerResponse): void {
    // The client is gone, so no further event follows.
    if (response.destroyed) return
    const count = this.#sending.get(bytes) ?? 0
    if (count === 0) this.#heldBytes += bytes.length
    this.#sending.set(bytes, count + 1)
    response.once('close', () => this.#release(bytes))
  }

  #release(bytes: Buffer): void {
    const count = (this.#sending.get(bytes) ?? 1) - 1
    if (count > 0) return void this.#sending.set(bytes, count)
    this.#sending.delete(bytes)
    this.#heldBytes -= bytes.length
  }

  #isFresh({ loadedAt, picture: { keptUntil } }: Entry): boolean {
    const now = this.#options.now()
    const age = now.getTime() - loadedAt.getTime()
    return age >= 0 && age < FRESH_MILLISECONDS && (keptUntil === undefined || now < keptUntil)
  }

  async #load(name: string, find: () => Promise<Picture | undefined>): Promise<LoadedPicture | undefined> {
    // The time before the reads, so that no change after it stays unnoticed for longer.
    const loadedAt = this.#options.now()
    const found = await find()
    const bytes = found && (await this.#read(found))
    if (!bytes) return found
    const picture = { ...found, bytes }
    this.#pictures.set(name, { picture, loadedAt }, { size: bytes.length + FIELD_BYTES })
    return picture
  }

  /** Reads a small file. Returns undefined when the file must be streamed. */
  async #read({ key, stored: { sizeBytes } }: Picture): Promise<Buffer | undefined> {
    const { maxBytes, files } = this.#options
    if (sizeBytes > MAX_FILE_BYTES || this.#heldBytes + sizeBytes > maxBytes) return undefined
    this.#heldBytes += sizeBytes
    try {
      const body = await files.open(key)
      const bytes = body && (await readAtMost(body, sizeBytes))
      // A file of another size was cut off. Streaming it to the client reports the error.
      return bytes?.length === sizeBytes ? bytes : undefined
    } catch {
      return undefined
    } finally {
      this.#heldBytes -= sizeBytes
    }
  }
}
