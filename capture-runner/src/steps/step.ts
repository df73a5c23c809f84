import type { JobErrorCode } from '@tintype/crds/errors'
import type { CapturePlan } from '../plan.ts'
import type { Tab } from '../tab.ts'
import type { PageSize } from '../tiles.ts'

/** What the steps find out, one after the other. */
export interface Findings {
  warnings: string[]
  size?: PageSize
  picture?: Buffer
  truncated?: boolean
  pageTitle?: string
  finalUrl?: string
  httpStatus?: number
}

/** What a step works with. `signal` ends with the capture's deadline, its cancellation or its browser. */
export interface Work {
  tab: Tab
  plan: CapturePlan
  findings: Findings
  signal: AbortSignal
}

/** One step of a capture: named for timings and failures, skipped when its option is unset. */
export interface Step {
  name: string
  /** What a failure counts as that the step has no words for. Absent: the runner's own, INTERNAL_ERROR. */
  code?: JobErrorCode
  isWanted?: (plan: CapturePlan) => boolean
  run: (work: Work) => Promise<void>
}
