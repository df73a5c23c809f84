import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { withDefaults } from '@tintype/crds/options/catalog'
import { CONTENT_TYPES } from '@tintype/crds/options/output/formats'
import { accountOf, type ScreenshotRecord } from '@tintype/crds/records/record'
import { limitsOfPlan } from '@tintype/crds/usage/plans'
import { unitsOf } from '@tintype/crds/usage/usage'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../common/errors.ts'
import { buildAll } from '../../creation/build.ts'
import { type CreateDeps, type CreateRequest as Creation, createScreenshots, orArchived } from '../../creation/create.ts'
import { planScreenshots } from '../../creation/plan.ts'
import { preferredBody, setQueuePositionHeader, setReplayedHeader } from '../../http/headers.ts'
import type { Input } from '../../http/route.ts'
import { traceparentOf } from '../../plugins/requests.ts'
import type { ScreenshotStore } from '../../store/ports.ts'
import { findFile } from '../files/find-file.ts'
import { sendFile } from '../files/send-file.ts'
import { assertCaptureWithin, captureLimitsOf, keptPolicyOf, toIdentifiedBody } from '../keys/capture-limits.ts'
import { ensureDefaultWebhook } from '../webhooks/webhook-object.ts'
import { checkBaseline } from './check-baseline.ts'
import type { CreateRequest } from './create-body.ts'
import { POLL_SECONDS, type ScreenshotsDeps } from './deps.ts'
import { type CaptureKind, pathOf } from './kind.ts'
import { readRecord } from './links.ts'
import { withDefaultThumbnail } from './options/default-thumbnail.ts'
import { assertOptionsAllowed, assertRetentionAllowed } from './options/options-body.ts'
import { holdUntilFinished, planResponse, type ResponsePlan, type WaitQuery } from './wait.ts'

/** Creates a screenshot or a video. Returns a function that responds, because it may wait for the capture, without the body of the request. */
export async function createCapture(
  { request, reply, body, query }: Input<object, CreateRequest, WaitQuery>,
  kind: CaptureKind,
  deps: ScreenshotsDeps,
): Promise<() => Promise<FastifyReply>> {
  const requested = withDefaultThumbnail(body, deps.thumbnailWidth)
  assertOptionsAllowed(requested, deps.optionPolicy)
  assertRetentionAllowed(requested, limitsOfPlan(deps.plans, request.account.spec.plan).retentionDays)
  assertCaptureWithin({ ...body, targets: [body] }, captureLimitsOf(request.apiKey))
  const capturePolicy = keptPolicyOf(request.apiKey)
  const plan = planResponse({ request: requested, waitSeconds: query.wait, preferred: findPreferred(request, requested) })
  const { account, accountName } = request
  const execution = await deps.idempotency.begin({
    account: accountName,
    key: request.headers['idempotency-key'],
    route: `POST ${kind.collection}`,
    body: toIdentifiedBody(request.body, capturePolicy),
    admit: () => deps.queue.check(account, 1),
    newPlan: () => planScreenshots(deps.now(), 1, false, deps.queue.estimate(account, 1)),
  })
  const build = async () => {
    if (requested.record?.webhookUrl !== undefined) await ensureDefaultWebhook(accountName, deps)
    return buildAll(
      { ...requested, accountName, capturePolicy, targets: [{ url: requested.url }], traceparent: traceparentOf(request) },
      execution.plan,
      deps,
    )
  }
  const prepare = () => checkBaseline(accountName, requested.options, deps)
  const created = await createSingle({ account, execution, units: unitsOf(requested), prepare, build }, deps)
  deps.metrics.screenshotsCreated.inc()
  setReplayedHeader(reply, execution).header('location', pathOf(kind, screenshotIdOf(created.metadata)))
  return toResponse(request, reply, created, plan, deps)
}

/** @throws ApiError NOT_ACCEPTABLE for an Accept header that fits neither the file nor the record, unless `response_type` decides */
function findPreferred({ headers: { accept } }: FastifyRequest, { options, responseType }: CreateRequest): 'file' | 'record' {
  const { format } = withDefaults(options)
  const type = CONTENT_TYPES[format]
  const preferred = responseType === undefined ? preferredBody(accept, type) : 'record'
  if (preferred !== undefined) return preferred
  const message = `the header Accept allows neither ${type}, the file in format ${format}, nor application/json, the record. Add one of them, or set options.format.`
  throw new ApiError('NOT_ACCEPTABLE', message)
}

/** A function of its own: a function inside of createCapture would keep the options in memory while the request waits. */
const toResponse =
  (request: FastifyRequest, reply: FastifyReply, created: Screenshot, plan: ResponsePlan, deps: ScreenshotsDeps) =>
  async (): Promise<FastifyReply> => {
    const isHeld = plan.waitSeconds > 0
    const ended = isHeld && !isFinished(created) ? await holdUntilFinished(created, plan.waitSeconds, reply, deps) : created
    if (isHeld && ended && isFinished(ended)) return sendFinished(request, reply, ended, plan.body, deps)
    const { record } = readRecord(created, request, deps)
    return setQueuePositionHeader(reply, deps.queue.positionOf(ended ?? created, request.account))
      .code(202)
      .header('retry-after', POLL_SECONDS)
      .send(toCreated(record))
  }

/** The response to a create. */
export const toCreated = ({ id, url, options, created_at, estimated_time }: ScreenshotRecord) => ({
  id,
  url,
  status: 'pending',
  options,
  created_at,
  estimated_time,
})

async function sendFinished(
  request: FastifyRequest,
  reply: FastifyReply,
  screenshot: Screenshot,
  body: 'record' | 'file' | 'empty',
  deps: ScreenshotsDeps,
): Promise<FastifyReply> {
  const { record, tag } = readRecord(screenshot, request, deps)
  if (body === 'file') return sendCaptureFile(request, reply, screenshot, record, deps)
  if (body === 'empty') return reply.code(204).send()
  return reply.header('etag', tag).send(record)
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

export interface SingleDeps extends CreateDeps {
  screenshots: CreateDeps['screenshots'] & Pick<ScreenshotStore, 'find'>
}

/** Creates one screenshot, or finds the one that an earlier request with the same Idempotency-Key created. */
export async function createSingle(request: Creation, deps: SingleDeps): Promise<Screenshot> {
  const { execution, account } = request
  const [id = ''] = execution.plan.ids
  if (execution.result !== undefined) {
    const found = await orArchived(await deps.screenshots.find(id), account.metadata.name, id, deps.archive)
    return found ?? asCreated(request)
  }
  const { items } = await createScreenshots(request, deps)
  await execution.complete({})
  return items[0]?.screenshot ?? asCreated(request)
}

/** Rebuilds the object for a replayed response when the screenshot no longer exists. */
async function asCreated({ build, execution }: Creation): Promise<Screenshot> {
  const [object] = await build()
  if (!object) throw new Error('the plan has no objects')
  const { name } = object.metadata
  const metadata = { name, namespace: '', uid: name, resourceVersion: '0', creationTimestamp: execution.plan.at }
  return { metadata, spec: object.spec, status: { phase: 'Pending' } }
}
