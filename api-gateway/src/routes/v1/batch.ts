import { createdAtOf, isBatchId, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { limitsOfPlan } from '@tintype/crds/usage/plans'
import type { FastifyInstance } from 'fastify'
import { notFound } from '../../common/errors.ts'
import { createBatch } from '../../create/batch.ts'
import { buildAll } from '../../create/build.ts'
import { ensureDefaultWebhook } from '../../create/default-webhook.ts'
import { parseIdempotencyKey } from '../../create/idempotency.ts'
import { mapConcurrently } from '../../create/map-concurrently.ts'
import { planScreenshots } from '../../create/plan.ts'
import { traceparentOf } from '../../plugins/tracing.ts'
import { parseBatchBody } from '../../translate/batches/batch-body.ts'
import { toBatchResult } from '../../translate/batches/batch-result.ts'
import { assertNoQuery } from '../../translate/common/query.ts'
import { isLenient } from '../../translate/common/request-headers.ts'
import { assertOptionsAllowed, assertRetentionAllowed } from '../../translate/screenshots/options-body.ts'
import { linksFor, readRecord } from '../links.ts'
import { POLL_SECONDS, type ScreenshotsDeps } from './deps.ts'
import { setIgnoredOptionsHeader, setReplayedHeader } from './response-headers.ts'

type Query = { Querystring: Record<string, unknown> }

/** POST /screenshots/batch and GET /batches/:id. */
export function addBatchRoutes(app: FastifyInstance, deps: ScreenshotsDeps): void {
  app.post<Query>('/screenshots/batch', { config: { scope: 'screenshots:write' } }, async (request, reply) => {
    assertNoQuery(request.query)
    const { account, accountName } = request
    const requested = parseBatchBody(request.body, deps.egress, isLenient(request.headers.prefer), deps.webhookRules)
    assertOptionsAllowed(requested, deps.optionPolicy)
    assertRetentionAllowed(requested, limitsOfPlan(deps.plans, request.account.spec.plan).retentionDays)
    const count = requested.targets.length
    const execution = await deps.idempotency.begin({
      account: accountName,
      key: parseIdempotencyKey(request.headers['idempotency-key']),
      route: 'POST /screenshots/batch',
      body: request.body,
      admit: () => deps.queue.check(account, count),
      newPlan: () => planScreenshots(deps.now(), count, true, deps.queue.estimate(account, count)),
    })
    const { batchId = '' } = execution.plan
    const urls = requested.targets.map(({ url }) => url)
    const build = async () => {
      if (requested.record?.webhookUrl !== undefined) await ensureDefaultWebhook(accountName, deps)
      return buildAll({ ...requested, accountName, traceparent: traceparentOf(request) }, execution.plan, deps)
    }
    const items = await createBatch({ account, execution, urls, batchId, build }, { ...deps, log: request.log })
    deps.metrics.screenshotsCreated.inc(items.filter(({ refusal }) => !refusal).length)
    setReplayedHeader(setIgnoredOptionsHeader(reply, requested.ignored), execution)
    return reply
      .code(202)
      .headers({ location: `/api/v1/batches/${batchId}`, 'retry-after': POLL_SECONDS })
      .send(toBatchResult(batchId, items, execution.plan.estimatedTime))
  })

  app.get<Query & { Params: { id: string } }>('/batches/:id', { config: { scope: 'screenshots:read' } }, async (request, reply) => {
    assertNoQuery(request.query)
    const found = await findBatch(request.accountName, request.params.id, deps)
    const linkTo = linksFor(request, deps)
    const records = found.map((screenshot) => readRecord(screenshot, linkTo).record)
    const count = (selected: string): number => records.filter(({ status }) => status === selected).length
    const pending = count('pending')
    reply.headers({ 'cache-control': 'private, no-cache', ...(pending > 0 ? { 'retry-after': POLL_SECONDS } : {}) })
    return {
      success: true,
      data: {
        batch_id: request.params.id,
        created_at: createdAtOf(request.params.id).toISOString(),
        total: records.length,
        pending,
        completed: count('completed'),
        failed: count('failed'),
        screenshots: records,
      },
    }
  })
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
