import { createdAtOf, isBatchId, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { limitsOfPlan } from '@tintype/crds/usage/plans'
import type { FastifyReply } from 'fastify'
import { notFound } from '../../common/errors.ts'
import { buildAll } from '../../creation/build.ts'
import { planScreenshots } from '../../creation/plan.ts'
import { setReplayedHeader } from '../../http/headers.ts'
import type { Input } from '../../http/route.ts'
import { traceparentOf } from '../../plugins/requests.ts'
import { assertCaptureWithin, captureLimitsOf, keptPolicyOf, toIdentifiedBody } from '../keys/capture-limits.ts'
import { POLL_SECONDS, type ScreenshotsDeps } from '../screenshots/deps.ts'
import { readRecord } from '../screenshots/links.ts'
import { withDefaultThumbnail } from '../screenshots/options/default-thumbnail.ts'
import { assertOptionsAllowed, assertRetentionAllowed } from '../screenshots/options/options-body.ts'
import type { ById } from '../shared/owned-records.ts'
import { ensureDefaultWebhook } from '../webhooks/webhook-object.ts'
import { toBatchResult } from './batch-result.ts'
import type { BatchRequest } from './create-body.ts'
import { createItems } from './create-items.ts'

/** Creates one screenshot per URL. */
export async function createBatch({ request, reply, body }: Input<object, BatchRequest>, deps: ScreenshotsDeps): Promise<FastifyReply> {
  const requested = withDefaultThumbnail(body, deps.thumbnailWidth)
  const { account, accountName } = request
  assertOptionsAllowed(requested, deps.optionPolicy)
  assertRetentionAllowed(requested, limitsOfPlan(deps.plans, request.account.spec.plan).retentionDays)
  const targets = body.targets.map((target, index) => ({ ...target, path: `urls[${index}]` }))
  assertCaptureWithin({ ...body, targets }, captureLimitsOf(request.apiKey))
  const capturePolicy = keptPolicyOf(request.apiKey)
  const count = targets.length
  const execution = await deps.idempotency.begin({
    account: accountName,
    key: request.headers['idempotency-key'],
    route: 'POST /screenshots/batch',
    body: toIdentifiedBody(request.body, capturePolicy),
    admit: () => deps.queue.check(account, count),
    newPlan: () => planScreenshots(deps.now(), count, true, deps.queue.estimate(account, count)),
  })
  const { batchId = '' } = execution.plan
  const urls = requested.targets.map(({ url }) => url)
  const build = async () => {
    if (requested.record?.webhookUrl !== undefined) await ensureDefaultWebhook(accountName, deps)
    return buildAll({ ...requested, accountName, capturePolicy, traceparent: traceparentOf(request) }, execution.plan, deps)
  }
  const items = await createItems({ account, execution, urls, batchId, build }, { ...deps, log: request.log })
  deps.metrics.screenshotsCreated.inc(items.filter(({ refusal }) => !refusal).length)
  return setReplayedHeader(reply, execution)
    .code(202)
    .headers({ location: `/api/v1/batches/${batchId}`, 'retry-after': POLL_SECONDS })
    .send(toBatchResult(batchId, items, execution.plan.estimatedTime))
}

/** Reads a batch and the records of its screenshots. */
export async function readBatch({ request, reply, params }: Input<ById>, deps: ScreenshotsDeps) {
  const found = await findBatch(request.accountName, params.id, deps)
  const records = found.map((screenshot) => readRecord(screenshot, request, deps).record)
  const count = (selected: string): number => records.filter(({ status }) => status === selected).length
  const pending = count('pending')
  if (pending > 0) reply.header('retry-after', POLL_SECONDS)
  return {
    success: true,
    data: {
      batch_id: params.id,
      created_at: createdAtOf(params.id).toISOString(),
      total: records.length,
      pending,
      completed: count('completed'),
      failed: count('failed'),
      screenshots: records,
    },
  }
}

const MAX_CONCURRENT_READS = 16

/** Screenshots of a batch that still exist, in the order of the request. @throws ApiError NOT_FOUND */
async function findBatch(account: string, batchId: string, { screenshots, archive }: ScreenshotsDeps): Promise<Screenshot[]> {
  const ids = isBatchId(batchId) ? await archive.findBatch(account, batchId) : undefined
  if (!ids) throw notFound('batch')
  const live = new Map(screenshots.findLiveOfBatch(account, batchId).map((screenshot) => [screenshotIdOf(screenshot.metadata), screenshot]))
  const found = await mapConcurrently(
    ids,
    MAX_CONCURRENT_READS,
    async (id) => live.get(id) ?? (await archive.find(account, id)) ?? (await screenshots.find(id)),
  )
  const isOwn = (screenshot: Screenshot): boolean => accountOf(screenshot) === account && screenshot.spec.batchId === batchId
  // Leaves out deleted screenshots, and foreign objects with an id of the batch.
  return found.filter((screenshot) => screenshot !== undefined).filter(isOwn)
}
