import { z } from 'zod'
import { ApiError } from '../errors.ts'
import type { KeyRingSource, ObjectStore } from '../store/ports.ts'
import { CreationPlan } from './plan.ts'
import { type HashedRequest, idempotencyKey, isHashOf, requestHash } from './request-hash.ts'

// What an Idempotency-Key stands for is written to the bucket before anything is reserved or created. Of two requests with one key the
// later finds the first one's plan; after a crash it finishes that plan under the same names, so that there is one object and one charge.

/** How long a key is remembered, from its first use. */
export const REMEMBERED_MILLISECONDS = 86_400_000
/** A request that has not ended in this time is taken to have died: repeating its plan is harmless even if it has not. */
const PATIENCE_MILLISECONDS = 10_000
const MAX_TRIES = 3

const Entry = z.object({
  version: z.literal(1),
  hash: z.string(),
  plan: CreationPlan,
  /** When a process last took it in hand. */
  takenAt: z.iso.datetime(),
  /** What was answered, as far as the plan does not say it. */
  result: z.json().optional(),
})
type Entry = z.infer<typeof Entry>

/** A key in hand: to be completed or forgotten. */
export interface Turn {
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

/** Takes turns with the keys of all clients. */
export class Idempotency {
  readonly #store: ObjectStore
  readonly #keyRing: KeyRingSource
  readonly #now: () => Date

  constructor(store: ObjectStore, keyRing: KeyRingSource, now: () => Date) {
    this.#store = store
    this.#keyRing = keyRing
    this.#now = now
  }

  /**
   * The plan to carry out: a new one, or the one that this key stands for.
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, SERVICE_UNAVAILABLE, and what `admit` throws
   */
  async begin({ key, admit, newPlan, ...request }: IdempotentRequest): Promise<Turn> {
    const nothing = async (): Promise<void> => undefined
    if (key === undefined) {
      admit?.()
      return { plan: newPlan(), isRepeated: false, isRemembered: false, complete: nothing, forget: nothing }
    }
    const place = idempotencyKey(request.account, key)
    const hash = requestHash(request, this.#keyRing())
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const refusal = refusalOf(admit)
      const fresh = this.#entry(hash, newPlan())
      const etag = refusal ? undefined : await this.#store.write(place, JSON.stringify(fresh), { ifAbsent: true })
      if (etag !== undefined) return this.#turn(place, fresh, etag, false)
      // What an earlier request has done is told whether or not there is room for another.
      const turn = await this.#join(place, request, fresh, refusal)
      if (turn) return turn
      if (refusal) throw refusal.error
    }
    throw inProgress()
  }

  /** Undefined when somebody else was faster: look again. */
  async #join(place: string, request: HashedRequest, fresh: Entry, refusal: Refusal | undefined): Promise<Turn | undefined> {
    const stored = await this.#store.read(place)
    if (!stored) return undefined
    const known = parseEntry(stored.text)
    const now = this.#now().getTime()
    if (!known || now - Date.parse(known.plan.at) >= REMEMBERED_MILLISECONDS) {
      if (refusal) return undefined
      const etag = await this.#store.write(place, JSON.stringify(fresh), { ifMatch: stored.etag })
      return etag === undefined ? undefined : this.#turn(place, fresh, etag, false)
    }
    if (!isHashOf(known.hash, request, this.#keyRing())) {
      throw new ApiError('IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key was used for another request in the last 24 hours')
    }
    if (known.result !== undefined) return this.#turn(place, known, stored.etag, true)
    if (now - Date.parse(known.takenAt) < PATIENCE_MILLISECONDS) throw inProgress()
    const taken = { ...known, takenAt: this.#now().toISOString() }
    const etag = await this.#store.write(place, JSON.stringify(taken), { ifMatch: stored.etag })
    return etag === undefined ? undefined : this.#turn(place, taken, etag, true)
  }

  #entry(hash: string, plan: CreationPlan): Entry {
    return { version: 1, hash, plan, takenAt: this.#now().toISOString() }
  }

  #turn(place: string, entry: Entry, etag: string, isRepeated: boolean): Turn {
    return {
      plan: entry.plan,
      isRepeated,
      isRemembered: true,
      ...(entry.result === undefined ? {} : { result: entry.result }),
      complete: async (result) => {
        // Somebody who took the plan over has the same result.
        await this.#store.write(place, JSON.stringify({ ...entry, result }), { ifMatch: etag })
      },
      forget: () => this.#store.remove(place),
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
  new ApiError('IDEMPOTENCY_IN_PROGRESS', 'a request with this Idempotency-Key is under way', { headers: { 'retry-after': '1' } })

function parseEntry(text: string): Entry | undefined {
  try {
    return Entry.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
