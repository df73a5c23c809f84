import { ifMatch, ifNoneMatch, pathId } from '../../http/parameters.ts'
import { type Link, type Route, routeFor } from '../../http/route.ts'
import { createCapture } from './create.ts'
import { createScreenshotBody } from './create-body.ts'
import type { ScreenshotsDeps } from './deps.ts'
import { completed, created, screenshotList } from './examples.ts'
import { deleteCapture, readCapture, redirectToFile } from './handlers.ts'
import { SCREENSHOTS } from './kind.ts'
import { listCaptures } from './list.ts'
import { findListQueryProblems, listQuery } from './list-query.ts'
import { CreatedScreenshot, DELETED_CAPTURE, ScreenshotList, ScreenshotRecord } from './schemas.ts'
import { waitQuery } from './wait.ts'

const route = routeFor<ScreenshotsDeps>()
const id = pathId('scr', created.id)

const toScreenshot = (operationId: string, description: string): Link => ({
  operationId,
  description,
  parameters: { id: '$response.body#/id' },
})

const fromScreenshot = {
  read: toScreenshot('getScreenshot', 'Reads the record.'),
  remove: toScreenshot('deleteScreenshot', 'Deletes the record and its files.'),
  download: toScreenshot('downloadScreenshot', 'Redirects to the file.'),
}

/** Routes of screenshots. */
export const screenshotRoutes: readonly Route<ScreenshotsDeps>[] = [
  route({
    id: 'createScreenshot',
    method: 'post',
    path: '/screenshots',
    tag: 'Screenshots',
    scope: 'screenshots:write',
    summary: 'Capture a page',
    description:
      'Queues one capture and responds at once. `wait`, `async: false` or `Accept: image/*` hold the request until the capture has finished, for at most 25 seconds. Costs one unit of the monthly quota. Failed captures and cached pictures are not charged.',
    query: waitQuery,
    isKeyed: true,
    body: createScreenshotBody,
    responses: {
      200: {
        description: 'The capture has finished in time. The body is the record or the file.',
        schema: ScreenshotRecord,
        example: completed,
        files: 'screenshot',
        headers: ['Location', 'ETag', 'Cache-Control', 'Idempotent-Replayed', 'X-Ignored-Options'],
        links: fromScreenshot,
      },
      202: {
        description: 'Accepted.',
        schema: CreatedScreenshot,
        example: created,
        headers: ['Location', 'Retry-After', 'X-Queue-Position', 'Idempotent-Replayed', 'X-Ignored-Options'],
        links: fromScreenshot,
      },
      204: {
        description: 'The capture has finished in time, and the request has `response_type: empty`.',
        headers: ['Location', 'Idempotent-Replayed', 'X-Ignored-Options'],
      },
    },
    errors: [
      'URL_NOT_ALLOWED',
      'OPTION_NOT_ALLOWED',
      'CAPTURE_FAILED',
      'NOT_FOUND',
      'NOT_READY',
      'NOT_COMPARABLE',
      'CONFLICT',
      'EXPIRED',
      'USAGE_LIMIT_REACHED',
      'QUEUE_FULL',
      'TOO_MANY_DOWNLOADS',
    ],
    handle: (input, deps) => createCapture(input, SCREENSHOTS, deps),
  }),
  route({
    id: 'listScreenshots',
    method: 'get',
    path: '/screenshots',
    tag: 'Screenshots',
    scope: 'screenshots:read',
    summary: 'List screenshots',
    description:
      'Lists the newest first by default. One request scans at most ten thousand records, so a short page can still have a `next_cursor`.',
    query: listQuery,
    checkQuery: findListQueryProblems,
    responses: {
      200: { description: 'One page of screenshots.', schema: ScreenshotList, example: screenshotList, headers: ['Cache-Control'] },
    },
    handle: (input, deps) => listCaptures(input, SCREENSHOTS, deps),
  }),
  route({
    id: 'getScreenshot',
    method: 'get',
    path: '/screenshots/{id}',
    tag: 'Screenshots',
    scope: 'screenshots:read',
    summary: 'Read a screenshot',
    description: 'Poll until `status` is not `pending`, or use `wait` to hold the request. Then read `download_url`.',
    parameters: [id, ifNoneMatch],
    query: waitQuery,
    responses: {
      200: {
        description: 'The record.',
        schema: ScreenshotRecord,
        example: completed,
        headers: ['ETag', 'Cache-Control', 'Retry-After', 'X-Queue-Position'],
        links: { remove: fromScreenshot.remove, download: fromScreenshot.download },
      },
      304: { description: 'The client already has this version.', headers: ['ETag', 'Cache-Control'] },
    },
    errors: ['NOT_FOUND'],
    handle: (input, deps) => readCapture(input, SCREENSHOTS, deps),
  }),
  route({
    id: 'deleteScreenshot',
    method: 'delete',
    path: '/screenshots/{id}',
    tag: 'Screenshots',
    scope: 'screenshots:write',
    summary: 'Delete a screenshot',
    description: 'Deletes the record and its files, invalidates its links and cancels a running capture. Quota is not refunded.',
    parameters: [id, ifMatch],
    query: 'unchecked',
    responses: { 204: { description: DELETED_CAPTURE } },
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: (input, deps) => deleteCapture(input, SCREENSHOTS, deps),
  }),
  route({
    id: 'downloadScreenshot',
    method: 'get',
    path: '/screenshots/{id}/download',
    tag: 'Screenshots',
    scope: 'screenshots:read',
    summary: 'Redirect to the file',
    description: 'This permanent URL redirects to a new link.',
    parameters: [id],
    query: 'unchecked',
    responses: { 302: { description: 'Redirect to the file.', headers: ['Location', 'Cache-Control'] } },
    errors: ['NOT_FOUND', 'NOT_READY', 'EXPIRED', 'CAPTURE_FAILED'],
    handle: (input, deps) => redirectToFile(input, SCREENSHOTS, deps),
  }),
]
