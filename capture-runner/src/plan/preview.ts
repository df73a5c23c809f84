import { previewFormat } from '@tintype/crds/options/artifacts'
import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { PreviewFormat } from '@tintype/crds/options/output/preview'

/** A small copy of the picture. */
export interface PreviewPlan {
  format: PreviewFormat
  /** Maximum width and height of a slice in pixels. */
  maxSide: number
  /** Maximum bytes of a slice. */
  maxBytes: number
  maxSlices: number
}

/** Builds the plan for the preview. */
export function buildPreview(options: EffectiveOptions): { preview?: PreviewPlan } {
  const format = previewFormat(options)
  if (format === undefined) return {}
  const { preview, previewMaxSide: maxSide, previewMaxBytes: maxBytes, previewMaxSlices } = options
  return { preview: { format, maxSide, maxBytes, maxSlices: preview === 'fit' ? 1 : previewMaxSlices } }
}
