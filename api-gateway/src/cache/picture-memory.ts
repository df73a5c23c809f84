import type { ServerResponse } from 'node:http'
import { readAtMost } from '@tintype/crds/runtime/limited-read'
import type { StoredFile } from '@tintype/crds/storage/port'
import { LRUCache } from 'lru-cache'
import type { FileStore } from '../store/ports.ts'

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

export interface PictureMemoryOptions {
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
