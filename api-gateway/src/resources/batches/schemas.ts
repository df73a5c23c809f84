import { RecordStatus, recordFields } from '@tintype/crds/records/record-schema'
import { anId, count } from '@tintype/crds/schema/fields'
import { z } from 'zod'
import { dataBody, name } from '../../http/fields.ts'
import { ScreenshotRecord } from '../screenshots/schemas.ts'

const { id, url, created_at, estimated_time } = recordFields
const batchItem = z.object({ id, url_to_capture: url, status: RecordStatus, created_at })
const failedJob = z.object({ id, url, error: z.string().describe('Error code and message.') })

/** The response to a batch. */
export const CreatedBatch = name(
  'CreatedBatch',
  z
    .object({
      screenshots: z.array(batchItem).describe('One item per URL, in the order of the request.'),
      total: count('Number of URLs in the request.'),
      successful: count('Number of accepted screenshots.'),
      failed: count('Number of rejected screenshots.'),
      failed_jobs: z.array(failedJob).optional().describe('Present when some screenshots were rejected.'),
      warning: z.string().optional().describe('Present when some screenshots were rejected.'),
      estimated_time,
      batch_id: anId('batch', 'Id of the batch.'),
    })
    .describe('A batch that was accepted, completely or in part.'),
)

/** GET /batches/:id. */
export const BatchStatus = dataBody(
  'Batch',
  z.object({
    batch_id: anId('batch', 'Id of the batch.'),
    created_at,
    total: count('Number of screenshots.'),
    pending: count('Number of unfinished screenshots.'),
    completed: count('Number of completed screenshots.'),
    failed: count('Number of failed screenshots.'),
    screenshots: z.array(ScreenshotRecord).describe('Records in the order of the request.'),
  }),
  'A batch and its screenshots.',
)
