import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells when the capture counts as failed. */
export type FailingPlan = Readonly<Record<never, never>>

/** Works out when the capture counts as failed. */
export function buildFailing(_options: EffectiveOptions): FailingPlan {
  return {}
}
