import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells the part of the page that is wanted. */
export type RegionPlan = Readonly<Record<never, never>>

/** Works out the part of the page that is wanted. */
export function buildRegion(_options: EffectiveOptions): RegionPlan {
  return {}
}
