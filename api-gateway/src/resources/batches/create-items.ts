import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import type { FastifyBaseLogger } from 'fastify'
import { z } from 'zod'
import { type CreateDeps, type CreateRequest, createScreenshots } from '../../creation/create.ts'
import type { NewScreenshot, RecordArchive } from '../../store/ports.ts'
import { type BatchItem, toRefusedRecord } from './batch-result.ts'

export interface BatchDeps extends CreateDeps {
  archive: Pick<RecordArchive, 'find' | 'put' | 'putBatch'>
  log: FastifyBaseLogger
}

export interface BatchRequest extends CreateRequest {
  batchId: string
  urls: readonly string[]
}

/** Stored with an idempotent batch: the rejected items, by index. */
const Refusals = z.record(z.string(), z.object({ code: z.string(), message: z.string() }))

/**
 * Creates as many items of a batch as the quota allows, and records the others as failed.
 * @throws ApiError when nothing was created
 */
export async function createItems(request: BatchRequest, deps: BatchDeps): Promise<BatchItem[]> {
  const { execution, urls, account, batchId } = request
  const { ids } = execution.plan
  if (execution.result !== undefined) {
    const refusals = Refusals.safeParse(execution.result).data ?? {}
    return ids.map((id, index) => toBatchItem(id, urls[index], refusals[index]))
  }
  const accountName = account.metadata.name
  // Runs before quota is reserved, so that a batch whose ids cannot be stored costs nothing.
  const prepare = () => deps.archive.putBatch(accountName, batchId, ids)
  const { items, objects } = await createScreenshots({ ...request, prepare }, deps)
  await keepRefused(
    accountName,
    items.flatMap(({ id, refusal }, index) =>
      refusal?.code === 'USAGE_LIMIT_REACHED' ? [toRefused(id, objects[index], refusal.message)] : [],
    ),
    deps,
  )
  const errors = items.flatMap(({ error }) => error ?? [])
  if (errors.length > 0) deps.log.warn({ err: errors[0], count: errors.length }, 'batch items not stored')
  const refusals = items.flatMap(({ refusal }, index) => (refusal ? [[index, refusal] as const] : []))
  await execution.complete(Object.fromEntries(refusals))
  return items.map(({ id, refusal }, index) => toBatchItem(id, urls[index], refusal))
}

const toBatchItem = (id: string, url = '', refusal: BatchItem['refusal']): BatchItem => ({ id, url, ...(refusal ? { refusal } : {}) })

const toRefused = (id: string, object: NewScreenshot | undefined, message: string): Whole<Screenshot> => {
  if (!object) throw new Error(`no object for ${id}`)
  return toRefusedRecord(id, object.spec, { code: 'USAGE_LIMIT_REACHED', message })
}

/** Other items are created and charged at this point, so an unavailable store must not turn the response into an error. */
async function keepRefused(account: string, refused: readonly Whole<Screenshot>[], { archive, log }: BatchDeps): Promise<void> {
  if (refused.length === 0) return
  await archive.put(account, refused).catch((error: unknown) => {
    log.warn({ err: error, count: refused.length }, 'records of rejected batch items not stored')
  })
}
