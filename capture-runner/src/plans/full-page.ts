import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** How much of the page's height is wanted. */
export interface FullPagePlan {
  fullPage: boolean
  /** CSS pixels at which a full-page picture ends. */
  maxHeight: number
}

/** Works out the height. */
export function buildFullPage({ fullPage, fullPageMaxHeight }: EffectiveOptions): FullPagePlan {
  return { fullPage, maxHeight: fullPageMaxHeight }
}
