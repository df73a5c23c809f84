import type { HttpErrorCode } from '@tintype/crds/errors'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { toObjectName } from '@tintype/crds/names'
import { accountOf } from '@tintype/crds/record'
import { ApiError, toHttpError, unavailable } from '../errors.ts'
import { rateLimitExceeded, usageLimitReached } from '../quota/refusals.ts'
import type { Grant, QuotaStore, RecordArchive, ScreenshotStore } from '../store/ports.ts'
import { toLimitHeaders } from '../translate/account/usage.ts'
import type { NewScreenshot } from '../translate/screenshots/screenshot.ts'
import type { IdempotentExecution } from './idempotency.ts'
import { mapConcurrently } from './map-concurrently.ts'
import type { CreationPlan } from './plan.ts'
import type { Queue, ReleaseSlots } from './queue.ts'
import type { UncertainCreates } from './uncertain-creates.ts'

// One creation, of one screenshot or of a batch: pay, create, settle. Every step may be repeated under the same plan, by this process or, after
// a crash, by another.

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
  /** What must be kept before anything is paid for. */
  prepare?: () => Promise<void>
  /** Builds the objects of the plan's ids, in their order; called when they are paid for. */
  build: () => Promise<readonly NewScreenshot[]>
}

/** What became of the n-th of a creation. */
export interface Item {
  id: string
  /** The object as it was created; absent when it was not, or when it has been archived or deleted since an earlier request made it. */
  screenshot?: Screenshot
  /** Why there is none. */
  refusal?: { code: HttpErrorCode; message: string }
  /** What the API server said to it; for the log. */
  error?: unknown
}

export interface Creation {
  items: Item[]
  /** What was to be created, in the order of the plan; empty when an earlier request had created everything. */
  objects: readonly NewScreenshot[]
  /** Absent when an earlier request had paid for everything. */
  grant?: Grant
}

/** Objects of a batch that are created at the same time: all of them, since the store writes many at once as fast as a few. */
const AT_ONCE = 100

/**
 * Carries a plan out as far as the quota lets it.
 * @throws ApiError when nothing was created: USAGE_LIMIT_REACHED, RATE_LIMIT_EXCEEDED, QUEUE_FULL, SERVICE_UNAVAILABLE, VALIDATION_ERROR
 */
export async function createScreenshots(request: CreateRequest, deps: CreateDeps): Promise<Creation> {
  const { account, execution } = request
  const { plan } = execution
  const known = execution.isRepeated ? await findKnown(plan, account.metadata.name, deps) : new Map<string, Screenshot | undefined>()
  const missing = plan.ids.filter((id) => !known.has(id))
  if (missing.length === 0) return { items: plan.ids.map((id) => toItem(id, known.get(id))), objects: [] }
  const releaseSlots = await enterQueue(request, missing, known.size > 0, deps)
  try {
    return await createMissing(request, { known, missing }, deps)
  } finally {
    releaseSlots()
  }
}

interface Missing {
  /** What an earlier request has created. */
  known: ReadonlyMap<string, Screenshot | undefined>
  missing: readonly string[]
}

async function createMissing(request: CreateRequest, { known, missing }: Missing, deps: CreateDeps): Promise<Creation> {
  const { plan } = request.execution
  await request.prepare?.()
  const grant = await pay(request, missing, known.size > 0, deps)
  const paid = new Set(missing.slice(0, grant.granted))
  const objects = await buildPaid(request, paid, known.size > 0, deps)
  const items = await mapConcurrently(plan.ids, AT_ONCE, async (id, index): Promise<Item> => {
    if (known.has(id)) return toItem(id, known.get(id))
    if (!paid.has(id)) return { id, refusal: { code: 'USAGE_LIMIT_REACHED', message: usageLimitReached(grant.facts).message } }
    return createOne(id, objects[index], request, deps)
  })
  await conclude(items, request, deps)
  return { items, objects, grant }
}

/** @throws ApiError when nothing was created */
async function conclude(
  items: readonly Item[],
  { account, execution }: CreateRequest,
  { quota, uncertainCreates }: CreateDeps,
): Promise<void> {
  const errors = items.flatMap(({ error }) => error ?? [])
  const uncertain = items.filter(({ error }) => error !== undefined && isUnknown(error)).map(({ id }) => id)
  const hasCreated = errors.length === 0 || items.some(({ refusal }) => !refusal)
  const { reservation } = execution.plan
  // What is not settled stays charged until somebody has seen whether it exists.
  if (uncertain.length === 0) quota.settle(account.metadata.name, reservation)
  // Where nothing was answered but an error, a request with the same key goes on under this reservation.
  else if (hasCreated || !execution.isRemembered) void uncertainCreates.add({ account: account.metadata.name, reservation, ids: uncertain })
  if (hasCreated) return
  if (uncertain.length === 0) await execution.forget()
  const [error] = errors
  throw error instanceof ApiError ? error : unavailable('the service is not available for the moment', error)
}

const toItem = (id: string, screenshot: Screenshot | undefined): Item => ({ id, ...(screenshot ? { screenshot } : {}) })

/** What an earlier request with this plan has created, wherever it is now. */
async function findKnown(
  { ids }: CreationPlan,
  account: string,
  { screenshots, archive }: CreateDeps,
): Promise<Map<string, Screenshot | undefined>> {
  const found = await mapConcurrently(ids, AT_ONCE, async (id) => {
    const live = await screenshots.findLatest(id)
    return live && accountOf(live) === account ? live : archive.find(account, id)
  })
  return new Map(ids.flatMap((id, index) => (found[index] ? [[id, found[index]]] : [])))
}

/** Before anything is written. @throws ApiError QUEUE_FULL */
async function enterQueue(
  { account, execution }: CreateRequest,
  ids: readonly string[],
  hasCreated: boolean,
  { queue }: CreateDeps,
): Promise<ReleaseSlots> {
  try {
    return queue.enter(account, ids)
  } catch (error) {
    if (!hasCreated) await execution.forget()
    throw error
  }
}

async function pay(
  { account, execution }: CreateRequest,
  missing: readonly string[],
  hasCreated: boolean,
  deps: CreateDeps,
): Promise<Grant> {
  const { plan } = execution
  try {
    const names = missing.map(toObjectName)
    const grant = await deps.quota.reserve({ account, reservation: plan.reservation, names, at: new Date(plan.at) })
    if (grant.refusal === 'rate') throw rateLimitExceeded(grant.facts, toLimitHeaders(grant.facts))
    if (grant.granted === 0 && !hasCreated) throw usageLimitReached(grant.facts)
    return grant
  } catch (error) {
    // Nothing was executed: the same request may be sent again with the same key, and count as new.
    if (!hasCreated && !isUnknown(error)) await execution.forget()
    throw error
  }
}

/** Nothing is created when the options cannot be stored. */
async function buildPaid(
  { account, execution, build }: CreateRequest,
  paid: ReadonlySet<string>,
  hasCreated: boolean,
  { quota }: CreateDeps,
) {
  try {
    return await build()
  } catch (error) {
    await quota.giveBack(account.metadata.name, execution.plan.reservation, [...paid].map(toObjectName))
    if (!hasCreated) await execution.forget()
    throw error
  }
}

async function createOne(
  id: string,
  object: NewScreenshot | undefined,
  { account, execution }: CreateRequest,
  deps: CreateDeps,
): Promise<Item> {
  if (!object) throw new Error(`there is no object for ${id}`)
  try {
    const screenshot = await deps.screenshots.create(object)
    if (accountOf(screenshot) === account.metadata.name) return { id, screenshot }
    throw new ApiError('CONFLICT', 'the id of the screenshot is taken')
  } catch (error) {
    if (isUnknown(error)) return { id, refusal: { code: 'SERVICE_UNAVAILABLE', message: 'it could not be stored' }, error }
    await deps.quota.giveBack(account.metadata.name, execution.plan.reservation, [toObjectName(id)])
    const { code, message } = toHttpError(error)
    return { id, refusal: { code, message }, error }
  }
}

/** True when it is not known whether the other side has done it. */
const isUnknown = (error: unknown): boolean => !(error instanceof ApiError) || error.code === 'SERVICE_UNAVAILABLE'
