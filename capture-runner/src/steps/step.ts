import type { Comparison, Engine, FormKind, MovingParts, UnfitReason } from '@tintype/crds/kinds/comparison'
import type { PageNotes, PreviewPlaces } from '@tintype/crds/kinds/page-notes'
import type { ArtifactType } from '@tintype/crds/options/artifacts'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import type { FilterLists } from '../blocking/lists.ts'
import type { RequestEvaluator } from '../blocking/request-evaluator.ts'
import type { DevTools } from '../browser/devtools.ts'
import type { FrameClock } from '../browser/frame-clock.ts'
import type { Tab } from '../browser/tab.ts'
import type { PictureFrame } from '../comparison/boxes.ts'
import type { BatchCache } from '../http-cache/http-cache.ts'
import type { PageSize, Tile } from '../plan/picture.ts'
import type { CapturePlan } from '../plan/plan.ts'
import type { SignInGaps } from '../requests/interception.ts'
import type { Journal } from '../requests/journal.ts'
import type { CaptureError } from '../runtime/errors.ts'
import type { RecordedVideo, RecorderParts } from '../video/directory.ts'

/** Results that the steps collect. */
export interface Findings {
  warnings: string[]
  size?: PageSize
  /** The part of the page to capture, in CSS pixels; absent: the window or the full page. */
  region?: Tile | undefined
  /** Elements to ignore in comparisons, in CSS pixels of the page. */
  ignoredElements?: readonly { selector: string; areas: readonly Tile[] }[]
  /** Where the picture is in the page. */
  frame?: PictureFrame
  comparison?: Comparison
  /** Why the picture may not show the page. */
  unfit?: UnfitReason
  /** Forms by which a login or a captcha is recognized. */
  forms?: readonly FormKind[]
  /** What drew the picture. */
  engine?: Engine
  /** What moved when the picture was taken. */
  moving?: MovingParts
  /** The response of the page broke off. */
  isBrokenOff?: boolean
  /** The screenshot, or the first frame of the video. */
  picture?: Buffer
  video?: RecordedVideo
  /** Files beside the screenshot. */
  files: Map<ArtifactType, Buffer>
  /** Where the slices of the preview are in its file. */
  preview?: PreviewPlaces
  /** Page data that options ask for. */
  page: PageNotes
  journal?: Journal
  truncated?: boolean
  pageTitle?: string
  finalUrl?: string
  httpStatus?: number
}

/** Problems noticed since the page began to load. */
export interface PageProblems {
  /** The first required request that failed. */
  failedRequest?: string
  /** The first error of its scripts. */
  pageError?: string
  isChallenged?: boolean
}

/** A cookie of which the browser makes no use, and why. */
export interface UnusedCookie {
  label: string
  warning: string
  /** If it has the cookie, for another host than that of the page. */
  key?: string
}
/** The cookies that are not for the page, by their keys. */
export type UnsentCookies = Map<string, UnusedCookie>

/** Input of a step. `signal` aborts at the capture's deadline, on cancellation, or when its browser ends. */
export interface Work {
  tab: Tab
  plan: CapturePlan
  findings: Findings
  /** Absent: this runner has no filter lists. */
  lists?: FilterLists | undefined
  /** Decides about the page's requests; absent: all are allowed. */
  evaluator?: RequestEvaluator
  /** The HTTP cache shared with the capture's batch; absent: nothing is shared. */
  httpCache?: BatchCache | undefined
  /** Requests that were served from that cache, by their ids in Network events; absent: none can be. */
  sharedHits?: ReadonlySet<string> | undefined
  /** Absent: the client does nothing that may open a tab. */
  newTabs?: ActionTabs
  /** What the page did not get of the client's headers and credentials; absent: there are none. */
  signInGaps?: SignInGaps
  /** Cookies of the client that are not for the page, and that no request has sent; absent: there are none. */
  unsentCookies?: UnsentCookies
  /** What a video needs from the runner; absent: this runner records none. */
  recorder?: RecorderParts | undefined
  /** Why the browser refused the headers of a request; absent: it has not. */
  refusedHeaders?: string
  /** Absent: no option needs it. */
  problems?: PageProblems
  /** Contents of the files that the client named, by URL; undefined: could not be loaded. */
  texts?: ReadonlyMap<string, string | undefined>
  /** The page's clock, on hold by default; absent: the page runs in real time. */
  clock?: FrameClock
  /** What masks the elements of the page; absent: nothing is masked. */
  masks?: Masks
  /** Ends the capture with this error, because the page must not be shown. */
  fail: (error: CaptureError) => void
  /** Called when a task of the page does not end, with the session of its frame. */
  onLongTask?: (session: DevTools) => void
  /** A task of the page was ended, with a warning. */
  hasEndedTask?: boolean
  /** When the wait for images ends, on the runner's clock; absent: it has not begun. */
  imagesUntil?: number
  /** Whether the page has had endless animations; absent: not known. */
  hasEndless?: boolean
  /** The actions whose effects are noted in the page; absent: none. */
  notedActions?: NotedActions
  /** A part that scrolls was expanded. */
  hasUnfolded?: boolean
  /**
   * The document that was prepared for a full page, the height of the window in which it is laid out, since when on the runner's clock, and whether the
   * page was moved to the middle of that window.
   */
  revealed?: { document: string | undefined; windowHeight: number; at: number; isShifted?: true }
  /** Called when the page is ready and only the screenshot remains. Not called when that takes long. */
  onPageReady?: (() => void) | undefined
  signal: AbortSignal
}

/** Options that may open a tab. */
export type Action = 'click' | 'click_all' | 'press_key' | 'scripts'

/** The tabs that actions of the client open. */
export interface ActionTabs {
  /** Runs an action, and waits for the document that it opens. */
  during: (action: Action, act: () => Promise<void>, arrive: () => Promise<void>) => Promise<void>
}

/** The actions whose effects are noted. */
export interface NotedActions {
  current?: Step | undefined
  /** Actions that have sent data to a server, and must not do so twice. */
  sending: Set<Step>
}

/** Acts on the masked elements of a page. */
export interface Masks {
  /** Covers them where they are now. */
  renew: () => Promise<void>
  /** Removes their content from the document. */
  redact: () => Promise<void>
}

/** One step of a capture: named for timings and failures, skipped when its option is unset. */
export interface Step {
  name: string
  /** Error code of an unexpected failure. Absent: INTERNAL_ERROR. */
  code?: JobErrorCode
  isWanted?: (plan: CapturePlan) => boolean
  /**
   * What an unexpected failure means. A step is first run again if the page has replaced its document meanwhile. After that, `warn` continues with a
   * warning, because the step only improves the picture, and `repeat` fails the capture. Absent: the capture fails at once.
   */
  onFailure?: 'warn' | 'repeat'
  /** The effect belongs to one document. The step runs again in a document that replaces it. */
  isForDocument?: true
  run: (work: Work) => Promise<void>
}

/**
 * Evaluates something in the page's document. Returns `otherwise` as soon as the page navigates: the browser delays the evaluation until the
 * navigation commits, which may be never.
 * @throws the signal's reason, or the evaluation's error if the document is still the same
 */
export async function inDocument<T, O>({ tab, signal }: Pick<Work, 'tab' | 'signal'>, otherwise: O, ask: () => Promise<T>): Promise<T | O> {
  const { document } = tab.lifecycle
  const asked = new AbortController()
  const leaving = tab.lifecycle.leave(asked.signal).then(() => otherwise)
  leaving.catch(() => {})
  try {
    return await Promise.race([ask(), leaving])
  } catch (error) {
    signal.throwIfAborted()
    if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) return otherwise
    throw error
  } finally {
    asked.abort()
  }
}
