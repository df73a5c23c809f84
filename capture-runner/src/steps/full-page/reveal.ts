import { callInPage } from '../../page/call.ts'
import { awaitResponse } from '../../runtime/race.ts'
import { follow, NAVIGATED, warnOnce } from '../navigation/navigate.ts'
import { inDocument, type Step, type Work } from '../step.ts'
import { scriptSeconds } from '../waiting/motion.ts'
import { nextFrame, passTime, whileTimePasses } from '../waiting/page-time.ts'
import { stability } from '../waiting/stability.ts'
import { stopScripts } from '../waiting/still-page.ts'
import { unfoldParts } from './unfold.ts'

// Shows content that appears on scroll (ADR 34, ADR 72). The page is laid out in a window taller than itself until it is stable and stops growing. Then
// its scripts are stopped, and it is laid out in its own window again, so that the content stays visible. The browser paints no more than before.

/** Maximum number of elements whose heights are compared. Larger pages take seconds for a layout anyway. */
export const MAX_ELEMENTS = 20_000
/** Share of the tall window that the page takes up. Content may appear only once it is well inside the window. */
const PAGE_SHARE = 0.6
/** The same for a page that has grown since: up to here, the window remains tall enough. */
const GROWN_SHARE = 0.8
/** If a taller window shows less than this share more of the content, an even taller one does not help. */
const LEAST_GAIN = 0.1
/** Share of the tall window above and below a page whose scripts hide what is in the first quarter. */
const SIDE_SHARE = 0.3
/** How often a page that grows is followed, and for how long in real time. */
const MAX_GROWTHS = 3
const GROWTH_MILLISECONDS = 2_000
/** How long to wait for a frame of the tall window, and page time for observers after it. */
const FRAME_MILLISECONDS = 2_000
const OBSERVER_MILLISECONDS = 20
const GROWING = 'the page kept growing when its end was in view, so the picture may end before it'

/** Shows the page in a window taller than itself. */
export const reveal: Step = {
  name: 'reveal',
  onFailure: 'warn',
  isWanted: (plan) => plan.picture.reveal,
  run: async (work) => {
    const { document } = work.tab.lifecycle
    work.revealed = { document, windowHeight: work.plan.context.viewport.height, at: 0 }
    await inDocument(work, undefined, async () => layOutTall(work, await callInPage(work, 'prepareReveal', MAX_ELEMENTS)))
  },
}

/** Prepares content that has arrived since, in a taller window if needed, until the page rests. */
export const followGrowth: Step = {
  name: 'followGrowth',
  onFailure: 'warn',
  // A slow scroll has followed the growth as far as the client wants.
  isWanted: ({ picture }) => picture.reveal && picture.scroll === undefined,
  run: async (work) => {
    const { findings } = work
    const until = performance.now() + GROWTH_MILLISECONDS
    let growths = 0
    followOwnNavigation(work)
    for (;;) {
      const { height, hasPartGrown } = hasNavigated(work) ? GONE : await inDocument(work, GONE, () => prepareAgain(work))
      if (hasNavigated(work)) return warnOnce(findings.warnings, NAVIGATED)
      const isGrown = needsLayout(work, height)
      // A page that has grown, and loads again, is about to grow again. An unfolded part that has grown just got another scroll event, and may do so, too.
      const mayGrow = isGrown || hasPartGrown || (growths > 0 && isLoading(work))
      if (!mayGrow) return inDocument(work, undefined, () => showTop(work, height))
      if (growths >= MAX_GROWTHS || performance.now() > until) return warnOnce(findings.warnings, GROWING)
      if (isGrown) await inDocument(work, undefined, () => layOutTall(work, height))
      growths++
      await stability.run(work)
    }
  },
}

/** Stops the scripts, keeps the content that has appeared, and restores the page's own window. */
export const conceal: Step = {
  name: 'conceal',
  onFailure: 'warn',
  isWanted: ({ picture, options, video }) =>
    picture.format !== 'pdf' && video === undefined && (picture.fullPage || (options.selector ?? picture.clip) !== undefined),
  run: async (work) => {
    const { tab, plan, signal } = work
    // The picture of a part keeps its scripts, unless actions have changed the page.
    if (!plan.picture.fullPage && !work.notedActions) return
    const isTall = work.revealed !== undefined && work.revealed.windowHeight > plan.context.viewport.height
    if (!isTall && !(await isResizedByPicture(work))) return
    if (!plan.context.scriptsOff) await stopForGood(work)
    if (!isTall) return
    try {
      await callInPage(work, 'restoreSectionLinks')
      if (work.revealed?.isShifted) await callInPage(work, 'shiftDown', 0)
      await callInPage(work, 'freezeScrollAnimations', plan.context.viewport.height)
    } finally {
      await awaitResponse(tab.layOut(), signal)
    }
    // Scripts may have made elements as tall as the page. These keep their height, unless the client wants a tall window.
    await callInPage(work, 'unpinHeights', !plan.options.captureBeyondViewport)
    await callInPage(work, 'placeShifted')
  },
}

/** The document in which the page was prepared may have replaced itself since. */
const hasNavigated = ({ tab, revealed }: Work): boolean => tab.lifecycle.isMoving || tab.lifecycle.document !== revealed?.document

/** Whether requests are pending that began when the page was laid out in its last window. */
const isLoading = ({ tab, revealed }: Work): boolean => tab.lifecycle.hasPendingRequests(revealed?.at ?? 0, performance.now())

/** A page that navigated in its own window did so by itself, and its new document can be prepared. */
function followOwnNavigation({ tab, plan, revealed }: Work): void {
  if (revealed?.windowHeight === plan.context.viewport.height && !tab.lifecycle.isMoving) revealed.document = tab.lifecycle.document
}

/** The page's height, and whether its unfolded part has grown. */
interface Prepared {
  height: number
  hasPartGrown: boolean
}

const GONE: Prepared = { height: 0, hasPartGrown: false }

async function prepareAgain(work: Work): Promise<Prepared> {
  const hasPartGrown = await unfoldParts(work, true)
  return { height: await callInPage(work, 'prepareReveal', MAX_ELEMENTS), hasPartGrown }
}

/** Shows the page in the middle of a taller window if scripts hide what is in the first quarter of it. */
async function showTop(work: Work, pageHeight: number): Promise<void> {
  const { tab, plan, revealed, signal } = work
  if (!revealed || revealed.windowHeight === plan.context.viewport.height || plan.context.scriptsOff) return
  if (!(await callInPage(work, 'hidesTop'))) return
  revealed.windowHeight = Math.ceil(Math.min(pageHeight, plan.picture.reach) / (1 - 2 * SIDE_SHARE))
  revealed.isShifted = true
  await awaitResponse(tab.layOut(revealed.windowHeight), signal)
  await callInPage(work, 'shiftDown', Math.ceil(revealed.windowHeight * SIDE_SHARE))
  await callInPage(work, 'pinHeights')
  await reachScripts(work)
  await stability.run(work)
}

/** Whether the page is too tall for the window in which it is laid out. */
function needsLayout({ plan, revealed }: Work, pageHeight: number): boolean {
  const { windowHeight = 0 } = revealed ?? {}
  const own = plan.context.viewport.height
  const height = Math.min(pageHeight, plan.picture.reach)
  return height > own && (windowHeight === own || height > windowHeight * GROWN_SHARE)
}

/** Spacing in units of the window moves the content down as the window gets taller, so a taller one may be needed. */
async function layOutTall(work: Work, pageHeight: number): Promise<void> {
  const { tab, plan, revealed, signal } = work
  if (!revealed || !needsLayout(work, pageHeight)) return
  // A slow scroll has shown all of the page already, and a taller window would show the end of an endless feed again.
  const share = plan.picture.scroll ? 1 : PAGE_SHARE
  if (work.notedActions) await callInPage(work, 'forgetEndedEffects')
  let [height, covered] = [pageHeight, Number.POSITIVE_INFINITY]
  for (;;) {
    revealed.windowHeight = Math.ceil(Math.min(height, plan.picture.reach) / share)
    revealed.at = performance.now()
    await awaitResponse(tab.layOut(revealed.windowHeight), signal)
    const end = await callInPage(work, 'pinHeights')
    const isEnough = plan.picture.scroll !== undefined || !needsLayout(work, end) || covered - end / revealed.windowHeight < LEAST_GAIN
    if (isEnough) break
    ;[height, covered] = [end, end / revealed.windowHeight]
  }
  await reachScripts(work)
}

/** Observers of the page learn of the tall window with the next frame, which a busy machine may draw late, and need a moment of page time. */
async function reachScripts(work: Work): Promise<void> {
  if (work.plan.context.scriptsOff || !(await scriptSeconds(work))) return
  await nextFrame(work, FRAME_MILLISECONDS)
  await passTime(work, OBSERVER_MILLISECONDS)
}

/** The picture of a page beyond its window resizes the page for a moment, and scripts would react to it. */
async function isResizedByPicture({ tab, plan, signal }: Work): Promise<boolean> {
  if (!plan.options.captureBeyondViewport) return false
  const { cssContentSize } = await awaitResponse(tab.session.send('Page.getLayoutMetrics'), signal)
  return cssContentSize.height > plan.context.viewport.height
}

/** A document that begins to load without scripts would show what it has for browsers without scripts. */
export async function stopForGood(work: Work): Promise<void> {
  const { lifecycle, session } = work.tab
  for (;;) {
    await whileTimePasses(work, follow(work))
    const { document } = lifecycle
    await stopScripts(work)
    if (!lifecycle.isMoving && lifecycle.document === document) return
    await awaitResponse(session.send('Emulation.setScriptExecutionDisabled', { value: false }), work.signal)
  }
}

// Menus and tables of contents highlight the link of the current section (scroll spy). The sweep and the tall window change the highlight.
// A full-page screenshot shows the links as they were at the top of the page: `conceal` restores them.

/** Records the state of links to sections before the page is scrolled. */
export const noteSectionLinks: Step = {
  name: 'noteSectionLinks',
  onFailure: 'warn',
  isWanted: (plan) => plan.picture.reveal,
  run: (work) => callInPage(work, 'noteSectionLinks'),
}
