import { OBJECTS } from '@tintype/crds/records/folders'
import { ignoreSilently, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { isTooLarge, type WriteCondition } from '@tintype/crds/storage/port'
import type { FileStore, KeyRingSource, ObjectStore } from '../store/ports.ts'
import { type Entry, readEntry, toEntryText } from './idempotency-entry.ts'

export interface EntryStoreDeps {
  objects: Pick<ObjectStore, 'read' | 'write'> & Pick<FileStore, 'stat'>
  keyRing: KeyRingSource
  now: () => Date
  report?: ReportIgnored | undefined
}

/** A stored object. `entry` is absent when its content is not valid. */
export interface StoredEntry {
  etag: string
  entry?: Entry
}

/** Reads and writes signed plans in the bucket, with conditions. */
export class EntryStore {
  readonly #deps: EntryStoreDeps

  constructor(deps: EntryStoreDeps) {
    this.#deps = deps
  }

  async read(objectKey: string): Promise<StoredEntry | undefined> {
    const { objects, keyRing, now, report = ignoreSilently } = this.#deps
    const stored = await objects.read(objectKey, OBJECTS.idempotency.maxBytes).catch(async (error: unknown) => {
      if (!isTooLarge(error)) throw error
      const file = await objects.stat(objectKey)
      return file && { text: undefined, etag: file.etag }
    })
    if (!stored) return undefined
    const { text, etag } = stored
    const entry = text === undefined ? 'size' : readEntry(text, objectKey, keyRing(), now())
    if (typeof entry === 'object') return { etag, entry }
    report({ kind: 'idempotency', reason: entry, key: objectKey })
    return { etag }
  }

  /** Returns the new ETag, or undefined when another request was faster. */
  write(objectKey: string, entry: Entry, condition: WriteCondition): Promise<string | undefined> {
    return this.#deps.objects.write(objectKey, toEntryText(objectKey, entry, this.#deps.keyRing()), condition)
  }
}
