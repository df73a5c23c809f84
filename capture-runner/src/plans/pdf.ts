import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells the pages of a pdf. */
export type PdfPlan = Readonly<Record<never, never>>

/** Works out the pages of a pdf. */
export function buildPdf(_options: EffectiveOptions): PdfPlan {
  return {}
}
