import type { KeyRing } from '@tintype/crds/crypto/signatures'
import { createdAtOf, isScreenshotId } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { type IgnoreReason, ignoreSilently, isFuture, parseStoredJson, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { batchKey, recordKey } from '@tintype/crds/records/storage-keys'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import { type ArchiveReader, findArchived, isDeleted, requestRewrite, writeRecords, writeTombstone } from '@tintype/crds/storage/archive'
import { readParsed } from '@tintype/crds/storage/stored-objects'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { ObjectStore, RecordArchive, ScanDirection } from '../store/ports.ts'
import type { SegmentCache } from './day-listing.ts'
import { scan } from './scan.ts'

/** Bytes of segments in the memory cache. */
const CACHE_BYTES = 24 * 1024 * 1024

const MAX_BATCH = 100
const BatchIds = z.array(z.string().refine(isScreenshotId)).min(1).max(MAX_BATCH)

export type ArchiveBucket = Pick<ObjectStore, 'read' | 'readText' | 'exists' | 'write' | 'list'>

export interface ArchiveOptions {
  /** Signs tombstones. */
  keyRing: () => KeyRing
  /** Called for invalid objects, which count as absent. */
  report?: ReportIgnored
  now: () => Date
}

/** The archive in the bucket. The operator archives finished records. The gateway adds records that were never in the Kubernetes API. */
export class BucketArchive implements RecordArchive {
  readonly #storage: ArchiveBucket
  readonly #cache: SegmentCache = new LRUCache({ maxSize: CACHE_BYTES })
  readonly #keyRing: () => KeyRing
  /** Dependencies of reads. */
  readonly #reader: ArchiveReader & { storage: ArchiveBucket }

  constructor(storage: ArchiveBucket, { keyRing, report = ignoreSilently, now }: ArchiveOptions) {
    this.#storage = storage
    this.#keyRing = keyRing
    this.#reader = { storage, report, now }
  }

  find(account: string, id: string): Promise<Screenshot | undefined> {
    return findArchived(account, id, this.#reader)
  }

  isDeleted(account: string, id: string): Promise<boolean> {
    return isDeleted(account, id, this.#storage)
  }

  scan(account: string, after: string | undefined, direction: ScanDirection = 'newest'): AsyncIterable<Screenshot> {
    const { storage, report, now } = this.#reader
    return scan({ account, after, direction }, { storage, cache: this.#cache, report, now: now() })
  }

  put(account: string, screenshots: readonly Whole<Screenshot>[]): Promise<void> {
    return writeRecords(account, screenshots, { storage: this.#storage, ring: this.#keyRing() })
  }

  markDeleted(account: string, id: string): Promise<void> {
    return writeTombstone(account, id, { storage: this.#storage, ring: this.#keyRing() })
  }

  async deleteArchived(account: string, id: string): Promise<boolean> {
    await this.markDeleted(account, id)
    if (!(await this.#storage.exists(recordKey(account, id)))) return false
    await requestRewrite(account, id, { storage: this.#storage })
    return true
  }

  async putBatch(account: string, batchId: string, ids: readonly string[]): Promise<void> {
    await this.#storage.write(batchKey(account, batchId), JSON.stringify(ids))
  }

  async findBatch(account: string, batchId: string): Promise<readonly string[] | undefined> {
    const parse = (text: string): string[] | IgnoreReason =>
      isFuture(createdAtOf(batchId), this.#reader.now()) ? 'time' : (BatchIds.safeParse(parseStoredJson(text)).data ?? 'content')
    const ids = await readParsed('batch', batchKey(account, batchId), parse, this.#reader)
    return ids && [...new Set(ids)]
  }
}
