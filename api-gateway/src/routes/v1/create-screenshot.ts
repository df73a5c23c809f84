import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf, type ScreenshotRecord } from '@tintype/crds/records/record'
import { limitsOfPlan } from '@tintype/crds/usage/plans'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../common/errors.ts'
import { buildAll } from '../../create/build.ts'
import { ensureDefaultWebhook } from '../../create/default-webhook.ts'
import { parseIdempotencyKey } from '../../create/idempotency.ts'
import { planScreenshots } from '../../create/plan.ts'
import { createSingle } from '../../create/single.ts'
import { traceparentOf } from '../../plugins/tracing.ts'
import { isLenient, prefersFile } from '../../translate/common/request-headers.ts'
import { parseCreateBody } from '../../translate/screenshots/create-body.ts'
import { assertOptionsAllowed, assertRetentionAllowed } from '../../translate/screenshots/options-body.ts'
import { parseWaitQuery, planResponse } from '../../translate/screenshots/response-plan.ts'
import { toCreated } from '../../translate/screenshots/screenshot.ts'
import { findFile } from '../files.ts'
import { linksFor, readRecord } from '../links.ts'
import { sendFile } from '../send-file.ts'
import { POLL_SECONDS, pathOf, type ScreenshotsDeps } from './deps.ts'
import { holdUntilFinished } from './hold-until-finished.ts'
import { setIgnoredOptionsHeader, setQueuePositionHeader, setReplayedHeader } from './response-headers.ts'

/** POST /screenshots. Can hold the request and respond with the picture itself. */
export function addCreateScreenshot(app: FastifyInstance, deps: ScreenshotsDeps): void {
  app.post<{ Querystring: Record<string, unknown> }>('/screenshots', { config: { scope: 'screenshots:write' } }, async (request, reply) => {
    const { waitSeconds } = parseWaitQuery(request.query)
    const requested = parseCreateBody(request.body, deps.egress, isLenient(request.headers.prefer), deps.webhookRules)
    assertOptionsAllowed(requested, deps.optionPolicy)
    assertRetentionAllowed(requested, limitsOfPlan(deps.plans, request.account.spec.plan).retentionDays)
    const plan = planResponse({ request: requested, waitSeconds, prefersFile: prefersFile(request.headers.accept) })
    const { account, accountName } = request
    const execution = await deps.idempotency.begin({
      account: accountName,
      key: parseIdempotencyKey(request.headers['idempotency-key']),
      route: 'POST /screenshots',
      body: request.body,
      admit: () => deps.queue.check(account, 1),
      newPlan: () => planScreenshots(deps.now(), 1, false, deps.queue.estimate(account, 1)),
    })
    const build = async () => {
      if (requested.record?.webhookUrl !== undefined) await ensureDefaultWebhook(accountName, deps)
      return buildAll(
        { ...requested, accountName, targets: [{ url: requested.url }], traceparent: traceparentOf(request) },
        execution.plan,
        deps,
      )
    }
    const created = await createSingle({ account, execution, build }, deps)
    deps.metrics.screenshotsCreated.inc()
    setReplayedHeader(setIgnoredOptionsHeader(reply, requested.ignored), execution).header(
      'location',
      pathOf(screenshotIdOf(created.metadata)),
    )
    const ended = plan.waitSeconds > 0 && !isFinished(created) ? await holdUntilFinished(created, plan.waitSeconds, reply, deps) : created
    if (plan.waitSeconds > 0 && ended && isFinished(ended)) return sendFinished(request, reply, ended, plan.body, deps)
    const { record } = readRecord(created, linksFor(request, deps))
    return setQueuePositionHeader(reply, deps.queue.positionOf(ended ?? created, account))
      .code(202)
      .header('retry-after', POLL_SECONDS)
      .send(toCreated(record))
  })
}

async function sendFinished(
  request: FastifyRequest,
  reply: FastifyReply,
  screenshot: Screenshot,
  body: 'record' | 'file' | 'empty',
  deps: ScreenshotsDeps,
): Promise<FastifyReply> {
  const { record, tag } = readRecord(screenshot, linksFor(request, deps))
  if (body === 'file') return sendCaptureFile(request, reply, screenshot, record, deps)
  if (body === 'empty') return reply.code(204).send()
  return reply.headers({ etag: tag, 'cache-control': 'private, no-cache' }).send(record)
}

/** The error when the file of a failed capture was requested. */
export function captureFailed({ id, error }: Pick<ScreenshotRecord, 'id' | 'error'>): ApiError {
  return new ApiError('CAPTURE_FAILED', error?.message ?? 'the capture failed', { details: { id, ...error } })
}

async function sendCaptureFile(
  request: FastifyRequest,
  reply: FastifyReply,
  screenshot: Screenshot,
  record: ScreenshotRecord,
  deps: ScreenshotsDeps,
): Promise<FastifyReply> {
  const { id, format: extension, storage_path: key } = record
  if (key === null) throw captureFailed(record)
  const stored = await findFile({ account: accountOf(screenshot), id, extension }, deps)
  return sendFile(request, reply, { key, name: `${id}.${extension}`, extension, stored }, deps)
}
