import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells what is done to the picture. */
export type ImageProcessingPlan = Readonly<Record<never, never>>

/** Works out what is done to the picture. */
export function buildImageProcessing(_options: EffectiveOptions): ImageProcessingPlan {
  return {}
}
