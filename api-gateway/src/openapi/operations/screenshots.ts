import type { Link, Operation } from '../../http/route.ts'
import { CreateScreenshot } from '../../resources/screenshots/create-body.ts'
import { completed, created, screenshotList } from '../../resources/screenshots/examples.ts'
import { CreatedScreenshot, ScreenshotList, ScreenshotRecord } from '../../resources/screenshots/schemas.ts'
import { ifMatch, ifNoneMatch, listParameters, pathId, wait } from './parameters.ts'

const id = pathId('scr', created.id)

/** A link to an operation on one record. */
export const toId = (operationId: string, description: string, source = '$response.body#/id'): Link => ({
  operationId,
  description,
  parameters: { id: source },
})

const fromScreenshot = {
  read: toId('getScreenshot', 'Reads the record.'),
  remove: toId('deleteScreenshot', 'Deletes the record and its files.'),
  download: toId('downloadScreenshot', 'Redirects to the file.'),
}

/** Operations of screenshots. */
export const screenshotOperations: readonly Operation[] = [
  {
    id: 'createScreenshot',
    method: 'post',
    path: '/screenshots',
    tag: 'Screenshots',
    scope: 'screenshots:write',
    summary: 'Capture a page',
    description:
      'Queues one capture and responds at once. `wait`, `async: false` or `Accept: image/*` hold the request until the capture has finished, for at most 25 seconds. Costs one unit of the monthly quota. Failed captures and cached pictures are not charged.',
    parameters: [wait],
    isKeyed: true,
    body: {
      schema: CreateScreenshot,
      examples: {
        simple: { summary: 'Only the required field', value: { url: 'https://example.com/' } },
        fullPage: {
          summary: 'The whole page as WebP',
          value: { url: 'https://example.com/', options: { full_page: true, format: 'webp', viewport_width: 1280, viewport_height: 800 } },
        },
        cached: {
          summary: 'Reuse a picture of the last hour',
          value: { url: 'https://example.com/', options: { cache: true, cache_ttl: 3600, cache_key: 'front-page' } },
        },
        copied: {
          summary: 'Store a copy in your own bucket, if the service allows it',
          value: {
            url: 'https://example.com/',
            retention_days: 7,
            options: {
              storage_bucket: 'acme-pictures',
              storage_endpoint: 'https://s3.eu-central-1.amazonaws.com',
              storage_region: 'eu-central-1',
              storage_path: '{host}/{date}/{id}.{format}',
              storage_access_key_id: 'AKIDEXAMPLE',
              storage_secret_access_key: 'lovelace',
            },
          },
        },
        held: { summary: 'The picture in one request', value: { url: 'https://example.com/', async: false, response_type: 'by_format' } },
      },
    },
    responses: {
      200: {
        description: 'The capture has finished in time. The body is the record or the file.',
        schema: ScreenshotRecord,
        example: completed,
        files: 'capture',
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
      'EXPIRED',
      'USAGE_LIMIT_REACHED',
      'QUEUE_FULL',
      'TOO_MANY_DOWNLOADS',
    ],
  },
  {
    id: 'listScreenshots',
    method: 'get',
    path: '/screenshots',
    tag: 'Screenshots',
    scope: 'screenshots:read',
    summary: 'List screenshots',
    description:
      'Lists the newest first by default. One request scans at most ten thousand records, so a short page can still have a `next_cursor`.',
    parameters: listParameters,
    responses: {
      200: { description: 'One page of screenshots.', schema: ScreenshotList, example: screenshotList, headers: ['Cache-Control'] },
    },
  },
  {
    id: 'getScreenshot',
    method: 'get',
    path: '/screenshots/{id}',
    tag: 'Screenshots',
    scope: 'screenshots:read',
    summary: 'Read a screenshot',
    description: 'Poll until `status` is not `pending`, or use `wait` to hold the request. Then read `download_url`.',
    parameters: [id, wait, ifNoneMatch],
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
  },
  {
    id: 'deleteScreenshot',
    method: 'delete',
    path: '/screenshots/{id}',
    tag: 'Screenshots',
    scope: 'screenshots:write',
    summary: 'Delete a screenshot',
    description: 'Deletes the record and its files, invalidates its links and cancels a running capture. Quota is not refunded.',
    parameters: [id, ifMatch],
    responses: { 204: { description: 'Deleted.' } },
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
  },
  {
    id: 'downloadScreenshot',
    method: 'get',
    path: '/screenshots/{id}/download',
    tag: 'Screenshots',
    scope: 'screenshots:read',
    summary: 'Redirect to the file',
    description: 'This permanent URL redirects to a new link.',
    parameters: [id],
    responses: { 302: { description: 'Redirect to the file.', headers: ['Location', 'Cache-Control'] } },
    errors: ['NOT_FOUND', 'NOT_READY', 'EXPIRED', 'CAPTURE_FAILED'],
  },
]
