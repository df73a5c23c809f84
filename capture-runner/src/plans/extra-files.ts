import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells the files beside the picture. */
export type ExtraFilesPlan = Readonly<Record<never, never>>

/** Works out the files beside the picture. */
export function buildExtraFiles(_options: EffectiveOptions): ExtraFilesPlan {
  return {}
}
