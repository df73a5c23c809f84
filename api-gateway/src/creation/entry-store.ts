import type { KeyRing } from '@tintype/crds/crypto/key-ring'
import { OBJECTS } from '@tintype/crds/records/folders'
import { type IgnoreReason, ignoreSilently, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { isFuture, parseStoredJson } from '@tintype/crds/records/stored-json'
import { isTooLarge, type WriteCondition } from '@tintype/crds/storage/port'
import { z } from 'zod'
import type { FileStore, KeyRingSource, ObjectStore } from '../store/ports.ts'
import { CreationPlan, isConsistent } from './plan.ts'
import { isEntrySigned, signEntry } from './request-hash.ts'

// The object that stores an Idempotency-Key in the bucket. It contains a plan for creating screenshots, so it is signed with the release's keys
// and bound to its object key. An entry that someone else wrote or copied counts as absent.

/** How long an Idempotency-Key is stored, from its first use. */
export const RETENTION_MILLISECONDS = 86_400_000

/** The content of an entry. */
export const Entry = z.object({
  hash: z.string().regex(/^[a-z0-9]{1,16}\.[A-Za-z0-9_-]{43}$/),
  plan: CreationPlan,
  /** When a process last started to execute it. */
  takenAt: z.iso.datetime(),
  /** The part of the response that the plan does not contain. */
  result: z.json().optional(),
})
export type Entry = z.infer<typeof Entry>

const Signed = Entry.extend({ version: z.literal(2), signature: z.string().max(128) })

/** Serializes and signs an entry. */
export function toEntryText(objectKey: string, entry: Entry, ring: KeyRing): string {
  const { hash, plan, takenAt, result } = entry
  const content = { hash, plan, takenAt, ...(result === undefined ? {} : { result }) }
  return JSON.stringify({ version: 2, ...content, signature: signEntry(objectKey, content, ring) })
}

/** Reads what {@link toEntryText} wrote for an object key, or returns why it counts as absent. */
function readEntry(text: string, objectKey: string, ring: KeyRing, now: Date): Entry | IgnoreReason {
  const { data } = Signed.safeParse(parseStoredJson(text))
  if (!data) return 'content'
  const { version: _, signature, ...entry } = data
  return isEntrySigned(objectKey, entry, signature, ring) ? checkPlan(entry, now) : 'content'
}

function checkPlan(entry: Entry, now: Date): Entry | IgnoreReason {
  const { plan, takenAt } = entry
  if (!isConsistent(plan)) return 'id'
  return isFuture(new Date(plan.at), now) || isFuture(new Date(takenAt), now) ? 'time' : entry
}

/** True when the retention of an entry has passed. */
export const isExpired = ({ plan }: Entry, now: Date): boolean => now.getTime() - Date.parse(plan.at) >= RETENTION_MILLISECONDS

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
