import { pause } from '../race.ts'
import { scrollTo } from './scroll-to.ts'
import type { Step } from './step.ts'

/** Milliseconds that the whole pass may take. */
const MAX_MILLISECONDS = 2_000
/** Milliseconds that the page gets in each place to notice that it is seen. */
const REST_MILLISECONDS = 40
/** Parts of a window from one place to the next, so that nothing lies between two. */
const OVERLAP = 0.95

/** Before a picture of more than the window: one quick pass down the page as it is and back up, so that what loads when it comes into view does. */
export const sweep: Step = {
  name: 'sweep',
  isWanted: (plan) => plan.picture.sweep,
  run: async (work) => {
    const until = performance.now() + MAX_MILLISECONDS
    const { scrollHeight, windowHeight } = await scrollTo(work, 0)
    for (const offset of sweepOffsets(scrollHeight, windowHeight, work.plan.picture.reach)) {
      if (performance.now() > until) break
      await scrollTo(work, offset)
      await pause(REST_MILLISECONDS, work.signal)
    }
    await scrollTo(work, 0)
  },
}

/** Scroll positions in CSS pixels, top first, for a page that fits into one window: none. */
export function sweepOffsets(scrollHeight: number, windowHeight: number, maxHeight: number): number[] {
  const end = Math.min(scrollHeight, maxHeight) - windowHeight
  const step = Math.max(1, Math.floor(windowHeight * OVERLAP))
  const count = end <= 0 ? 0 : Math.ceil(end / step)
  return Array.from({ length: count }, (_, i) => Math.min((i + 1) * step, end))
}
