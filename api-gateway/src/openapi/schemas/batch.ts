import { z } from 'zod'
import { anId, count, success } from './common.ts'
import { name } from './naming.ts'
import { createdAt, estimatedTime, id, ScreenshotRecord, status, url } from './screenshot.ts'

const batchItem = z.object({ id, url_to_capture: z.string().describe('Address of the page.'), status, created_at: createdAt })
const failedJob = z.object({ id, url, error: z.string().describe('A code and a sentence.') })

/** The response to a batch . */
export const CreatedBatch = name(
  'CreatedBatch',
  z
    .object({
      screenshots: z.array(batchItem).describe('One for each address, in the order of the request.'),
      total: count('How many addresses there were.'),
      successful: count('How many were accepted.'),
      failed: count('How many were not.'),
      failed_jobs: z.array(failedJob).optional().describe('Present when some were not accepted.'),
      warning: z.string().optional().describe('Present when some were not accepted.'),
      estimated_time: estimatedTime,
      batch_id: anId('batch', 'Id of the batch.'),
    })
    .describe('A batch that was accepted, wholly or in part.'),
)

/** GET /batches/:id. */
export const BatchStatus = name(
  'Batch',
  z
    .object({
      success,
      data: z.object({
        batch_id: anId('batch', 'Id of the batch.'),
        created_at: createdAt,
        total: count('How many there are.'),
        pending: count('How many have not ended.'),
        completed: count('How many succeeded.'),
        failed: count('How many failed.'),
        screenshots: z.array(ScreenshotRecord).describe('In the order of the request.'),
      }),
    })
    .describe('A batch and its screenshots.'),
)
