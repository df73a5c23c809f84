import { callInPage } from '../../page/call.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step } from '../step.ts'

// Shows content that appears on scroll (ADR 34). The page is laid out in a window as tall as itself until it is stable. Then its scripts are switched
// off, and it is laid out in its own window again, so that the content stays visible. The browser paints no more than before.

/** Maximum number of elements whose heights are compared. Larger pages take seconds for a layout anyway. */
const MAX_ELEMENTS = 20_000

/** Shows the page in a window as tall as itself. */
export const reveal: Step = {
  name: 'reveal',
  isWanted: (plan) => plan.picture.reveal,
  run: async (work) => {
    const { tab, plan, signal } = work
    const pageHeight = await callInPage(work, 'prepareReveal', MAX_ELEMENTS)
    const { viewport } = plan.context
    const height = Math.min(pageHeight, plan.picture.reach)
    if (height <= viewport.height || !tab.layOut) return
    await awaitResponse(tab.layOut(height), signal)
    await callInPage(work, 'pinHeights')
    work.isRevealed = true
  },
}

/** Keeps the content that has appeared, and restores the page's own window. */
export const conceal: Step = {
  name: 'conceal',
  isWanted: (plan) => plan.picture.reveal,
  run: async (work) => {
    const { tab, plan, signal } = work
    if (!work.isRevealed || !tab.layOut) return
    await awaitResponse(tab.session.send('Emulation.setScriptExecutionDisabled', { value: true }), signal)
    await callInPage(work, 'restoreSectionLinks')
    const { height } = plan.context.viewport
    await callInPage(work, 'freezeViewAnimations', height)
    await awaitResponse(tab.layOut(), signal)
    // Scripts may have made elements as tall as the page. These keep their height, unless the client wants a tall window.
    await callInPage(work, 'unpinHeights', !plan.picture.beyondWindow)
  },
}
