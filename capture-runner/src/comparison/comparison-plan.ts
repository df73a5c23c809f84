import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { regionOf } from '@tintype/crds/options/output/comparison'
import { type StatusRange, toStatusRange } from '@tintype/crds/options/rules/texts'
import type { PageArea } from './boxes.ts'

/** How to compare the picture with an earlier one, and what to leave out. */
export interface ComparisonPlan {
  comparison: {
    /** Share of pixels above which the picture counts as changed, 0 to 1; undefined: regions decide. */
    threshold: number | undefined
    /** Color difference, 0 to 1. */
    colorTolerance: number
    antialiasing: boolean
    /** Statuses from 400 on with which the page is compared. */
    acceptedStatuses: readonly StatusRange[]
    /** CSS selectors of elements to ignore. Their boxes are recorded even if nothing is compared. */
    ignoredSelectors: readonly string[]
    /** Regions to ignore, in CSS pixels of the page. */
    ignoredRegions: readonly PageArea[]
  }
}

/** Builds the plan for comparisons. */
export const buildComparison = (options: EffectiveOptions): ComparisonPlan => {
  const entries = options.compareIgnore ?? []
  return {
    comparison: {
      threshold: options.compareThreshold,
      colorTolerance: options.compareColorTolerance,
      antialiasing: options.compareAntialiasing,
      acceptedStatuses: (options.compareAcceptStatus ?? []).map(toStatusRange),
      ignoredSelectors: entries.flatMap(({ selector }) => selector ?? []),
      ignoredRegions: entries.flatMap((entry) => regionOf(entry) ?? []),
    },
  }
}
