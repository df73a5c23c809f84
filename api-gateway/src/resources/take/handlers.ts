import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Account } from '@tintype/crds/kinds/account'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { isMoving } from '@tintype/crds/options/output/formats'
import { toRecord } from '@tintype/crds/records/record'
import { objectKey } from '@tintype/crds/records/storage-keys'
import { counted } from '@tintype/crds/text/words'
import { limitsOfPlan } from '@tintype/crds/usage/plans'
import { unitsOf } from '@tintype/crds/usage/usage'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type LoadedPicture, type Picture, readPicture } from '../../cache/find-picture.ts'
import { ApiError, type HttpError, notFound } from '../../common/errors.ts'
import { buildAll } from '../../creation/build.ts'
import { planScreenshots } from '../../creation/plan.ts'
import type { JoinedCapture, SharedCaptureRequest } from '../../creation/shared-captures.ts'
import { NO_STORE } from '../../http/headers.ts'
import type { Input } from '../../http/route.ts'
import { sendError } from '../../plugins/errors.ts'
import { traceparentOf } from '../../plugins/requests.ts'
import { rateLimitExceeded, toLimitHeaders, usageLimitReached } from '../../quota/limits.ts'
import { EMBEDDABLE } from '../files/file-headers.ts'
import { findFile } from '../files/find-file.ts'
import { sendFile } from '../files/send-file.ts'
import { assertUrlsWithin, keptPolicyOf } from '../keys/capture-limits.ts'
import { captureFailed } from '../screenshots/create.ts'
import { assertOptionsAllowed, assertRetentionAllowed } from '../screenshots/options/options-body.ts'
import { holdUntilFinished } from '../screenshots/wait.ts'
import { authenticateLink, type Caller } from './authenticate.ts'
import { toCacheHeaders } from './cache-headers.ts'
import type { TakeDeps } from './deps.ts'
import { ERROR_IMAGES } from './generated/error-images.ts'
import { assertLinkOptions } from './link-options.ts'
import { parseLinkQuery } from './link-query.ts'
import { ParsedLink } from './parsed-link.ts'
import { type PictureRequest, readPictureRequest } from './picture-request.ts'

/** Longest time to hold a request. It is below the usual proxy timeouts of 30 and 60 seconds. */
const HOLD_MILLISECONDS = 25_000
/** Ages of a shared capture above which clients are no longer redirected. Browsers follow at most 20 redirects, each after 25 seconds. */
const MAX_FLIGHT_SECONDS = 100
const MAX_VIDEO_FLIGHT_SECONDS = 300

/** What one request asks for. */
interface Take {
  request: FastifyRequest
  reply: FastifyReply
  /** The raw query. */
  query: string
  caller: Caller
  wanted: PictureRequest
  hash: string
}

/** The raw query. It is ASCII, because Node.js refuses other bytes in a URL, so `Location` can contain it. */
function rawQueryOf({ raw: { url = '' } }: FastifyRequest): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** Responds to GET and HEAD /take with a picture, or with the picture of an error if the link asks for it. */
export async function takePicture({ request, reply }: Input, deps: TakeDeps): Promise<FastifyReply> {
  const query = rawQueryOf(request)
  // Browsers check redirects and pictures of errors like pictures.
  reply.headers(EMBEDDABLE)
  try {
    return await respond({ request, reply, query }, deps)
  } catch (error) {
    // A response that has started can only be aborted.
    if (reply.sent || !wantsErrorImage(query)) throw error
    return sendError(error, request, reply, (httpError) => ({ type: 'image/png', body: toErrorImage(httpError) }))
  }
}

async function respond({ request, reply, query }: Pick<Take, 'request' | 'reply' | 'query'>, deps: TakeDeps): Promise<FastifyReply> {
  const known = deps.parsedLinks.get(query)
  const link = known?.query ?? parseLinkQuery(query)
  const caller = await authenticateLink(link, request.headers.authorization, deps)
  countCall(caller, deps)
  assertLinkOptions(link.options, caller.limits)
  const parsed = known ?? new ParsedLink(link, readPictureRequest(link, deps))
  if (!known) deps.parsedLinks.add(query, parsed)
  const { wanted } = parsed
  assertOptionsAllowed(wanted, deps.optionPolicy)
  assertRetentionAllowed(wanted, limitsOfPlan(deps.plans, caller.account.spec.plan).retentionDays)
  assertUrlsWithin([wanted], caller.limits)
  const hash = parsed.hashFor({ account: caller.account.metadata.name, policy: keptPolicyOf(caller.apiKey) }, deps.keyRing())
  const take: Take = { request, reply, query, caller, wanted, hash }
  const picture = await deps.pictures.get(hash, () => findCached(take, deps))
  return picture ? sendCached(take, picture, deps) : capture(take, deps)
}

/** @throws ApiError RATE_LIMIT_EXCEEDED */
function countCall({ account }: Caller, { calls, now }: TakeDeps): void {
  const seconds = calls.take('link', account.metadata.name, now())
  if (seconds) throw rateLimitExceeded({ ratePerMinute: calls.perMinute.link, rateResetSeconds: seconds })
}

/** Pages may redirect to hosts that the policies refuse. @throws ApiError URL_NOT_ALLOWED */
const assertFinalUrl = (url: string, { limits }: Caller): void => assertUrlsWithin([{ url }], limits, 'final url')

/** Looks for the picture in the bucket. */
async function findCached({ caller, wanted: { options }, hash }: Take, deps: TakeDeps): Promise<Picture | undefined> {
  const cached = await readPicture({ account: caller.account.metadata.name, options }, hash, Number.POSITIVE_INFINITY, deps)
  if (!cached) return undefined
  const { entry, key, file } = cached
  const { id, completedAt, keptUntil, result } = entry
  return {
    id,
    key,
    stored: file,
    capturedAt: new Date(completedAt),
    finalUrl: result.finalUrl,
    ...(keptUntil === undefined ? {} : { keptUntil: new Date(keptUntil) }),
  }
}

/** Sends a cached picture. A stale one is sent at once, and a capture in the background replaces it. */
async function sendCached(take: Take, picture: LoadedPicture, deps: TakeDeps): Promise<FastifyReply> {
  const { caller, wanted } = take
  const isStale = deps.now().getTime() - picture.capturedAt.getTime() > wanted.cache.cacheTtl * 1_000
  if (isStale) deps.sharedCaptures.refresh(toSharedRequest(take, deps))
  assertFinalUrl(picture.finalUrl ?? wanted.url, caller)
  deps.metrics.linkRequests.inc({ outcome: isStale ? 'stale' : 'hit' })
  return sendPicture(take, picture, deps)
}

function sendPicture({ request, reply, caller, wanted }: Take, picture: LoadedPicture, deps: TakeDeps): Promise<FastifyReply> {
  const { id, key, stored, bytes, capturedAt } = picture
  const { format } = wanted
  const { isLink, expires } = caller
  const headers = isLink ? toCacheHeaders({ capturedAt, ttlSeconds: wanted.cache.cacheTtl, expires, now: deps.now() }) : NO_STORE
  if (bytes) deps.pictures.hold(bytes, reply.raw)
  return sendFile(request, reply, { key, name: `${id}.${format}`, extension: format, stored, bytes, headers }, deps)
}

/**
 * Refuses a capture before anything is written, so that many requests without quota cost little.
 * @throws ApiError QUEUE_FULL, USAGE_LIMIT_REACHED, RATE_LIMIT_EXCEEDED
 */
function assertCanCapture(owner: Account, units: number, { quota, queue, now }: TakeDeps): void {
  const facts = quota.facts(owner, now())
  if (facts.used + units > facts.limit) throw usageLimitReached(facts, units)
  const { ratePerMinute } = facts
  if (ratePerMinute !== undefined && facts.rateRemaining === 0) throw rateLimitExceeded({ ...facts, ratePerMinute }, toLimitHeaders(facts))
  queue.check(owner, 1)
}

const toSharedRequest = ({ request, caller, wanted, hash }: Take, deps: TakeDeps): SharedCaptureRequest => {
  const { account: owner } = caller
  const { name: account } = owner.metadata
  const { url, options, cache, record } = wanted
  const capturePolicy = keptPolicyOf(caller.apiKey)
  return {
    owner,
    account,
    hash,
    units: unitsOf({ options }),
    admit: () => assertCanCapture(owner, unitsOf({ options }), deps),
    newPlan: () => planScreenshots(deps.now(), 1, false, deps.queue.estimate(owner, 1)),
    build: (plan) =>
      buildAll(
        { accountName: account, capturePolicy, targets: [{ url }], options, cache, record, traceparent: traceparentOf(request) },
        plan,
        deps,
      ),
    onCreate: (screenshot) => {
      deps.metrics.screenshotsCreated.inc()
      void countCapture(screenshot, deps)
      // A hit writes nothing, so only captures count as uses of the key.
      deps.keys.recordUse(caller.apiKey, deps.now())
    },
    signal: deps.draining,
    waitMilliseconds: HOLD_MILLISECONDS,
  }
}

/** Visitors of a page must not see the quota and the rate of the account whose link it has. */
function withoutUsage(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const { code, headers } = error
  if (code === 'USAGE_LIMIT_REACHED') {
    return new ApiError(code, 'the account of the link has reached its usage limit', { headers: { 'x-should-retry': 'false' } })
  }
  if (code !== 'RATE_LIMIT_EXCEEDED') return error
  const { 'retry-after': seconds = '1' } = headers
  return new ApiError(code, `the account of the link creates too many screenshots. Retry in ${counted(Number(seconds), 'second')}.`, {
    headers: { 'retry-after': seconds },
  })
}

/** Starts a capture or joins a running one, and waits for its end. */
async function capture(take: Take, deps: TakeDeps): Promise<FastifyReply> {
  const started = performance.now()
  const joined = await deps.sharedCaptures.join(toSharedRequest(take, deps)).catch((error: unknown) => {
    deps.metrics.linkRequests.inc({ outcome: 'refused' })
    throw take.caller.isLink ? withoutUsage(error) : error
  })
  if (!joined) return redirect(take, deps)
  const left = Math.max(0, HOLD_MILLISECONDS - (performance.now() - started))
  const { screenshot } = joined
  const ended = isFinished(screenshot) ? screenshot : await holdUntilFinished(screenshot, left / 1_000, take.reply, deps)
  // A deleted screenshot ends its shared capture. The next request starts another one.
  if (ended === undefined) return redirect(take, deps)
  if (isFinished(ended)) return sendEnded(take, joined, ended, deps)
  const maxSeconds = isMoving(take.wanted.format) ? MAX_VIDEO_FLIGHT_SECONDS : MAX_FLIGHT_SECONDS
  if (deps.now().getTime() - joined.startedAt.getTime() < maxSeconds * 1_000) return redirect(take, deps)
  deps.metrics.linkRequests.inc({ outcome: 'pending' })
  throw new ApiError('CAPTURE_TIMEOUT', `the capture has not ended within ${maxSeconds} seconds. Request the link again later.`)
}

/** The client requests the link again, and waits for the same capture. */
function redirect({ reply, query }: Take, { metrics }: TakeDeps): FastifyReply {
  metrics.linkRequests.inc({ outcome: 'pending' })
  // Only the query, because a proxy may serve this path under another one.
  return reply
    .code(307)
    .headers({ location: `?${query}`, 'cache-control': 'no-store' })
    .send()
}

/** @throws ApiError CAPTURE_FAILED, URL_NOT_ALLOWED, NOT_FOUND, EXPIRED */
async function sendEnded(take: Take, { isCreator }: JoinedCapture, ended: Screenshot, deps: TakeDeps): Promise<FastifyReply> {
  const { caller, wanted } = take
  const { result, completionTime, phase } = ended.status ?? {}
  if (phase === 'Failed') {
    deps.metrics.linkRequests.inc({ outcome: 'failed' })
    throw captureFailed(toRecord(ended, () => undefined))
  }
  assertFinalUrl(result?.finalUrl ?? wanted.url, caller)
  const account = caller.account.metadata.name
  const extension = wanted.format
  const id = screenshotIdOf(ended.metadata)
  const capturedAt = completionTime === undefined ? deps.now() : new Date(completionTime)
  const key = objectKey(account, id, extension)
  // The requests that waited for the capture share these reads. The hash would join reads that began before the picture was in the cache.
  const picture = await deps.pictures.get(key, async () => {
    const stored = await findFile({ account, id, extension }, deps)
    return { id, key, stored, capturedAt, finalUrl: result?.finalUrl }
  })
  if (!picture) throw notFound('file')
  deps.metrics.linkRequests.inc({ outcome: isCreator ? 'captured' : 'joined' })
  return sendPicture(take, picture, deps)
}

/** Longest time in the queue and in a runner. A capture that takes longer is not counted. */
const MAX_CAPTURE_MILLISECONDS = 3_600_000

/** Counts a capture when it has ended. A request that started it may have been redirected or closed by then, so requests do not count captures. */
async function countCapture(
  screenshot: Screenshot,
  { screenshots, metrics, draining }: Pick<TakeDeps, 'screenshots' | 'metrics' | 'draining'>,
): Promise<void> {
  const ended = await screenshots.waitUntilFinished(screenshot, MAX_CAPTURE_MILLISECONDS, draining)
  if (ended && isFinished(ended)) metrics.linkCaptures.inc({ outcome: ended.status?.phase === 'Failed' ? 'failed' : 'completed' })
}

// Browsers show the picture of a response whatever its status, so a page shows the code of the error in place of the picture.

/** True when the query asks for pictures of errors. Also for queries that are not valid otherwise. */
const wantsErrorImage = (query: string): boolean => new URLSearchParams(query).get('on_error') === 'image'

/** A failed capture has a code of its own, which says more. */
function codeOf({ code, details }: Pick<HttpError, 'code' | 'details'>): string {
  const inner = code === 'CAPTURE_FAILED' && details !== undefined && 'code' in details ? String(details.code) : code
  return Object.hasOwn(ERROR_IMAGES, inner) ? inner : code
}

/** The PNG picture of an error. */
const toErrorImage = (error: Pick<HttpError, 'code' | 'details'>): Buffer => Buffer.from(ERROR_IMAGES[codeOf(error)] ?? '', 'base64')
