import { callInPage } from '../../page/call.ts'
import { findElement } from '../find-element.ts'
import type { Step } from '../step.ts'

/** Scrolls to the element or the position that the client named. */
export const placeWindow: Step = {
  name: 'placeWindow',
  isWanted: (plan) => plan.scroll !== undefined,
  run: async (work) => {
    const { scroll } = work.plan
    if (!scroll) return
    if (!('selector' in scroll)) return callInPage(work, 'scrollToPosition', scroll.x, scroll.y)
    await findElement(work, scroll.selector)
    await callInPage(work, 'scrollToTop', scroll.selector, scroll.adjustTop)
  },
}
