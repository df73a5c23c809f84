import type { KeyRing } from '@tintype/crds/download-link'
import { isTooLarge } from '@tintype/crds/storage/port'
import { MAX_OBJECT_BYTES } from '@tintype/crds/storage-limits'
import { ignoreSilently, type ReportIgnored } from '@tintype/crds/stored/ignored-objects'
import { ApiError } from '../errors.ts'
import type { FileStore, KeyRingSource, ObjectStore } from '../store/ports.ts'
import { type Entry, isExpired, RETENTION_MILLISECONDS, readEntry, readLegacyEntry, toEntryText } from './idempotency-entry.ts'
import type { CreationPlan } from './plan.ts'
import {
  type HashedRequest,
  idempotencyObjectKeys,
  isHashOf,
  isLegacyObjectKey,
  legacyIdempotencyObjectKey,
  requestHash,
} from './request-hash.ts'

// What an Idempotency-Key stands for is written to the bucket before anything is reserved or created. Of two requests with one key the
// later finds the first one's plan; after a crash it finishes that plan under the same names, so that there is one object and one charge.

export { RETENTION_MILLISECONDS }

/** A request that has not ended in this time is taken to have died: repeating its plan is harmless even if it has not. */
const TIMEOUT_MILLISECONDS = 10_000
const MAX_TRIES = 3
const HOUR_MILLISECONDS = 3_600_000

/** A key in hand: to be completed or forgotten. */
export interface IdempotentExecution {
  plan: CreationPlan
  /** True when an earlier request with this key may have done part of it. */
  isRepeated: boolean
  /** True when another request may take the plan up again: it has a key. */
  isRemembered: boolean
  /** What an earlier request answered; absent while it has not. */
  result?: unknown
  /** Keeps what the answer says beyond the plan. */
  complete: (result: unknown) => Promise<void>
  /** Nothing was done: the key may be used for another request. */
  forget: () => Promise<void>
}

export interface IdempotentRequest extends HashedRequest {
  /** The header's text; absent: nothing is remembered. */
  key: string | undefined
  /** Called before anything is written for a request that is new; throws when it must not begin. */
  admit?: () => void
  newPlan: () => CreationPlan
}

const KEY = /^[\x20-\x7e]{1,255}$/

/** The header's text. @throws ApiError VALIDATION_ERROR */
export function parseIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && KEY.test(header)) return header
  const message = 'Idempotency-Key must be 1 to 255 printable characters, given once'
  throw new ApiError('VALIDATION_ERROR', message, { details: [{ path: 'Idempotency-Key', code: 'invalid_value', message }] })
}

/** What it reads and writes. */
export type IdempotencyStore = Pick<ObjectStore, 'read' | 'write' | 'remove'> & Pick<FileStore, 'stat'>

/** An entry that was found, and where. */
interface Found {
  objectKey: string
  entry: Entry
  etag: string
}

/** Takes turns with the keys of all clients. */
export class Idempotency {
  readonly #store: IdempotencyStore
  readonly #keyRing: KeyRingSource
  readonly #now: () => Date
  readonly #report: ReportIgnored
  readonly #startedAt: number

  constructor(store: IdempotencyStore, keyRing: KeyRingSource, now: () => Date, report: ReportIgnored = ignoreSilently) {
    this.#store = store
    this.#keyRing = keyRing
    this.#now = now
    this.#report = report
    this.#startedAt = now().getTime()
  }

  /**
   * The plan to carry out: a new one, or the one that this key stands for.
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, SERVICE_UNAVAILABLE, and what `admit` throws
   */
  async begin({ key, admit, newPlan, ...request }: IdempotentRequest): Promise<IdempotentExecution> {
    const nothing = async (): Promise<void> => undefined
    if (key === undefined) {
      admit?.()
      return { plan: newPlan(), isRepeated: false, isRemembered: false, complete: nothing, forget: nothing }
    }
    const [objectKey = '', ...rotatedKeys] = idempotencyObjectKeys(request.account, key, this.#keyRing())
    const hash = requestHash(request, this.#keyRing())
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await this.#findEarlier(rotatedKeys, legacyIdempotencyObjectKey(request.account, key))
      const refusal = refusalOf(admit)
      const entry: Entry = { hash, plan: newPlan(), takenAt: this.#now().toISOString() }
      const etag = refusal || found ? undefined : await this.#write(objectKey, entry, { ifAbsent: true })
      if (etag !== undefined) return this.#toExecution({ objectKey, entry, etag }, false)
      // What an earlier request has done is told whether or not there is room for another.
      const execution = found ? await this.#resume(found, request) : await this.#takeOver(objectKey, request, entry, refusal)
      if (execution) return execution
      if (refusal) throw refusal.error
    }
    throw inProgress()
  }

  /** An entry under a key that is not the ring's current one any more, or under the name that earlier versions gave it. */
  async #findEarlier(objectKeys: readonly string[], legacyKey: string): Promise<Found | undefined> {
    const read = await Promise.all([
      ...objectKeys.map((objectKey) => this.#read(objectKey)),
      ...(this.#isUpgradeRecent() ? [this.#read(legacyKey, true)] : []),
    ])
    return read.flatMap(({ found }) => found ?? []).find(({ entry }) => !isExpired(entry, this.#now()))
  }

  /** Nothing that an earlier version has written is remembered a day after the last of it ended; an hour is left for the upgrade. */
  #isUpgradeRecent(): boolean {
    return this.#now().getTime() - this.#startedAt < RETENTION_MILLISECONDS + HOUR_MILLISECONDS
  }

  /** What lies at a place: `etag` of whatever it is, `found` if it is an entry. */
  async #read(objectKey: string, isLegacy = false): Promise<{ etag?: string; found?: Found }> {
    const stored = await this.#store.read(objectKey, MAX_OBJECT_BYTES.idempotency).catch(async (error: unknown) => {
      if (!isTooLarge(error)) throw error
      const file = await this.#store.stat(objectKey)
      return file && { text: undefined, etag: file.etag }
    })
    if (!stored) return {}
    const { text, etag } = stored
    const entry = text === undefined ? 'size' : (isLegacy ? readLegacy : readEntry)(text, objectKey, this.#keyRing(), this.#now())
    if (typeof entry === 'object') return { etag, found: { objectKey, entry, etag } }
    this.#report({ kind: 'idempotency', reason: entry, key: objectKey })
    return { etag }
  }

  /** Undefined when somebody else was faster: look again. */
  async #takeOver(
    objectKey: string,
    request: HashedRequest,
    entry: Entry,
    refusal: Refusal | undefined,
  ): Promise<IdempotentExecution | undefined> {
    const { etag: present, found } = await this.#read(objectKey)
    if (present === undefined) return undefined
    if (found && !isExpired(found.entry, this.#now())) return this.#resume(found, request)
    if (refusal) return undefined
    const etag = await this.#write(objectKey, entry, { ifMatch: present })
    return etag === undefined ? undefined : this.#toExecution({ objectKey, entry, etag }, false)
  }

  /** Goes on with what an earlier request has begun. */
  async #resume({ objectKey, entry, etag }: Found, request: HashedRequest): Promise<IdempotentExecution | undefined> {
    if (!isHashOf(entry.hash, request, this.#keyRing())) {
      throw new ApiError('IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key was used for another request in the last 24 hours')
    }
    if (entry.result !== undefined) return this.#toExecution({ objectKey, entry, etag }, true)
    if (this.#now().getTime() - Date.parse(entry.takenAt) < TIMEOUT_MILLISECONDS) throw inProgress()
    const taken = { ...entry, takenAt: this.#now().toISOString() }
    const next = await this.#write(objectKey, taken, { ifMatch: etag })
    return next === undefined ? undefined : this.#toExecution({ objectKey, entry: taken, etag: next }, true)
  }

  /** At its former place an entry stays as earlier versions write it, for replicas that have not been replaced yet. */
  #write(objectKey: string, entry: Entry, condition: { ifAbsent?: boolean; ifMatch?: string }): Promise<string | undefined> {
    const text = isLegacyObjectKey(objectKey) ? JSON.stringify({ version: 1, ...entry }) : toEntryText(objectKey, entry, this.#keyRing())
    return this.#store.write(objectKey, text, condition)
  }

  #toExecution({ objectKey, entry, etag }: Found, isRepeated: boolean): IdempotentExecution {
    return {
      plan: entry.plan,
      isRepeated,
      isRemembered: true,
      ...(entry.result === undefined ? {} : { result: entry.result }),
      complete: async (result) => {
        // Somebody who took the plan over has the same result.
        await this.#write(objectKey, { ...entry, result: result as Entry['result'] }, { ifMatch: etag })
      },
      forget: () => this.#store.remove([objectKey]),
    }
  }
}

const readLegacy = (text: string, _place: string, ring: KeyRing, now: Date) => readLegacyEntry(text, ring, now)

interface Refusal {
  error: unknown
}

function refusalOf(admit: IdempotentRequest['admit']): Refusal | undefined {
  try {
    admit?.()
    return undefined
  } catch (error) {
    return { error }
  }
}

const inProgress = (): ApiError =>
  new ApiError('IDEMPOTENCY_IN_PROGRESS', 'a request with this Idempotency-Key is under way', { headers: { 'retry-after': '1' } })
