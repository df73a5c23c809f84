import type { KeyRing } from '@tintype/crds/crypto/download-link'
import { signMarker } from '@tintype/crds/crypto/signed-markers'
import { createdAtOf, isScreenshotId, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { buildSegments, toArchivedLine } from '@tintype/crds/records/archive'
import { readArchived } from '@tintype/crds/records/archived-record'
import { ignoreSilently, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { batchKey, dayOf, JOIN, recordKey, rewriteKey, tombstoneKey } from '@tintype/crds/records/storage-keys'
import { MAX_OBJECT_BYTES } from '@tintype/crds/records/storage-limits'
import { isFuture, parseStoredJson } from '@tintype/crds/records/stored-json'
import { unlessTooLarge } from '@tintype/crds/storage/checked-read'
import { z } from 'zod'
import type { FileStore, ObjectStore, RecordArchive, ScanDirection } from '../store/ports.ts'
import { scan } from './scan.ts'
import { SegmentCache } from './segment-cache.ts'

/** Bytes of segments in the memory cache. */
const CACHE_BYTES = 24 * 1024 * 1024

const MAX_BATCH = 100
const BatchIds = z.array(z.string().refine(isScreenshotId)).min(1).max(MAX_BATCH)

export type ArchiveBucket = Pick<ObjectStore, 'read' | 'write' | 'list'> & Pick<FileStore, 'stat' | 'mark'>

export interface ArchiveOptions {
  /** Signs tombstones. */
  keyRing: () => KeyRing
  /** Called for invalid objects, which count as absent. */
  report?: ReportIgnored
  now?: () => Date
  cacheBytes?: number
}

/** The archive in the bucket. The operator archives finished records. The gateway adds records that were never in the Kubernetes API. */
export class BucketArchive implements RecordArchive {
  readonly #objects: ArchiveBucket
  readonly #cache: SegmentCache
  readonly #keyRing: () => KeyRing
  readonly #report: ReportIgnored
  readonly #now: () => Date

  constructor(
    objects: ArchiveBucket,
    { keyRing, report = ignoreSilently, now = () => new Date(), cacheBytes = CACHE_BYTES }: ArchiveOptions,
  ) {
    this.#objects = objects
    this.#cache = new SegmentCache(cacheBytes)
    this.#keyRing = keyRing
    this.#report = report
    this.#now = now
  }

  async find(account: string, id: string): Promise<Screenshot | undefined> {
    const key = recordKey(account, id)
    const [stored, tombstone] = await Promise.all([
      unlessTooLarge('record', key, this.#objects.read(key, MAX_OBJECT_BYTES.record), this.#report),
      this.#objects.stat(tombstoneKey(account, id)),
    ])
    if (!stored || tombstone) return undefined
    const record = readArchived(stored.text, { account, id }, this.#now())
    if (typeof record === 'object') return record
    this.#report({ kind: 'record', reason: record, key })
    return undefined
  }

  scan(account: string, after: string | undefined, direction: ScanDirection = 'newest'): AsyncIterable<Screenshot> {
    return scan({ account, after, direction }, { objects: this.#objects, cache: this.#cache, report: this.#report, now: this.#now() })
  }

  async put(account: string, screenshots: readonly Screenshot[]): Promise<void> {
    const segments = buildSegments(account, screenshots)
    await Promise.all(
      screenshots.map((screenshot) =>
        this.#objects.write(recordKey(account, screenshotIdOf(screenshot.metadata)), toArchivedLine(screenshot)),
      ),
    )
    await Promise.all(segments.map(({ key, text }) => this.#objects.write(key, text)))
    const days = new Set(segments.map(({ first }) => dayOf(first)))
    await Promise.all([...days].map((day) => this.#objects.mark(rewriteKey(account, day, JOIN))))
  }

  async markDeleted(account: string, id: string): Promise<void> {
    const key = tombstoneKey(account, id)
    await this.#objects.write(key, signMarker(key, this.#keyRing()))
  }

  async deleteArchived(account: string, id: string): Promise<boolean> {
    await this.markDeleted(account, id)
    if (!(await this.#objects.stat(recordKey(account, id)))) return false
    await this.#objects.mark(rewriteKey(account, dayOf(id), id))
    return true
  }

  async putBatch(account: string, batchId: string, ids: readonly string[]): Promise<void> {
    await this.#objects.write(batchKey(account, batchId), JSON.stringify(ids))
  }

  async findBatch(account: string, batchId: string): Promise<readonly string[] | undefined> {
    const key = batchKey(account, batchId)
    const stored = await unlessTooLarge('batch', key, this.#objects.read(key, MAX_OBJECT_BYTES.batch), this.#report)
    if (!stored) return undefined
    const { data } = BatchIds.safeParse(parseStoredJson(stored.text))
    const reason = isFuture(createdAtOf(batchId), this.#now()) ? 'time' : data ? undefined : 'content'
    if (reason) this.#report({ kind: 'batch', reason, key })
    return reason ? undefined : data && [...new Set(data)]
  }
}
