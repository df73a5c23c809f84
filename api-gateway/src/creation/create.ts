import { toObjectName } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import type { HttpErrorCode } from '@tintype/crds/schema/errors'
import { ApiError, isRefusal, toHttpError, unavailable } from '../common/errors.ts'
import { rateLimitExceeded, toLimitHeaders, usageLimitReached } from '../quota/limits.ts'
import type { Grant, NewScreenshot, QuotaStore, RecordArchive, ScreenshotStore } from '../store/ports.ts'
import { carryOut, type IdempotentExecution } from './idempotency.ts'
import type { CreationPlan } from './plan.ts'
import type { Queue } from './queue.ts'
import type { UncertainCreates } from './uncertain-creates.ts'

// Creates one screenshot or a batch in three steps: reserve quota, create objects, settle the reservation. Every step can be repeated with the
// same plan, by this process or after a crash by another.

export interface CreateDeps {
  screenshots: Pick<ScreenshotStore, 'create' | 'findLatest'>
  archive: Pick<RecordArchive, 'find'>
  quota: QuotaStore
  queue: Pick<Queue, 'enter'>
  uncertainCreates: Pick<UncertainCreates, 'add'>
}

export interface CreateRequest {
  account: Account
  execution: IdempotentExecution
  /** Units of quota for each object; absent: 1. */
  units?: number
  /** Called before quota is reserved. */
  prepare?: () => Promise<void>
  /** Builds the objects for the plan's ids, in order. Called after quota is reserved. */
  build: () => Promise<readonly NewScreenshot[]>
}

/** The result for one id of the plan. */
interface Item {
  id: string
  /** The created object. Absent when the create failed, or when an earlier request created it and it was archived or deleted since. */
  screenshot?: Screenshot
  /** Why it was not created. */
  refusal?: { code: HttpErrorCode; message: string }
  /** Error of the create request, for the log. */
  error?: unknown
}

interface Creation {
  items: Item[]
  /** Objects to create, in the order of the plan. Empty when an earlier request created everything. */
  objects: readonly NewScreenshot[]
  /** Absent when an earlier request reserved the quota. */
  grant?: Grant
}

/** Concurrent creates. As many as a batch can have, because etcd writes many objects as fast as a few. */
const MAX_CONCURRENT = 100

/**
 * Carries out a plan as far as the quota allows.
 * @throws ApiError when nothing was created: USAGE_LIMIT_REACHED, RATE_LIMIT_EXCEEDED, QUEUE_FULL, SERVICE_UNAVAILABLE, VALIDATION_ERROR
 */
export async function createScreenshots(request: CreateRequest, deps: CreateDeps): Promise<Creation> {
  const { account, execution } = request
  const { plan } = execution
  const known = execution.isRepeated ? await findKnown(plan, account.metadata.name, deps) : new Map<string, Screenshot | undefined>()
  const missing = plan.ids.filter((id) => !known.has(id))
  if (missing.length === 0) return { items: plan.ids.map((id) => toItem(id, known.get(id))), objects: [] }
  const create = () => createMissing(request, { known, missing }, deps)
  // A part of the plan exists, so its key must not be used for another request.
  return known.size > 0 ? create() : carryOut(execution, create)
}

interface Missing {
  /** Screenshots that an earlier request created. */
  known: ReadonlyMap<string, Screenshot | undefined>
  missing: readonly string[]
}

async function createMissing(request: CreateRequest, { known, missing }: Missing, deps: CreateDeps): Promise<Creation> {
  const { account, execution, prepare, build } = request
  const { ids, reservation } = execution.plan
  const releaseSlots = deps.queue.enter(account, missing)
  try {
    await prepare?.()
    const grant = await pay(request, missing, known.size > 0, deps)
    const paid = new Set(missing.slice(0, grant.granted))
    const objects = await build().catch(async (error: unknown) => {
      await deps.quota.release(account.metadata.name, reservation, [...paid].map(toObjectName))
      throw error
    })
    const items = await mapConcurrently(ids, MAX_CONCURRENT, async (id, index): Promise<Item> => {
      if (known.has(id)) return toItem(id, known.get(id))
      if (!paid.has(id)) return { id, refusal: { code: 'USAGE_LIMIT_REACHED', message: usageLimitReached(grant.facts).message } }
      return createOne(id, objects[index], request, deps)
    })
    await conclude(items, request, deps)
    return { items, objects, grant }
  } finally {
    releaseSlots()
  }
}

/** @throws ApiError when nothing was created, SERVICE_UNAVAILABLE when something may have been */
async function conclude(items: readonly Item[], { account, execution }: CreateRequest, deps: CreateDeps): Promise<void> {
  const { quota, uncertainCreates } = deps
  const errors = items.flatMap(({ error }) => error ?? [])
  const failed = items.filter(({ error }) => error !== undefined).map(({ id }) => id)
  const uncertain = errors.filter((error) => !isRefusal(error))
  const hasCreated = errors.length === 0 || items.some(({ refusal }) => !refusal)
  const { reservation } = execution.plan
  const { name } = account.metadata
  if (failed.length === 0) quota.settle(name, reservation)
  else if (uncertain.length === 0) await quota.release(name, reservation, failed.map(toObjectName))
  // An unsettled reservation stays charged until the outcome is known. If the response is an error, a retry with the same Idempotency-Key
  // continues with this reservation.
  else if (hasCreated || !execution.isRemembered) void uncertainCreates.add({ account: name, reservation, ids: failed })
  if (hasCreated) return
  const error = uncertain[0] ?? errors[0]
  throw error instanceof ApiError ? error : unavailable('the service is temporarily unavailable: retry in a few seconds', error)
}

const toItem = (id: string, screenshot: Screenshot | undefined): Item => ({ id, ...(screenshot ? { screenshot } : {}) })

/** The live screenshot if it is of the account, else the archived one. */
export const orArchived = async (
  live: Screenshot | undefined,
  account: string,
  id: string,
  archive: CreateDeps['archive'],
): Promise<Screenshot | undefined> => (live && accountOf(live) === account ? live : archive.find(account, id))

/** Screenshots that an earlier request with this plan created, live or archived. */
async function findKnown(
  { ids }: CreationPlan,
  account: string,
  { screenshots, archive }: CreateDeps,
): Promise<Map<string, Screenshot | undefined>> {
  const found = await mapConcurrently(ids, MAX_CONCURRENT, async (id) => orArchived(await screenshots.findLatest(id), account, id, archive))
  return new Map(ids.flatMap((id, index) => (found[index] ? [[id, found[index]]] : [])))
}

/** @throws ApiError USAGE_LIMIT_REACHED, RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE */
async function pay(
  { account, execution: { plan }, units = 1 }: CreateRequest,
  missing: readonly string[],
  hasCreated: boolean,
  { quota }: CreateDeps,
): Promise<Grant> {
  const names = missing.map(toObjectName)
  const grant = await quota.reserve({ account, reservation: plan.reservation, names, units, at: new Date(plan.at) })
  const { facts } = grant
  if (grant.refusal === 'rate') throw rateLimitExceeded({ ratePerMinute: 0, ...facts }, toLimitHeaders(facts))
  if (grant.granted === 0 && !hasCreated) throw usageLimitReached(facts, units)
  return grant
}

async function createOne(
  id: string,
  object: NewScreenshot | undefined,
  { account }: CreateRequest,
  { screenshots }: CreateDeps,
): Promise<Item> {
  if (!object) throw new Error(`no object for ${id}`)
  try {
    const screenshot = await screenshots.create(object)
    if (accountOf(screenshot) === account.metadata.name) return { id, screenshot }
    throw new ApiError('CONFLICT', 'the screenshot id is already in use')
  } catch (error) {
    if (!isRefusal(error))
      return { id, refusal: { code: 'SERVICE_UNAVAILABLE', message: 'the screenshot could not be stored: retry in a few seconds' }, error }
    const { code, message } = toHttpError(error)
    return { id, refusal: { code, message }, error }
  }
}
