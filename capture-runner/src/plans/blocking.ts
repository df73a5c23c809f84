import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells what is kept away from the page. */
export type BlockingPlan = Readonly<Record<never, never>>

/** Works out what is kept away from the page. */
export function buildBlocking(_options: EffectiveOptions): BlockingPlan {
  return {}
}
