import { ifMatch, ifNoneMatch, pathId } from '../../http/parameters.ts'
import { type Link, type Route, routeFor } from '../../http/route.ts'
import { createCapture } from '../screenshots/create.ts'
import { createVideoBody } from '../screenshots/create-body.ts'
import type { ScreenshotsDeps } from '../screenshots/deps.ts'
import { completedVideo, createdVideo, videoList } from '../screenshots/examples.ts'
import { deleteCapture, readCapture, redirectToFile } from '../screenshots/handlers.ts'
import { VIDEOS } from '../screenshots/kind.ts'
import { listCaptures } from '../screenshots/list.ts'
import { findListQueryProblems, videoListQuery } from '../screenshots/list-query.ts'
import { CreatedVideo, DELETED_CAPTURE, VideoList, VideoRecord } from '../screenshots/schemas.ts'
import { waitQuery } from '../screenshots/wait.ts'

const route = routeFor<ScreenshotsDeps>()
const id = pathId('scr', createdVideo.id)

const toVideo = (operationId: string, description: string): Link => ({
  operationId,
  description,
  parameters: { id: '$response.body#/id' },
})

const fromVideo = {
  read: toVideo('getVideo', 'Reads the record.'),
  remove: toVideo('deleteVideo', 'Deletes the record and its files.'),
  download: toVideo('downloadVideo', 'Redirects to the file.'),
}

/** Routes of videos. */
export const videoRoutes: readonly Route<ScreenshotsDeps>[] = [
  route({
    id: 'createVideo',
    method: 'post',
    path: '/videos',
    tag: 'Videos',
    scope: 'screenshots:write',
    summary: 'Record a video of a page',
    description:
      'Queues one recording and responds at once. `wait`, `async: false` or `Accept: video/*` hold the request until the recording has finished, for at most 25 seconds. Costs one unit of the monthly quota for each 10 seconds or less of `video_duration`. Failed recordings and cached videos are not charged.',
    query: waitQuery,
    isKeyed: true,
    body: createVideoBody,
    responses: {
      200: {
        description: 'The recording has finished in time. The body is the record or the file.',
        schema: VideoRecord,
        example: completedVideo,
        files: 'video',
        headers: ['Location', 'ETag', 'Cache-Control', 'Idempotent-Replayed', 'X-Ignored-Options'],
        links: fromVideo,
      },
      202: {
        description: 'Accepted.',
        schema: CreatedVideo,
        example: createdVideo,
        headers: ['Location', 'Retry-After', 'X-Queue-Position', 'Idempotent-Replayed', 'X-Ignored-Options'],
        links: fromVideo,
      },
      204: {
        description: 'The recording has finished in time, and the request has `response_type: empty`.',
        headers: ['Location', 'Idempotent-Replayed', 'X-Ignored-Options'],
      },
    },
    errors: [
      'URL_NOT_ALLOWED',
      'OPTION_NOT_ALLOWED',
      'CAPTURE_FAILED',
      'NOT_FOUND',
      'CONFLICT',
      'EXPIRED',
      'USAGE_LIMIT_REACHED',
      'QUEUE_FULL',
      'TOO_MANY_DOWNLOADS',
    ],
    handle: (input, deps) => createCapture(input, VIDEOS, deps),
  }),
  route({
    id: 'listVideos',
    method: 'get',
    path: '/videos',
    tag: 'Videos',
    scope: 'screenshots:read',
    summary: 'List videos',
    description:
      'Lists the newest first by default. One request scans at most ten thousand records, screenshots included, so a short page can still have a `next_cursor`.',
    query: videoListQuery,
    checkQuery: findListQueryProblems,
    responses: { 200: { description: 'One page of videos.', schema: VideoList, example: videoList, headers: ['Cache-Control'] } },
    handle: (input, deps) => listCaptures(input, VIDEOS, deps),
  }),
  route({
    id: 'getVideo',
    method: 'get',
    path: '/videos/{id}',
    tag: 'Videos',
    scope: 'screenshots:read',
    summary: 'Read a video',
    description: 'Poll until `status` is not `pending`, or use `wait` to hold the request. Then read `download_url`.',
    parameters: [id, ifNoneMatch],
    query: waitQuery,
    responses: {
      200: {
        description: 'The record.',
        schema: VideoRecord,
        example: completedVideo,
        headers: ['ETag', 'Cache-Control', 'Retry-After', 'X-Queue-Position'],
        links: { remove: fromVideo.remove, download: fromVideo.download },
      },
      304: { description: 'The client already has this version.', headers: ['ETag', 'Cache-Control'] },
    },
    errors: ['NOT_FOUND'],
    handle: (input, deps) => readCapture(input, VIDEOS, deps),
  }),
  route({
    id: 'deleteVideo',
    method: 'delete',
    path: '/videos/{id}',
    tag: 'Videos',
    scope: 'screenshots:write',
    summary: 'Delete a video',
    description: 'Deletes the record and its files, invalidates its links and cancels a running recording. Quota is not refunded.',
    parameters: [id, ifMatch],
    query: 'unchecked',
    responses: { 204: { description: DELETED_CAPTURE } },
    errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
    handle: (input, deps) => deleteCapture(input, VIDEOS, deps),
  }),
  route({
    id: 'downloadVideo',
    method: 'get',
    path: '/videos/{id}/download',
    tag: 'Videos',
    scope: 'screenshots:read',
    summary: 'Redirect to the file',
    description: 'This permanent URL redirects to a new link.',
    parameters: [id],
    query: 'unchecked',
    responses: { 302: { description: 'Redirect to the file.', headers: ['Location', 'Cache-Control'] } },
    errors: ['NOT_FOUND', 'NOT_READY', 'EXPIRED', 'CAPTURE_FAILED'],
    handle: (input, deps) => redirectToFile(input, VIDEOS, deps),
  }),
]
