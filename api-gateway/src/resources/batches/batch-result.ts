import { createdAtOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { Screenshot, ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { ESTIMATED_TIME } from '@tintype/crds/records/record'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import type { z } from 'zod'
import type { CreatedBatch } from './schemas.ts'

// The response to POST /screenshots/batch.

/** The result for one URL of a batch. */
export interface BatchItem {
  id: string
  url: string
  /** Why it was not queued. Absent when it was. */
  refusal?: { code: string; message: string }
}

/** Builds the response to a batch. `failed_jobs` and `warning` are present only when some items were not queued. */
export function toBatchResult(batchId: string, items: readonly BatchItem[], estimatedTime = ESTIMATED_TIME): z.infer<typeof CreatedBatch> {
  const refused = items.flatMap(({ id, url, refusal }) => (refusal ? [{ id, url, error: `${refusal.code}: ${refusal.message}` }] : []))
  const summary = `${refused.length} of ${items.length} screenshots were not queued: see failed_jobs`
  return {
    batch_id: batchId,
    screenshots: items.map(({ id, url, refusal }) => ({
      id,
      url_to_capture: url,
      status: refusal ? 'failed' : 'pending',
      created_at: createdAtOf(id).toISOString(),
    })),
    total: items.length,
    successful: items.length - refused.length,
    failed: refused.length,
    ...(refused.length > 0 ? { failed_jobs: refused, warning: summary } : {}),
    estimated_time: estimatedTime,
  }
}

/** The archive record of a rejected item. It was never an object in the Kubernetes API, costs nothing and has no events. */
export function toRefusedRecord(
  id: string,
  spec: ScreenshotSpec,
  error: { code: 'USAGE_LIMIT_REACHED'; message: string },
): Whole<Screenshot> {
  const at = createdAtOf(id).toISOString()
  const { reservation: _, sealedOptions: _sealed, optionsObject: _object, ...rest } = spec
  return {
    metadata: { name: toObjectName(id), namespace: '', uid: id, resourceVersion: '0', creationTimestamp: at },
    spec: rest,
    status: { phase: 'Failed', completionTime: at, result: { error } },
  }
}
