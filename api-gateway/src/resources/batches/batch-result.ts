import { createdAtOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { Screenshot, ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { ESTIMATED_TIME } from '@tintype/crds/records/record'

// The response to POST /screenshots/batch.

/** The result for one URL of a batch. */
export interface BatchItem {
  id: string
  url: string
  /** Why it was not queued. Absent when it was. */
  refusal?: { code: string; message: string }
}

/** The response body. Items are in the order of the request. */
export interface BatchResult {
  batch_id: string
  screenshots: { id: string; url_to_capture: string; status: 'pending' | 'failed'; created_at: string }[]
  total: number
  successful: number
  failed: number
  failed_jobs?: { id: string; url: string; error: string }[]
  warning?: string
  estimated_time: string
}

/** Builds the response to a batch. `failed_jobs` and `warning` are present only when some items were not queued. */
export function toBatchResult(batchId: string, items: readonly BatchItem[], estimatedTime = ESTIMATED_TIME): BatchResult {
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
export function toRefusedRecord(id: string, spec: ScreenshotSpec, error: { code: 'USAGE_LIMIT_REACHED'; message: string }): Screenshot {
  const at = createdAtOf(id).toISOString()
  const { reservation: _, sealedOptions: _sealed, optionsObject: _object, ...rest } = spec
  return {
    metadata: { name: toObjectName(id), namespace: '', uid: id, resourceVersion: '0', creationTimestamp: at },
    spec: rest,
    status: { phase: 'Failed', completionTime: at, result: { error } },
  }
}
