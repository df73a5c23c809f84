import { pause } from '../../runtime/race.ts'
import type { Step } from '../step.ts'
import { nextFrame } from '../waiting/next-frame.ts'
import { scrollTo } from './scroll-to.ts'

/** Positions within one scroll, and milliseconds at each, like a mouse wheel. */
const PLACES = 5
const PLACE_MILLISECONDS = 16
/** How long to wait for a frame after a scroll, which a busy machine may draw late: the page learns of the scroll with it. */
const FRAME_MILLISECONDS = 1_000

/** Implements full_page_scroll: scrolls down the page as a reader would, follows its growth, and returns to the top. */
export const scroll: Step = {
  name: 'scroll',
  onFailure: 'warn',
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
      await nextFrame(work, FRAME_MILLISECONDS)
      await pause(wanted.delayMilliseconds, work.signal)
      ;({ scrollHeight, windowHeight } = await scrollTo(work, top))
    }
    await scrollTo(work, 0)
  },
}

/** The lowest scroll position to reach. */
const endOf = (scrollHeight: number, windowHeight: number, reach: number): number => Math.min(scrollHeight, reach) - windowHeight

/** Scroll positions from `from` to `to`, including `to`: fast in the middle, slow at both ends. */
export function placesOf(from: number, to: number): number[] {
  return Array.from({ length: PLACES }, (_, i) => {
    const share = (i + 1) / PLACES
    const eased = share < 0.5 ? 2 * share ** 2 : 1 - (2 - 2 * share) ** 2 / 2
    return i === PLACES - 1 ? to : Math.round(from + (to - from) * eased)
  })
}
