import { captureMillisecondsOf, stabilityRealMillisecondsOf } from '@tintype/crds/dispatch/dispatch'
import type { MovingParts } from '@tintype/crds/kinds/comparison'
import type { EffectiveOptions } from '@tintype/crds/options/catalog'

/** Condition for an idle network. */
export interface QuietPlan {
  /** Milliseconds with at most `maxRequests` pending. */
  milliseconds: number
  maxRequests: number
  /** Milliseconds after which the capture continues anyway. */
  timeoutMilliseconds: number
}

/** Waits that several options decide. */
export interface WaitingPlan {
  quiet: QuietPlan
  /** For each element or expression. */
  elementMilliseconds: number
  /** For images alone; absent: together with the fonts. */
  imagesMilliseconds?: number
  /** Page time for the page to become stable; 0: no wait. */
  stabilityMilliseconds: number
  /** Real time for it, unless the page gains content or receives data. */
  stabilityRealMilliseconds: number
  /** Maximum real time for it. */
  stabilityMaxMilliseconds: number
  /** The wait is long enough to learn from it that the page never rests. */
  isStabilityTelling: boolean
  /** Real time, from the start of the wait, in which pictures are compared while something still moves. */
  stabilityPicturesMilliseconds: number
  /** Page time since their start at which endless animations are shown; absent: as they are. */
  endlessMilliseconds?: number
  captureMilliseconds: number
}

/** Time beyond the bound. A tween as long as the bound begins after the load, and two pictures must show its end. */
const LAST_LOOK_MILLISECONDS = 400

/** Real time for a page that moved to the end of the wait in the last run. */
const ENDLESS_MILLISECONDS = 1_000

/** The wait of a picture that is compared with an earlier or a later one. */
export function waitAsCompared<Plan extends WaitingPlan>(plan: Plan): Plan {
  const milliseconds = stabilityRealMillisecondsOf(true)
  return {
    ...plan,
    stabilityRealMilliseconds: milliseconds,
    stabilityMaxMilliseconds: milliseconds,
    stabilityPicturesMilliseconds: milliseconds,
    isStabilityTelling: true,
  }
}

/** Shortens the wait for a page that never rested in the last run of its schedule. */
export function shortenWait<Plan extends WaitingPlan>(plan: Plan, moving: MovingParts | undefined): Plan {
  if (!moving?.isEndless) return plan
  return {
    ...plan,
    stabilityRealMilliseconds: Math.min(plan.stabilityRealMilliseconds, ENDLESS_MILLISECONDS),
    stabilityMaxMilliseconds: Math.min(plan.stabilityMaxMilliseconds, ENDLESS_MILLISECONDS),
    stabilityPicturesMilliseconds: Math.min(plan.stabilityPicturesMilliseconds, ENDLESS_MILLISECONDS),
  }
}

/** Builds the plan for waiting. */
export function buildWaiting(options: EffectiveOptions): WaitingPlan {
  const { timeout, delay } = options
  const elementMilliseconds = options.waitForSelectorTimeout ?? timeout
  // The delay counts as part of the page's time. A full page needs all of it, because what appears on scroll begins to load after the delay.
  const stabilityMilliseconds = options.fullPage ? options.stabilityTimeout : Math.max(0, options.stabilityTimeout - delay)
  const stabilityMaxMilliseconds = stabilityRealMillisecondsOf(false)
  const plan: WaitingPlan = {
    quiet: {
      milliseconds: options.networkIdleTime,
      maxRequests: options.networkIdleMaxConnections,
      timeoutMilliseconds: options.networkIdleTimeout ?? timeout,
    },
    elementMilliseconds,
    ...(options.waitForImages ? { imagesMilliseconds: elementMilliseconds } : {}),
    stabilityMilliseconds,
    stabilityRealMilliseconds: Math.min(stabilityMilliseconds, stabilityMaxMilliseconds),
    stabilityMaxMilliseconds,
    isStabilityTelling: false,
    stabilityPicturesMilliseconds: stabilityMilliseconds + LAST_LOOK_MILLISECONDS,
    // After a delay, a slideshow must show what it shows then.
    ...(options.stabilityTimeout > 0 ? { endlessMilliseconds: Math.max(options.stabilityTimeout, delay) } : {}),
    captureMilliseconds: captureMillisecondsOf(options),
  }
  return options.compareTo === undefined ? plan : waitAsCompared(plan)
}
