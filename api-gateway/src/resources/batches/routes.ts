import { pathId } from '../../http/parameters.ts'
import { type Link, type Route, routeFor } from '../../http/route.ts'
import type { ScreenshotsDeps } from '../screenshots/deps.ts'
import { createBatchBody } from './create-body.ts'
import { batchId, batchStatus, createdBatch } from './examples.ts'
import { createBatch, readBatch } from './handlers.ts'
import { BatchStatus, CreatedBatch } from './schemas.ts'

const route = routeFor<ScreenshotsDeps>()

const toId = (operationId: string, description: string, id: string): Link => ({ operationId, description, parameters: { id } })

/** Routes of batches. */
export const batchRoutes: readonly Route<ScreenshotsDeps>[] = [
  route({
    id: 'createBatch',
    method: 'post',
    path: '/screenshots/batch',
    tag: 'Batches',
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
        headers: ['Location', 'Retry-After', 'Idempotent-Replayed', 'X-Ignored-Options'],
        links: {
          batch: toId('getBatch', 'Reads the batch.', '$response.body#/batch_id'),
          first: toId('getScreenshot', 'Reads the first screenshot.', '$response.body#/screenshots/0/id'),
        },
      },
    },
    errors: ['URL_NOT_ALLOWED', 'OPTION_NOT_ALLOWED', 'USAGE_LIMIT_REACHED', 'QUEUE_FULL'],
    handle: createBatch,
  }),
  route({
    id: 'getBatch',
    method: 'get',
    path: '/batches/{id}',
    tag: 'Batches',
    scope: 'screenshots:read',
    summary: 'Read a batch',
    description: 'Returns the progress of the batch and its records in the order of the request. Deleted screenshots are left out.',
    parameters: [pathId('batch', batchId)],
    responses: { 200: { description: 'The batch.', schema: BatchStatus, example: batchStatus, headers: ['Retry-After', 'Cache-Control'] } },
    errors: ['NOT_FOUND'],
    handle: readBatch,
  }),
]
