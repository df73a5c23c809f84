import type { HttpErrorCode } from '@tintype/crds/schema/errors'
import type { z } from 'zod'
import type { BodyReader } from '../../http/body.ts'
import { ifMatch, ifNoneMatch, pathId } from '../../http/parameters.ts'
import { linkTo, type Route, routeFor, type Tag } from '../../http/route.ts'
import { createCapture } from './create.ts'
import { type CreateRequest, createScreenshotBody, createVideoBody } from './create-body.ts'
import type { ScreenshotsDeps } from './deps.ts'
import { completed, completedVideo, created, createdVideo, screenshotList, videoList } from './examples.ts'
import { deleteCapture, readCapture, redirectToFile } from './handlers.ts'
import { type CaptureKind, SCREENSHOTS, VIDEOS } from './kind.ts'
import { listCaptures } from './list.ts'
import { findListQueryProblems, listQuery, videoListQuery } from './list-query.ts'
import { CreatedScreenshot, CreatedVideo, DELETED_CAPTURE, ScreenshotList, ScreenshotRecord, VideoList, VideoRecord } from './schemas.ts'
import { waitQuery } from './wait.ts'

/** What only one kind of captures has. */
interface Documentation {
  /** Beginning of the names of operations. */
  name: 'Screenshot' | 'Video'
  tag: Tag
  /** What a runner does, as a noun. */
  work: 'capture' | 'recording'
  createSummary: string
  createDescription: string
  body: BodyReader<CreateRequest, ScreenshotsDeps>
  createErrors: readonly HttpErrorCode[]
  listQuery: typeof listQuery | typeof videoListQuery
  /** What else a list scans. */
  scanNote: string
  schemas: Readonly<Record<'created' | 'record' | 'list', z.ZodType>>
  examples: { created: { id: string }; record: object; list: object }
}

/** Routes of a kind of captures. */
function captureRoutes(kind: CaptureKind, documentation: Documentation): readonly Route<ScreenshotsDeps>[] {
  const { subject, collection } = kind
  const { name, tag, work, schemas, examples } = documentation
  const route = routeFor<ScreenshotsDeps>(tag, pathId('scr', examples.created.id))
  const onePath = `${collection}/{id}` as const
  const links = {
    read: linkTo(`get${name}`, 'Reads the record.', 'id'),
    remove: linkTo(`delete${name}`, 'Deletes the record and its files.', 'id'),
    download: linkTo(`download${name}`, 'Redirects to the file.', 'id'),
  }
  return [
    route(`POST ${collection}`, {
      id: `create${name}`,
      scope: 'screenshots:write',
      summary: documentation.createSummary,
      description: documentation.createDescription,
      query: waitQuery,
      isKeyed: true,
      body: documentation.body,
      responses: {
        200: {
          description: `The ${work} has finished in time. The body is the record or the file.`,
          schema: schemas.record,
          example: examples.record,
          files: subject,
          headers: ['Location', 'ETag'],
          links,
        },
        202: {
          description: 'Accepted.',
          schema: schemas.created,
          example: examples.created,
          headers: ['Location', 'Retry-After', 'X-Queue-Position'],
          links,
        },
        204: { description: `The ${work} has finished in time, and the request has \`response_type: empty\`.`, headers: ['Location'] },
      },
      errors: documentation.createErrors,
      handle: (input, deps) => createCapture(input, kind, deps),
    }),
    route(`GET ${collection}`, {
      id: `list${name}s`,
      scope: 'screenshots:read',
      summary: `List ${subject}s`,
      description: `Lists the newest first by default. One request scans at most ten thousand records, ${documentation.scanNote}so a short page can still have a \`next_cursor\`.`,
      query: documentation.listQuery,
      checkQuery: findListQueryProblems,
      responses: { 200: { description: `One page of ${subject}s.`, schema: schemas.list, example: examples.list } },
      handle: (input, deps) => listCaptures(input, kind, deps),
    }),
    route(`GET ${onePath}`, {
      id: `get${name}`,
      scope: 'screenshots:read',
      summary: `Read a ${subject}`,
      description: 'Poll until `status` is not `pending`, or use `wait` to hold the request. Then read `download_url`.',
      parameters: [ifNoneMatch],
      query: waitQuery,
      responses: {
        200: {
          description: 'The record.',
          schema: schemas.record,
          example: examples.record,
          headers: ['Retry-After', 'X-Queue-Position'],
          links: { remove: links.remove, download: links.download },
        },
      },
      handle: (input, deps) => readCapture(input, kind, deps),
    }),
    route(`DELETE ${onePath}`, {
      id: `delete${name}`,
      scope: 'screenshots:write',
      summary: `Delete a ${subject}`,
      description: `Deletes the record and its files, invalidates its links and cancels a running ${work}. Quota is not refunded.`,
      parameters: [ifMatch],
      query: 'unchecked',
      responses: { 204: { description: DELETED_CAPTURE } },
      handle: (input, deps) => deleteCapture(input, kind, deps),
    }),
    route(`GET ${onePath}/download`, {
      id: `download${name}`,
      scope: 'screenshots:read',
      summary: 'Redirect to the file',
      description: 'This permanent URL redirects to a new link.',
      query: 'unchecked',
      responses: { 302: { description: 'Redirect to the file.', headers: ['Location'] } },
      errors: ['NOT_READY', 'EXPIRED', 'CAPTURE_FAILED'],
      handle: (input, deps) => redirectToFile(input, kind, deps),
    }),
  ]
}

export const screenshotRoutes = captureRoutes(SCREENSHOTS, {
  name: 'Screenshot',
  tag: 'Screenshots',
  work: 'capture',
  createSummary: 'Capture a page',
  createDescription:
    'Queues one capture and responds at once. `wait`, `async: false`, or a type of images or PDFs in `Accept`, hold the request until the capture has finished, for at most 25 seconds. Costs one unit of the monthly quota. Failed captures and cached pictures are not charged.',
  body: createScreenshotBody,
  createErrors: [
    'URL_NOT_ALLOWED',
    'OPTION_NOT_ALLOWED',
    'CAPTURE_FAILED',
    'NOT_ACCEPTABLE',
    'NOT_FOUND',
    'NOT_READY',
    'NOT_COMPARABLE',
    'CONFLICT',
    'EXPIRED',
    'USAGE_LIMIT_REACHED',
    'QUEUE_FULL',
    'TOO_MANY_DOWNLOADS',
  ],
  listQuery,
  scanNote: '',
  schemas: { created: CreatedScreenshot, record: ScreenshotRecord, list: ScreenshotList },
  examples: { created, record: completed, list: screenshotList },
})

export const videoRoutes = captureRoutes(VIDEOS, {
  name: 'Video',
  tag: 'Videos',
  work: 'recording',
  createSummary: 'Record a video of a page',
  createDescription:
    'Queues one recording and responds at once. `wait`, `async: false`, or a type of videos in `Accept`, hold the request until the recording has finished, for at most 25 seconds. Costs one unit of the monthly quota for each 10 seconds or less of `video_duration`. Failed recordings and cached videos are not charged.',
  body: createVideoBody,
  createErrors: [
    'URL_NOT_ALLOWED',
    'OPTION_NOT_ALLOWED',
    'CAPTURE_FAILED',
    'NOT_ACCEPTABLE',
    'NOT_FOUND',
    'CONFLICT',
    'EXPIRED',
    'USAGE_LIMIT_REACHED',
    'QUEUE_FULL',
    'TOO_MANY_DOWNLOADS',
  ],
  listQuery: videoListQuery,
  scanNote: 'screenshots included, ',
  schemas: { created: CreatedVideo, record: VideoRecord, list: VideoList },
  examples: { created: createdVideo, record: completedVideo, list: videoList },
})
