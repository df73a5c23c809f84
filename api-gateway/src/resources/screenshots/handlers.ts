import { isFinished } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { objectKeyPrefix } from '@tintype/crds/records/storage-keys'
import type { FastifyReply } from 'fastify'
import { type FoundRecord, findRecord, type Reading } from '../../archive/find-record.ts'
import { ApiError, notFound } from '../../common/errors.ts'
import { hasTag, NO_STORE, setQueuePositionHeader } from '../../http/headers.ts'
import type { Input } from '../../http/route.ts'
import { findFile } from '../files/find-file.ts'
import type { ById } from '../shared/owned-records.ts'
import { captureFailed } from './create.ts'
import { POLL_SECONDS, type ScreenshotsDeps } from './deps.ts'
import { assertKind, type CaptureKind } from './kind.ts'
import { readRecord } from './links.ts'
import { holdUntilFinished, type WaitQuery } from './wait.ts'

// Handlers of the routes of one existing screenshot or video.

/** With `Cache-Control: no-cache`, and before a deletion, a record comes from the API server. */
const readingOf = ({ method, headers }: Input<ById>['request']): Required<Reading> => ({
  isLatest: method === 'DELETE' || /\bno-cache\b/i.test(headers['cache-control'] ?? ''),
})

/**
 * The caller's capture of this kind. Captures of other accounts count as missing.
 * @throws ApiError NOT_FOUND
 */
async function findOwn(
  { request, params }: Pick<Input<ById>, 'request' | 'params'>,
  kind: CaptureKind,
  deps: ScreenshotsDeps,
  reading: Reading = readingOf(request),
): Promise<FoundRecord> {
  const found = await findRecord(request.accountName, params.id, deps, reading)
  if (!found) throw notFound(kind.subject)
  assertKind(found.screenshot, params.id, kind)
  return found
}

/** Reads a record. With `wait`, holds the request while the capture is pending. */
export async function readCapture(
  input: Input<ById, undefined, WaitQuery>,
  kind: CaptureKind,
  deps: ScreenshotsDeps,
): Promise<FastifyReply> {
  const { request, reply, query } = input
  const { wait: waitSeconds = 0 } = query
  const { screenshot: found } = await findOwn(input, kind, deps)
  const held = waitSeconds > 0 && !isFinished(found) ? await holdUntilFinished(found, waitSeconds, reply, deps) : found
  // It may be archived before the cache shows the result.
  const screenshot = held ?? (await findOwn(input, kind, deps)).screenshot
  const { record, tag } = readRecord(screenshot, request, deps)
  reply.header('etag', tag)
  if (record.status === 'pending') reply.header('retry-after', POLL_SECONDS)
  setQueuePositionHeader(reply, deps.queue.positionOf(screenshot, request.account))
  return hasTag(request.headers['if-none-match'], tag) ? reply.code(304).send() : reply.send(record)
}

/** Redirects to a new link of the file. */
export async function redirectToFile(input: Input<ById>, kind: CaptureKind, deps: ScreenshotsDeps): Promise<FastifyReply> {
  const { request, reply } = input
  const { isLatest } = readingOf(request)
  const found = await findOwn(input, kind, deps)
  // Another replica may have said that it is completed.
  const { screenshot } = isLatest || isFinished(found.screenshot) ? found : await findOwn(input, kind, deps, { isLatest: true })
  const { record } = readRecord(screenshot, request, deps)
  if (record.status === 'pending') {
    throw new ApiError('NOT_READY', `the ${kind.subject} is not completed yet`, { headers: { 'retry-after': POLL_SECONDS } })
  }
  if (record.status === 'failed') throw captureFailed(record)
  if (record.download_url === null) throw new ApiError('EXPIRED', 'the file has expired')
  await findFile({ account: accountOf(screenshot), id: record.id, extension: record.format }, deps)
  return reply.headers(NO_STORE).redirect(record.download_url, 302)
}

/**
 * Deletes a record. Writes the tombstone first, so that no cache or archive shows the record again. Deletes the files last. After a crash the
 * operator deletes the remaining files.
 */
export async function deleteCapture(input: Input<ById>, kind: CaptureKind, deps: ScreenshotsDeps): Promise<FastifyReply> {
  const { request, reply } = input
  const found = await findOwn(input, kind, deps)
  const { record, tag } = readRecord(found.screenshot, request, deps)
  const condition = request.headers['if-match']
  if (condition !== undefined && !hasTag(condition, tag))
    throw new ApiError('PRECONDITION_FAILED', `the ${kind.subject} has changed: read it again and retry`)
  const account = accountOf(found.screenshot)
  if (found.isLive) await deleteLive(found, record.id, deps)
  else await deps.archive.deleteArchived(account, record.id)
  await deps.files.removePrefix(objectKeyPrefix(account, record.id)).catch((error: unknown) => {
    request.log.warn({ id: record.id, err: error }, 'files of deleted screenshot not removed; the operator will remove them')
  })
  return reply.code(204).send()
}

/** Deletes a live screenshot. Two concurrent deletions both succeed. */
async function deleteLive(
  { screenshot }: FoundRecord,
  id: string,
  { screenshots, archive }: Pick<ScreenshotsDeps, 'screenshots' | 'archive'>,
): Promise<void> {
  const account = accountOf(screenshot)
  await archive.markDeleted(account, id)
  if (await screenshots.delete(screenshot)) return
  // The object is gone: it was archived, or another request or the archiver (because of the tombstone) deleted it.
  await archive.deleteArchived(account, id)
}
