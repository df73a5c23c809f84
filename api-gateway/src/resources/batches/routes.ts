import { pathId } from '../../http/parameters.ts'
import { linkTo, type Route, routeFor } from '../../http/route.ts'
import type { ScreenshotsDeps } from '../screenshots/deps.ts'
import { createBatchBody } from './create-body.ts'
import { batchId, batchStatus, createdBatch } from './examples.ts'
import { createBatch, readBatch } from './handlers.ts'
import { BatchStatus, CreatedBatch } from './schemas.ts'

const route = routeFor<ScreenshotsDeps>('Batches', pathId('batch', batchId))

export const batchRoutes: readonly Route<ScreenshotsDeps>[] = [
  route('POST /screenshots/batch', {
    id: 'createBatch',
    scope: 'screenshots:write',
    summary: 'Capture up to 100 pages',
    description:
      'Creates one screenshot per URL. Costs one request of the rate limit and one unit of quota per URL. If the quota does not cover all URLs, the first ones are accepted and `failed_jobs` lists the rest.',
    isKeyed: true,
    body: createBatchBody,
    responses: {
      202: {
        description: 'The batch was accepted, completely or in part.',
        schema: CreatedBatch,
        example: createdBatch,
        headers: ['Location', 'Retry-After'],
        links: {
          batch: linkTo('getBatch', 'Reads the batch.', 'batch_id'),
          first: linkTo('getScreenshot', 'Reads the first screenshot.', 'screenshots/0/id'),
        },
      },
    },
    errors: ['URL_NOT_ALLOWED', 'OPTION_NOT_ALLOWED', 'CONFLICT', 'USAGE_LIMIT_REACHED', 'QUEUE_FULL'],
    handle: createBatch,
  }),
  route('GET /batches/{id}', {
    id: 'getBatch',
    scope: 'screenshots:read',
    summary: 'Read a batch',
    description: 'Returns the progress of the batch and its records in the order of the request. Deleted screenshots are left out.',
    responses: { 200: { description: 'The batch.', schema: BatchStatus, example: batchStatus, headers: ['Retry-After'] } },
    handle: readBatch,
  }),
]
