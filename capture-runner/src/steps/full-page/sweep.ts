import { callInPage } from '../../page/call.ts'
import { pause } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import { follow, NAVIGATED, warnOnce } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { bringForward, scriptSeconds } from '../waiting/motion.ts'
import { nextFrame } from '../waiting/next-frame.ts'
import { type StepTime, timeOf } from '../waiting/page-time.ts'
import { scrollTo } from './scroll-to.ts'

/** Time limit of the whole sweep. */
const MAX_MILLISECONDS = 2_000
/** Milliseconds at each position, so that the page can react. */
const REST_MILLISECONDS = 40
/** More page time at a position if scripts look only some time after a scroll: libraries wait for 100 to 200 ms. */
const LATE_MILLISECONDS = 220
/** How far animations move forward after the sweep. */
const ANIMATION_MILLISECONDS = 2_000
/** Positions at which the sweep finds out whether they do. */
const TRIALS = 2
/** Real time to leave for each position that follows. */
const NEXT_MILLISECONDS = 80
/** Milliseconds to wait for a frame there, which a busy machine may draw late. */
const FRAME_MILLISECONDS = 200
/** Step as a share of the window height. The overlap leaves no gap between two positions. */
const OVERLAP = 0.95

/** Before a full-page screenshot: scrolls quickly down the page and back, so that content loads that waits to come into view. */
export const sweep: Step = {
  name: 'sweep',
  onFailure: 'warn',
  isWanted: (plan) => plan.picture.sweep,
  run: async (work) => {
    const { lifecycle } = work.tab
    const { document } = lifecycle
    const stop = new AbortController()
    const sweeping = { ...work, signal: AbortSignal.any([work.signal, stop.signal]) }
    const isSwept = await inDocument(work, false, async () => {
      await sweepDown(sweeping, async () => {
        const time = await timeOf(work)
        // The clock belongs to the whole capture.
        if (work.clock) sweeping.clock = work.clock
        return time
      })
      return lifecycle.document === document
    })
    stop.abort(new Error('the page navigated during the sweep'))
    if (isSwept) return
    await follow(work)
    warnOnce(work.findings.warnings, NAVIGATED)
  },
}

async function sweepDown(work: Work, openTime: () => Promise<StepTime>): Promise<void> {
  const until = performance.now() + MAX_MILLISECONDS
  const { scrollHeight, windowHeight } = await scrollTo(work, 0)
  const offsets = sweepOffsets(scrollHeight, windowHeight, work.plan.picture.reach)
  if (offsets.length === 0 || (await passUnnoticed(work, offsets, until))) return
  const time = work.plan.context.scriptsOff ? undefined : await openTime()
  await passSlowly(work, offsets, until, time).finally(() => time?.run())
}

/** @param time absent: the page has no scripts */
async function passSlowly(work: Work, offsets: readonly number[], until: number, time: StepTime | undefined): Promise<void> {
  const noteShifts = async () => {
    if (work.plan.picture.reveal) await callInPage(work, 'noteShifts')
  }
  let hasLate = false
  for (const [index, offset] of offsets.entries()) {
    const left = until - performance.now()
    if (left < 0) break
    await scrollTo(work, offset)
    await rest(work, time)
    if ((hasLate || index < TRIALS) && left > LATE_MILLISECONDS + (offsets.length - index) * NEXT_MILLISECONDS) {
      if (await runsLate(work, time)) hasLate = true
    }
    await noteShifts()
  }
  // A last look at the end, although the time is over.
  if (hasLate) await runsLate(work, time)
  await scrollTo(work, 0)
  // Let elements that react to the scroll position return to their state at the top.
  await rest(work, time)
  if (hasLate) await runsLate(work, time)
  if (time) {
    // What disappears again when it is left must have done so before it appears in the tall window: its scripts react to the end of the animation.
    await bringForward(work, ANIMATION_MILLISECONDS)
    await time.pass(REST_MILLISECONDS)
  }
  await noteShifts()
}

/** Lets the page react to a scroll. */
async function rest(work: Work, time: StepTime | undefined): Promise<void> {
  if (!time) return pause(REST_MILLISECONDS, work.signal)
  // Scripts that react to the first frame get another one.
  await nextFrame(work, FRAME_MILLISECONDS)
  await time.pass(REST_MILLISECONDS)
}

/** Lets more time pass for the page. Returns whether scripts ran in it. Scripts in out-of-process frames are invisible here. */
async function runsLate(work: Work, time: StepTime | undefined): Promise<boolean> {
  if (!time) return false
  const before = await scriptSeconds(work)
  const end = time.page + LATE_MILLISECONDS
  // While the page waits for a response, less time passes at once.
  while (time.page < end) await time.pass(end - time.page)
  return before === undefined || (await scriptSeconds(work)) !== before || work.tab.foreignFrames().length > 0
}

/**
 * Shows each position for one frame and ends at the top. Returns false as soon as a script of the page runs, because it may need the longer rest.
 * Scripts in out-of-process frames are invisible here, so pages with such frames always get the longer rest.
 */
async function passUnnoticed(work: Work, offsets: readonly number[], until: number): Promise<boolean> {
  const { tab, plan } = work
  if (plan.context.scriptsOff || tab.foreignFrames().length > 0) return false
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

/** Scroll positions in CSS pixels, top first. Empty for a page that fits into one window. */
export function sweepOffsets(scrollHeight: number, windowHeight: number, maxHeight: number): number[] {
  const end = Math.min(scrollHeight, maxHeight) - windowHeight
  const step = Math.max(1, Math.floor(windowHeight * OVERLAP))
  const count = end <= 0 ? 0 : Math.ceil(end / step)
  return Array.from({ length: count }, (_, i) => Math.min((i + 1) * step, end))
}
