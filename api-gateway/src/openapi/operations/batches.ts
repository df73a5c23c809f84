import { BatchStatus, CreatedBatch } from '../schemas/batch.ts'
import { CreateBatch } from '../schemas/bodies.ts'
import { batchId, batchStatus, createdBatch } from './examples.ts'
import type { Operation } from './operation.ts'
import { pathId, prefer } from './parameters.ts'
import { toId } from './screenshots.ts'

/** The operations. */
export const batchOperations: readonly Operation[] = [
  {
    id: 'createBatch',
    method: 'post',
    path: '/screenshots/batch',
    tag: 'Batches',
    scope: 'screenshots:write',
    summary: 'Capture up to 100 pages',
    description:
      'Each address becomes a screenshot of its own. Costs one request of the rate, and one unit of quota for each address; when the quota ends in between, the first ones are accepted and the rest are listed in `failed_jobs`.',
    parameters: [prefer],
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
        description: 'Accepted, wholly or in part.',
        schema: CreatedBatch,
        example: createdBatch,
        headers: ['Location', 'Retry-After', 'Idempotent-Replayed', 'X-Ignored-Options'],
        links: {
          batch: toId('getBatch', 'Reads all of them.', '$response.body#/batch_id'),
          first: toId('getScreenshot', 'Reads the first one.', '$response.body#/screenshots/0/id'),
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
    description: 'Progress of the batch, and its full records in the order of the request. Deleted screenshots are left out.',
    parameters: [pathId('batch', batchId)],
    responses: { 200: { description: 'The batch.', schema: BatchStatus, example: batchStatus, headers: ['Retry-After', 'Cache-Control'] } },
    errors: ['NOT_FOUND'],
  },
]
