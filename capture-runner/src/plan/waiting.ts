import type { EffectiveOptions } from '@tintype/crds/options/catalogue'
import { captureMillisecondsOf, type WaitState } from '@tintype/crds/options/page/waiting'

/** When the network counts as resting. */
export interface QuietPlan {
  /** Milliseconds with no more than `maxRequests` under way. */
  milliseconds: number
  maxRequests: number
  /** Milliseconds after which the capture goes on all the same. */
  timeoutMilliseconds: number
}

/** What is waited for, and how long. */
export interface WaitingPlan {
  states: readonly WaitState[]
  quiet: QuietPlan
  /** For the navigation. */
  timeoutMilliseconds: number
  /** For each element or expression that is waited for. */
  elementMilliseconds: number
  waitForSelector?: { selector: string; isVisible: boolean; count: number }
  waitForSelectorGone?: string
  waitForFunction?: string
  /** For fonts and images after all else; 0: none. */
  settleMilliseconds: number
  /** Milliseconds for images alone, until they are decoded; absent: with the fonts. */
  imagesMilliseconds?: number
  /** Milliseconds of page time in which the page may come to rest; 0: it is not waited for. */
  stabilityMilliseconds: number
  /** Milliseconds without a change of the page's elements. */
  domIdleMilliseconds?: number
  delayMilliseconds: number
  captureMilliseconds: number
  /** A wait that took too long is a warning, not a failure. */
  isBestAttempt: boolean
  retries: number
  retryDelayMilliseconds: number
  blankAction: 'accept' | 'retry' | 'fail'
}

/** Works out what is waited for. */
export function buildWaiting(options: EffectiveOptions): WaitingPlan {
  const { timeout, waitUntil, delay, waitForSelector, waitForSelectorGone, waitForFunction, domIdleTime } = options
  const elementMilliseconds = options.waitForSelectorTimeout ?? timeout
  return {
    states: waitUntil,
    quiet: {
      milliseconds: options.networkIdleTime,
      maxRequests: options.networkIdleMaxConnections,
      timeoutMilliseconds: options.networkIdleTimeout ?? timeout,
    },
    timeoutMilliseconds: timeout,
    elementMilliseconds,
    ...(waitForSelector
      ? {
          waitForSelector: {
            selector: waitForSelector,
            isVisible: options.waitForSelectorState === 'visible',
            count: options.waitForSelectorCount,
          },
        }
      : {}),
    ...(waitForSelectorGone ? { waitForSelectorGone } : {}),
    ...(waitForFunction ? { waitForFunction } : {}),
    settleMilliseconds: options.waitForFontsTimeout,
    ...(options.waitForImages ? { imagesMilliseconds: elementMilliseconds } : {}),
    // A page that was given a delay has lived that long already.
    stabilityMilliseconds: Math.max(0, options.stabilityTimeout - delay),
    ...(domIdleTime > 0 ? { domIdleMilliseconds: domIdleTime } : {}),
    delayMilliseconds: delay,
    captureMilliseconds: captureMillisecondsOf(options),
    isBestAttempt: options.bestAttempt,
    retries: options.retries,
    retryDelayMilliseconds: options.retryDelay,
    blankAction: options.blankPageAction,
  }
}
