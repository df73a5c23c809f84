import type { PageNotes } from '@tintype/crds/kinds/page-notes'
import type { ArtifactType } from '@tintype/crds/options/artifacts'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import type { FilterLists } from '../blocking/lists.ts'
import type { RequestEvaluator } from '../blocking/request-evaluator.ts'
import type { PageClock } from '../browser/page-clock.ts'
import type { Tab } from '../browser/tab.ts'
import type { BatchCache } from '../http-cache/http-cache.ts'
import type { CapturePlan } from '../plan/plan.ts'
import type { PageSize, Tile } from '../plan/region.ts'
import type { Journal } from '../requests/journal.ts'

/** What the steps find out, one after the other. */
export interface Findings {
  warnings: string[]
  size?: PageSize
  /** The part of the page that is captured, in CSS pixels; absent: the window or the full page. */
  region?: Tile | undefined
  picture?: Buffer
  /** Files beside the picture. */
  files: Map<ArtifactType, Buffer>
  /** What options ask to be noted. */
  page: PageNotes
  journal?: Journal
  truncated?: boolean
  pageTitle?: string
  finalUrl?: string
  httpStatus?: number
}

/** What was noted of the page from its start on. */
export interface Sight {
  /** The first needed request that failed. */
  failedRequest?: string
  pageError?: string
  isChallenged?: boolean
}

/** What a step works with. `signal` ends with the capture's deadline, its cancellation or its browser. */
export interface Work {
  tab: Tab
  plan: CapturePlan
  findings: Findings
  /** Absent: this runner carries none. */
  lists?: FilterLists | undefined
  /** Who decides about the page's requests; absent: nobody. */
  evaluator?: RequestEvaluator
  /** What the capture may share with its batch; absent: nothing. */
  httpCache?: BatchCache | undefined
  /** Requests that were answered from that cache, by their ids in events of the network; absent: none can be. */
  sharedHits?: ReadonlySet<string> | undefined
  /** What was noted of the page's doings; absent: nobody asked. */
  sight?: Sight
  /** Files that the client named, by their addresses; undefined: not to be had. */
  texts?: ReadonlyMap<string, string | undefined>
  /** The page's own clock, which stands still by itself; absent: it runs with real time. */
  clock?: PageClock
  /** The page is laid out in a window as tall as itself. */
  isRevealed?: true
  /** Called when all that is left is drawing: the page is as it is to be shown. Not called where that takes long. */
  onShutter?: (() => void) | undefined
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
