import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import type { StoredArtifact } from '@tintype/crds/kinds/page-notes'
import type { Findings } from '../steps/step.ts'
import { toSize } from './outcome.ts'
import { upload } from './upload.ts'

/**
 * Stores the additional files. A file that is too large is left out with a warning, because the screenshot matters most.
 * @throws CaptureError STORAGE_FAILED; the signal's reason
 */
export async function uploadArtifacts(findings: Findings, order: CaptureOrder, signal: AbortSignal): Promise<StoredArtifact[]> {
  const places = (order.artifacts ?? []).flatMap(({ type, upload: place }) => {
    const bytes = findings.files.get(type)
    return bytes ? [{ type, place, bytes }] : []
  })
  const fitting = places.filter(({ type, place, bytes }) => {
    if (bytes.length <= place.maxBytes) return true
    findings.warnings.push(`${type} was left out: it has ${toSize(bytes.length)}`)
    return false
  })
  return Promise.all(
    fitting.map(async ({ type, place, bytes }) => {
      const { etag, fileSizeBytes } = await upload(bytes, place, signal)
      return { type, fileSizeBytes, etag }
    }),
  )
}
