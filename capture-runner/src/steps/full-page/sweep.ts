import { pause } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'
import { scriptSeconds } from '../waiting/motion.ts'
import { nextFrame } from '../waiting/next-frame.ts'
import { scrollTo } from './scroll-to.ts'

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
    const offsets = sweepOffsets(scrollHeight, windowHeight, work.plan.picture.reach)
    if (offsets.length > 0 && !(await passUnnoticed(work, offsets, until))) await passSlowly(work, offsets, until)
  },
}

async function passSlowly(work: Work, offsets: readonly number[], until: number): Promise<void> {
  for (const offset of offsets) {
    if (performance.now() > until) break
    await scrollTo(work, offset)
    await pause(REST_MILLISECONDS, work.signal)
  }
  await scrollTo(work, 0)
  // What reacts to the scroll position is as at the top again.
  await nextFrame(work, REST_MILLISECONDS)
}

/**
 * Shows each place for one frame, and ends at the top. Gives false as soon as a script of the page runs: it may have noticed, and may need the longer
 * rest. Scripts in frames of other processes are not seen, so their pages get it always.
 */
async function passUnnoticed(work: Work, offsets: readonly number[], until: number): Promise<boolean> {
  const { tab, plan } = work
  if (plan.context.scriptsOff || (await tab.foreignFrames()).length > 0) return false
  const before = await scriptSeconds(work)
  if (before === undefined) return false
  for (const offset of [...offsets, 0]) {
    if (offset > 0 && performance.now() > until) continue
    await scrollTo(work, offset)
    await nextFrame(work, REST_MILLISECONDS)
    if ((await scriptSeconds(work)) !== before) return false
  }
  return true
}

/** Scroll positions in CSS pixels, top first, for a page that fits into one window: none. */
export function sweepOffsets(scrollHeight: number, windowHeight: number, maxHeight: number): number[] {
  const end = Math.min(scrollHeight, maxHeight) - windowHeight
  const step = Math.max(1, Math.floor(windowHeight * OVERLAP))
  const count = end <= 0 ? 0 : Math.ceil(end / step)
  return Array.from({ length: count }, (_, i) => Math.min((i + 1) * step, end))
}
