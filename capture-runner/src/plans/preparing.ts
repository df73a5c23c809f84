import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** What is done to the page once it is there. Absent: the step is not wanted. */
export interface PreparingPlan {
  styles?: string
  scripts?: string
  click?: string
}

/** Works out the preparation of the page. */
export function buildPreparing({ styles, scripts, click }: EffectiveOptions): PreparingPlan {
  return { ...(styles ? { styles } : {}), ...(scripts ? { scripts } : {}), ...(click ? { click } : {}) }
}
