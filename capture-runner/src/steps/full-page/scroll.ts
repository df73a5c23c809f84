import { callInPage } from '../../page/call.ts'
import type { Extent } from '../../page/functions.ts'
import { pause } from '../../runtime/race.ts'
import { follow, NAVIGATED, warnOnce } from '../navigation/navigate.ts'
import { inDocument, type Step, type Work } from '../step.ts'
import { bringForward, scriptSeconds } from '../waiting/motion.ts'
import { nextFrame, type StepTime, timeOf } from '../waiting/page-time.ts'

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

/** Scrolls instantly, regardless of the page's scroll-behavior. Switches off lazy loading if the client wants that. */
export const scrollTo = (work: Work, offset: number): Promise<Extent> =>
  callInPage(work, 'scrollWindow', offset, work.plan.picture.eagerImages)

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
const SWEEP_FRAME_MILLISECONDS = 200
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
  await nextFrame(work, SWEEP_FRAME_MILLISECONDS)
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
