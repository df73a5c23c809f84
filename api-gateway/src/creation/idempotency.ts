import { ApiError } from '../common/errors.ts'
import type { ObjectStore } from '../store/ports.ts'
import { type Entry, EntryStore, type EntryStoreDeps, isExpired } from './entry-store.ts'
import type { CreationPlan } from './plan.ts'
import { type HashedRequest, idempotencyObjectKeys, isHashOf, requestHash } from './request-hash.ts'

// The plan of a request with an Idempotency-Key is written to the bucket before quota is reserved or an object is created. A second request with
// the key finds the plan. After a crash it finishes the plan with the same names, so there is one object and one charge.

/** A request that runs for longer counts as crashed. Repeating its plan is harmless even if it is still running. */
const TIMEOUT_MILLISECONDS = 10_000
const MAX_TRIES = 3

/** The execution of a plan. Ends with `complete` or `forget`. */
export interface IdempotentExecution {
  plan: CreationPlan
  /** True when an earlier request with this key may have executed part of the plan. */
  isRepeated: boolean
  /** True when a later request can continue the plan, because this one has a key. */
  isRemembered: boolean
  /** Result of an earlier request. Absent until one has completed. */
  result?: unknown
  /** Stores the part of the response that the plan does not contain. */
  complete: (result: unknown) => Promise<void>
  /** Call when nothing was executed. The key can then be used for another request. */
  forget: () => Promise<void>
}

export interface IdempotentRequest extends HashedRequest {
  /** Value of the Idempotency-Key header. Without it nothing is stored. */
  key: string | undefined
  /** Called for a new request before anything is written. Throws when the request must be rejected. */
  admit?: () => void
  newPlan: () => CreationPlan
}

const KEY = /^[\x20-\x7e]{1,255}$/

/** Value of the Idempotency-Key header. @throws ApiError VALIDATION_ERROR */
export function parseIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && KEY.test(header)) return header
  const message = 'Idempotency-Key must be 1 to 255 printable characters, given once'
  throw new ApiError('VALIDATION_ERROR', message, { details: [{ path: 'Idempotency-Key', code: 'invalid_value', message }] })
}

interface IdempotencyDeps extends EntryStoreDeps {
  objects: EntryStoreDeps['objects'] & Pick<ObjectStore, 'remove'>
}

/** An entry and its object key. */
interface Found {
  objectKey: string
  entry: Entry
  etag: string
}

/** Stores and resumes the plans of requests with an Idempotency-Key. */
export class Idempotency {
  readonly #deps: IdempotencyDeps
  readonly #entries: EntryStore

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps
    this.#entries = new EntryStore(deps)
  }

  /**
   * Returns the execution of a new plan, or of the plan that is stored for this key.
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, SERVICE_UNAVAILABLE, and what `admit` throws
   */
  async begin({ key, admit, newPlan, ...request }: IdempotentRequest): Promise<IdempotentExecution> {
    const nothing = async (): Promise<void> => undefined
    if (key === undefined) {
      admit?.()
      return { plan: newPlan(), isRepeated: false, isRemembered: false, complete: nothing, forget: nothing }
    }
    const [objectKey = '', ...rotatedKeys] = idempotencyObjectKeys(request.account, key, this.#deps.keyRing())
    const hash = requestHash(request, this.#deps.keyRing())
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await this.#findEarlier(rotatedKeys)
      const refusal = refusalOf(admit)
      const entry: Entry = { hash, plan: newPlan(), takenAt: this.#deps.now().toISOString() }
      const etag = refusal || found ? undefined : await this.#entries.write(objectKey, entry, { ifAbsent: true })
      if (etag !== undefined) return this.#toExecution({ objectKey, entry, etag }, false)
      // A replayed response does not depend on free capacity.
      const execution = found ? await this.#resume(found, request) : await this.#takeOver(objectKey, request, entry, refusal)
      if (execution) return execution
      if (refusal) throw refusal.error
    }
    throw inProgress()
  }

  /** Finds an entry that was written with a rotated signing key. */
  async #findEarlier(objectKeys: readonly string[]): Promise<Found | undefined> {
    const found = await Promise.all(objectKeys.map((objectKey) => this.#find(objectKey)))
    return found.find((one) => one !== undefined)
  }

  /** An entry that has not expired. */
  async #find(objectKey: string): Promise<Found | undefined> {
    const { etag = '', entry } = (await this.#entries.read(objectKey)) ?? {}
    return entry && !isExpired(entry, this.#deps.now()) ? { objectKey, entry, etag } : undefined
  }

  /** Returns undefined when another request was faster. The caller then tries again. */
  async #takeOver(
    objectKey: string,
    request: HashedRequest,
    entry: Entry,
    refusal: Refusal | undefined,
  ): Promise<IdempotentExecution | undefined> {
    const present = await this.#entries.read(objectKey)
    if (present === undefined) return undefined
    if (present.entry && !isExpired(present.entry, this.#deps.now()))
      return this.#resume({ objectKey, entry: present.entry, etag: present.etag }, request)
    if (refusal) return undefined
    const etag = await this.#entries.write(objectKey, entry, { ifMatch: present.etag })
    return etag === undefined ? undefined : this.#toExecution({ objectKey, entry, etag }, false)
  }

  /** Continues what an earlier request started. */
  async #resume({ objectKey, entry, etag }: Found, request: HashedRequest): Promise<IdempotentExecution | undefined> {
    if (!isHashOf(entry.hash, request, this.#deps.keyRing())) {
      throw new ApiError('IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key was used for another request in the last 24 hours')
    }
    if (entry.result !== undefined) return this.#toExecution({ objectKey, entry, etag }, true)
    if (this.#deps.now().getTime() - Date.parse(entry.takenAt) < TIMEOUT_MILLISECONDS) throw inProgress()
    const taken = { ...entry, takenAt: this.#deps.now().toISOString() }
    const next = await this.#entries.write(objectKey, taken, { ifMatch: etag })
    return next === undefined ? undefined : this.#toExecution({ objectKey, entry: taken, etag: next }, true)
  }

  #toExecution({ objectKey, entry, etag }: Found, isRepeated: boolean): IdempotentExecution {
    return {
      plan: entry.plan,
      isRepeated,
      isRemembered: true,
      ...(entry.result === undefined ? {} : { result: entry.result }),
      complete: async (result) => {
        // A failed condition means that another request took over the plan. It has the same result.
        await this.#entries.write(objectKey, { ...entry, result: result as Entry['result'] }, { ifMatch: etag })
      },
      forget: () => this.#deps.objects.remove([objectKey]),
    }
  }
}

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
  new ApiError('IDEMPOTENCY_IN_PROGRESS', 'a request with this Idempotency-Key is in progress: retry after it has finished', {
    headers: { 'retry-after': '1' },
  })
