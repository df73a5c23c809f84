import type { Operation } from '../../http/route.ts'
import { CreateBatch } from '../../resources/batches/create-body.ts'
import { batchId, batchStatus, createdBatch } from '../../resources/batches/examples.ts'
import { BatchStatus, CreatedBatch } from '../../resources/batches/schemas.ts'
import { pathId } from './parameters.ts'
import { toId } from './screenshots.ts'

/** Operations of batches. */
export const batchOperations: readonly Operation[] = [
  {
    id: 'createBatch',
    method: 'post',
    path: '/screenshots/batch',
    tag: 'Batches',
    scope: 'screenshots:write',
    summary: 'Capture up to 100 pages',
    description:
      'Creates one screenshot per URL. Costs one request of the rate limit and one unit of quota per URL. If the quota does not cover all URLs, the first ones are accepted and `failed_jobs` lists the rest.',
    isKeyed: true,
    body: {
      schema: CreateBatch,
      examples: {
        two: {
          summary: 'Two pages as JPEG',
          value: { urls: ['https://example.com/', 'https://example.org/'], options: { format: 'jpeg', image_quality: 80 } },
        },
      },
    },
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
  },
  {
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
  },
]
