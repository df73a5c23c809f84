import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'
import type { WaitState } from '@tintype/crds/capture-options/waiting'

/** What is waited for, and for how long. */
export interface WaitingPlan {
  states: readonly WaitState[]
  /** For the navigation, and again for each selector that is waited for. */
  timeoutMilliseconds: number
  waitForSelector?: string
  delayMilliseconds: number
}

/** Works out the waits. */
export function buildWaiting({ waitUntil, timeout, waitForSelector, delay }: EffectiveOptions): WaitingPlan {
  return {
    states: waitUntil,
    timeoutMilliseconds: timeout,
    ...(waitForSelector ? { waitForSelector } : {}),
    delayMilliseconds: delay,
  }
}
