import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells where the page comes from. */
export type SourcePlan = Readonly<Record<never, never>>

/** Works out where the page comes from. */
export function buildSource(_options: EffectiveOptions): SourcePlan {
  return {}
}
