import { ApiError, isRefusal } from '../common/errors.ts'
import type { ObjectStore } from '../store/ports.ts'
import type { CreationPlan } from './plan.ts'
import { type HashedRequest, idempotencyObjectKeys, type SignedPlan, SignedPlans, type SignedPlansDeps } from './signed-plans.ts'

// The plan of a request with an Idempotency-Key is written to the bucket before quota is reserved or an object is created. A second request with
// the key finds the plan. After a crash it finishes the plan with the same names, so there is one object and one charge.

/** A request that runs for longer counts as crashed. Repeating its plan is harmless even if it is still running. */
const TIMEOUT_MILLISECONDS = 10_000
/** How long an Idempotency-Key is stored, from its first use. */
export const RETENTION_MILLISECONDS = 86_400_000
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
  /** The Idempotency-Key header. Without it nothing is stored. */
  key: string | string[] | undefined
  /** Called for a new request before anything is written. Throws when the request must be rejected. */
  admit?: () => void
  newPlan: () => CreationPlan
}

const KEY = /^[\x20-\x7e]{1,255}$/

function parseKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && KEY.test(header)) return header
  const message = 'Idempotency-Key must be 1 to 255 printable characters, given once'
  throw new ApiError('VALIDATION_ERROR', message, { details: [{ path: 'Idempotency-Key', code: 'invalid_value', message }] })
}

interface IdempotencyDeps extends SignedPlansDeps {
  objects: SignedPlansDeps['objects'] & Pick<ObjectStore, 'remove'>
}

/** Stores and resumes the plans of requests with an Idempotency-Key. */
export class Idempotency {
  readonly #deps: IdempotencyDeps
  readonly #plans: SignedPlans

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps
    this.#plans = new SignedPlans(deps)
  }

  /**
   * Returns the execution of a new plan, or of the plan that is stored for this key.
   * @throws ApiError VALIDATION_ERROR, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, SERVICE_UNAVAILABLE, and what `admit` throws
   */
  async begin({ key: header, admit, newPlan, ...request }: IdempotentRequest): Promise<IdempotentExecution> {
    const key = parseKey(header)
    const nothing = async (): Promise<void> => undefined
    if (key === undefined) {
      admit?.()
      return { plan: newPlan(), isRepeated: false, isRemembered: false, complete: nothing, forget: nothing }
    }
    const [objectKey = '', ...rotatedKeys] = idempotencyObjectKeys(request.account, key, this.#deps.keyRing())
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await this.#findEarlier(rotatedKeys)
      const refusal = refusalOf(admit)
      const start = async (replaced?: string): Promise<IdempotentExecution | undefined> => {
        const started = refusal ? undefined : await this.#plans.start(objectKey, request, { plan: newPlan() }, replaced)
        return started && this.#toExecution(started, false)
      }
      const started = found ? undefined : await start()
      if (started) return started
      // A replayed response does not depend on free capacity.
      const stored = found ?? (await this.#plans.read(objectKey))
      const execution = this.#isKnown(stored) ? await this.#resume(stored, request) : stored && (await start(stored.etag))
      if (execution) return execution
      if (refusal) throw refusal.error
    }
    throw inProgress()
  }

  /** Finds a plan that was written with a rotated signing key. */
  async #findEarlier(objectKeys: readonly string[]): Promise<SignedPlan | undefined> {
    const found = await Promise.all(objectKeys.map((objectKey) => this.#plans.read(objectKey)))
    return found.find((stored) => this.#isKnown(stored))
  }

  /** True for a plan that has not expired. */
  #isKnown(stored: Awaited<ReturnType<SignedPlans['read']>>): stored is SignedPlan {
    return stored?.plan !== undefined && this.#deps.now().getTime() - Date.parse(stored.plan.at) < RETENTION_MILLISECONDS
  }

  /** Continues what an earlier request started. Returns undefined when another request was faster. The caller then tries again. */
  async #resume(stored: SignedPlan, request: HashedRequest): Promise<IdempotentExecution | undefined> {
    if (!this.#plans.isFor(stored, request))
      throw new ApiError('IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key was used for another request in the last 24 hours')
    if (stored.result !== undefined) return this.#toExecution(stored, true)
    if (this.#deps.now().getTime() - Date.parse(stored.takenAt) < TIMEOUT_MILLISECONDS) throw inProgress()
    const taken = await this.#plans.takeOver(stored)
    return taken && this.#toExecution(taken, true)
  }

  #toExecution(stored: SignedPlan, isRepeated: boolean): IdempotentExecution {
    return {
      plan: stored.plan,
      isRepeated,
      isRemembered: true,
      ...(stored.result === undefined ? {} : { result: stored.result }),
      complete: async (result) => {
        // Another request that took over the plan has the same result.
        await this.#plans.complete(stored, result as SignedPlan['result'])
      },
      forget: () => this.#deps.objects.remove([stored.objectKey]),
    }
  }
}

/** Carries out the plan of an execution, or the rest of it. After a refusal nothing of it exists, so the key can be used for another request. */
export async function carryOut<R>({ forget }: Pick<IdempotentExecution, 'forget'>, work: () => Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (error) {
    if (isRefusal(error)) await forget()
    throw error
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
