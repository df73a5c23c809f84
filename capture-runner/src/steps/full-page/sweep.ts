import { callInPage } from '../../page/call.ts'
import { pause } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import { follow, NAVIGATED, warnOnce } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { scriptSeconds } from '../waiting/motion.ts'
import { nextFrame } from '../waiting/next-frame.ts'
import { scrollTo } from './scroll-to.ts'

/** Time limit of the whole sweep. */
const MAX_MILLISECONDS = 2_000
/** Milliseconds at each position, so that the page can react. */
const REST_MILLISECONDS = 40
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
      await sweepDown(sweeping)
      return lifecycle.document === document
    })
    stop.abort(new Error('the page navigated during the sweep'))
    if (isSwept) return
    await follow(work)
    warnOnce(work.findings.warnings, NAVIGATED)
  },
}

async function sweepDown(work: Work): Promise<void> {
  const until = performance.now() + MAX_MILLISECONDS
  const { scrollHeight, windowHeight } = await scrollTo(work, 0)
  const offsets = sweepOffsets(scrollHeight, windowHeight, work.plan.picture.reach)
  if (offsets.length > 0 && !(await passUnnoticed(work, offsets, until))) await passSlowly(work, offsets, until)
}

async function passSlowly(work: Work, offsets: readonly number[], until: number): Promise<void> {
  for (const offset of offsets) {
    if (performance.now() > until) break
    await scrollTo(work, offset)
    const frame = work.plan.context.scriptsOff ? undefined : nextFrame(work, FRAME_MILLISECONDS)
    await Promise.all([pause(REST_MILLISECONDS, work.signal), frame])
    if (work.plan.picture.reveal) await callInPage(work, 'noteShifts')
  }
  await scrollTo(work, 0)
  // Let elements that react to the scroll position return to their state at the top.
  await nextFrame(work, REST_MILLISECONDS)
}

/**
 * Shows each position for one frame and ends at the top. Returns false as soon as a script of the page runs, because it may need the longer rest.
 * Scripts in out-of-process frames are invisible here, so pages with such frames always get the longer rest.
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

/** Scroll positions in CSS pixels, top first. Empty for a page that fits into one window. */
export function sweepOffsets(scrollHeight: number, windowHeight: number, maxHeight: number): number[] {
  const end = Math.min(scrollHeight, maxHeight) - windowHeight
  const step = Math.max(1, Math.floor(windowHeight * OVERLAP))
  const count = end <= 0 ? 0 : Math.ceil(end / step)
  return Array.from({ length: count }, (_, i) => Math.min((i + 1) * step, end))
}
