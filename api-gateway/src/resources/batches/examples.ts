import { completed, createdAt, screenshotId } from '../screenshots/examples.ts'

// Examples of responses. A test checks them against the schemas.

export const batchId = 'batch_01kajq2v0vtz8m3c5x7r9w4n6p'

const secondId = 'scr_7yztsh6vzw1m8r5t2k6p3a9c4g'

export const createdBatch = {
  screenshots: [
    { id: screenshotId, url_to_capture: 'https://example.com/', status: 'pending', created_at: createdAt },
    { id: secondId, url_to_capture: 'https://example.org/', status: 'pending', created_at: createdAt },
  ],
  total: 2,
  successful: 2,
  failed: 0,
  estimated_time: '10-60s',
  batch_id: batchId,
}

export const batchStatus = {
  success: true,
  data: {
    batch_id: batchId,
    created_at: createdAt,
    total: 1,
    pending: 0,
    completed: 1,
    failed: 0,
    screenshots: [{ ...completed, batch_id: batchId }],
  },
}
