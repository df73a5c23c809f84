import { buildSegments, parseArchivedLine, toArchivedLine } from '@tintype/crds/archive'
import { screenshotIdOf } from '@tintype/crds/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { batchKey, dayOf, JOIN, recordKey, rewriteKey, tombstoneKey } from '@tintype/crds/storage-keys'
import { z } from 'zod'
import type { FileStore, ObjectStore, RecordArchive, ScanOrder } from '../store/ports.ts'
import { scan } from './scan.ts'
import { SegmentCache } from './segment-cache.ts'

/** Text of segments that is kept in memory. */
const CACHE_BYTES = 24 * 1024 * 1024

const BatchIds = z.array(z.string())

export type ArchiveBucket = Pick<ObjectStore, 'read' | 'write' | 'list'> & Pick<FileStore, 'stat' | 'mark'>

/** The archive in the bucket. The operator moves records there; the gateway puts those that never lived in the Kubernetes API. */
export class BucketArchive implements RecordArchive {
  readonly #objects: ArchiveBucket
  readonly #cache: SegmentCache

  constructor(objects: ArchiveBucket, cacheBytes = CACHE_BYTES) {
    this.#objects = objects
    this.#cache = new SegmentCache(cacheBytes)
  }

  async find(account: string, id: string): Promise<Screenshot | undefined> {
    const [stored, tombstone] = await Promise.all([
      this.#objects.read(recordKey(account, id)),
      this.#objects.stat(tombstoneKey(account, id)),
    ])
    return stored && !tombstone ? parseArchivedLine(stored.text) : undefined
  }

  scan(account: string, after: string | undefined, order: ScanOrder = 'newest'): AsyncIterable<Screenshot> {
    return scan({ account, after, order }, { objects: this.#objects, cache: this.#cache })
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

  async bury(account: string, id: string): Promise<boolean> {
    await this.#objects.mark(tombstoneKey(account, id))
    if (!(await this.#objects.stat(recordKey(account, id)))) return false
    await this.#objects.mark(rewriteKey(account, dayOf(id), id))
    return true
  }

  async putBatch(account: string, batchId: string, ids: readonly string[]): Promise<void> {
    await this.#objects.write(batchKey(account, batchId), JSON.stringify(ids))
  }

  async findBatch(account: string, batchId: string): Promise<readonly string[] | undefined> {
    const stored = await this.#objects.read(batchKey(account, batchId))
    return stored && BatchIds.parse(JSON.parse(stored.text))
  }
}
