import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells the way to the page. */
export type NetworkPlan = Readonly<Record<never, never>>

/** Works out the way to the page. */
export function buildNetwork(_options: EffectiveOptions): NetworkPlan {
  return {}
}
