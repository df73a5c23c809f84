import { pause } from '../../runtime/race.ts'
import type { Step } from '../step.ts'
import { scrollTo } from './scroll-to.ts'

/** Places that the page passes within one scroll, and milliseconds in each: what a wheel does. */
const PLACES = 5
const PLACE_MILLISECONDS = 16

/** Goes down the page as a reader would (spec 2.2 full_page_scroll), as far as it grows on the way, and back to its top. */
export const scroll: Step = {
  name: 'scroll',
  isWanted: (plan) => plan.picture.scroll !== undefined,
  run: async (work) => {
    const { scroll: wanted, reach } = work.plan.picture
    if (!wanted) return
    let { scrollHeight, windowHeight } = await scrollTo(work, 0)
    let top = 0
    for (let scrolls = 0; scrolls < wanted.maxScrolls && top < endOf(scrollHeight, windowHeight, reach); scrolls++) {
      for (const place of placesOf(top, Math.min(top + wanted.stepPixels, endOf(scrollHeight, windowHeight, reach)))) {
        ;({ scrollHeight, windowHeight } = await scrollTo(work, place))
        top = place
        await pause(PLACE_MILLISECONDS, work.signal)
      }
      await pause(wanted.delayMilliseconds, work.signal)
      ;({ scrollHeight, windowHeight } = await scrollTo(work, top))
    }
    await scrollTo(work, 0)
  },
}

/** The lowest scroll position that matters. */
const endOf = (scrollHeight: number, windowHeight: number, reach: number): number => Math.min(scrollHeight, reach) - windowHeight

/** Positions from one place to the next, the last included: quick in the middle, slow at both ends. */
export function placesOf(from: number, to: number): number[] {
  return Array.from({ length: PLACES }, (_, i) => {
    const share = (i + 1) / PLACES
    const eased = share < 0.5 ? 2 * share ** 2 : 1 - (2 - 2 * share) ** 2 / 2
    return i === PLACES - 1 ? to : Math.round(from + (to - from) * eased)
  })
}
