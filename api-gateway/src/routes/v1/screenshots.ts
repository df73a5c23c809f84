import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/record'
import { objectKeyPrefix, tombstoneKey } from '@tintype/crds/storage-keys'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, notFound } from '../../errors.ts'
import { hasTag } from '../../translate/etag.ts'
import { buildListPage } from '../../translate/list-page.ts'
import { parseListQuery } from '../../translate/list-query.ts'
import { parseWaitQuery } from '../../translate/wait-query.ts'
import { findFile } from '../files.ts'
import { linksFor, readRecord } from '../links.ts'
import { captureFailed } from './create-screenshot.ts'
import { POLL_SECONDS, type ScreenshotsDeps } from './deps.ts'
import { hold } from './hold.ts'

interface ById {
  Params: { id: string }
  Querystring: Record<string, unknown>
}

const FRESH = { 'cache-control': 'private, no-cache' }

/** The caller's own screenshot; a foreign one is as unknown as none. @throws ApiError NOT_FOUND */
async function findOwn({ params, accountName }: FastifyRequest<ById>, { screenshots }: ScreenshotsDeps): Promise<Screenshot> {
  const screenshot = await screenshots.find(params.id)
  if (!screenshot || accountOf(screenshot) !== accountName) throw notFound('screenshot')
  return screenshot
}

/** GET /screenshots/:id (spec 4.3), held by `?wait=` while the capture is pending. */
async function readOne(request: FastifyRequest<ById>, reply: FastifyReply, deps: ScreenshotsDeps): Promise<FastifyReply> {
  const { waitSeconds = 0 } = parseWaitQuery(request.query)
  const found = await findOwn(request, deps)
  const screenshot = waitSeconds > 0 && !isFinished(found) ? await hold(found, waitSeconds, reply, deps) : found
  if (!screenshot) throw notFound('screenshot')
  const { record, tag } = readRecord(screenshot, linksFor(request, deps))
  reply.headers({ ...FRESH, etag: tag, ...(record.status === 'pending' ? { 'retry-after': POLL_SECONDS } : {}) })
  return hasTag(request.headers['if-none-match'], tag) ? reply.code(304).send() : reply.send(record)
}

/** GET /screenshots (spec 4.2): newest first. */
function readMany(request: FastifyRequest<{ Querystring: Record<string, unknown> }>, deps: ScreenshotsDeps) {
  const query = parseListQuery(request.query)
  const { accountName } = request
  const { items, hasMore, nextCursor } = buildListPage((after, limit) => deps.screenshots.page(accountName, after, limit), query)
  const linkTo = linksFor(request, deps)
  return {
    success: true,
    data: items.map((screenshot) => readRecord(screenshot, linkTo).record),
    pagination: { limit: query.limit, offset: query.offset, has_more: hasMore, next_cursor: nextCursor },
  }
}

/** GET /screenshots/:id/download: an address that stays, for people; it leads to a fresh link. */
async function redirectToFile(request: FastifyRequest<ById>, reply: FastifyReply, deps: ScreenshotsDeps): Promise<FastifyReply> {
  const screenshot = await findOwn(request, deps)
  const { record } = readRecord(screenshot, linksFor(request, deps))
  if (record.status === 'pending') {
    throw new ApiError('NOT_READY', 'the screenshot is not completed yet', { headers: { 'retry-after': POLL_SECONDS } })
  }
  if (record.download_url === null) throw captureFailed(record)
  await findFile({ account: accountOf(screenshot), id: record.id, extension: record.format }, deps)
  return reply.headers({ 'cache-control': 'private, no-store' }).redirect(record.download_url, 302)
}

/**
 * DELETE /screenshots/:id (spec 4.4). The mark in the bucket comes first, so that no cache or archive shows the record again; the file
 * comes last: what a crash leaves of it, the operator removes.
 */
async function deleteOne(request: FastifyRequest<ById>, reply: FastifyReply, deps: ScreenshotsDeps): Promise<FastifyReply> {
  const screenshot = await findOwn(request, deps)
  const { record, tag } = readRecord(screenshot, linksFor(request, deps))
  const condition = request.headers['if-match']
  if (condition !== undefined && !hasTag(condition, tag)) throw new ApiError('PRECONDITION_FAILED', 'the screenshot has changed')
  const account = accountOf(screenshot)
  await deps.files.mark(tombstoneKey(account, record.id))
  if (!(await deps.screenshots.delete(screenshot))) throw notFound('screenshot')
  await deps.files.removeAll(objectKeyPrefix(account, record.id)).catch((error: unknown) => {
    request.log.warn({ id: record.id, err: error }, 'the files of a deleted screenshot are left to the operator')
  })
  return reply.code(204).send()
}

/** The routes of screenshots that exist. */
export function addScreenshotRoutes(app: FastifyInstance, deps: ScreenshotsDeps): void {
  const read = { config: { scope: 'screenshots:read' } } as const
  const write = { config: { scope: 'screenshots:write' } } as const
  app.get<{ Querystring: Record<string, unknown> }>('/screenshots', read, async (request, reply) => {
    reply.headers(FRESH)
    return readMany(request, deps)
  })
  app.get<ById>('/screenshots/:id', read, (request, reply) => readOne(request, reply, deps))
  app.get<ById>('/screenshots/:id/download', read, (request, reply) => redirectToFile(request, reply, deps))
  app.delete<ById>('/screenshots/:id', write, (request, reply) => deleteOne(request, reply, deps))
}
