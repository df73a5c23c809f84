import { callInPage } from '../../page/call.ts'
import { findElement } from '../find-element.ts'
import type { Step, Work } from '../step.ts'

/** Whether the client named an element or a position to scroll to. */
export const isPlaced = ({ options: { scrollIntoView, scrollX, scrollY } }: Work['plan']): boolean =>
  scrollIntoView !== undefined || scrollX > 0 || scrollY > 0

/** Scrolls to the element or the position that the client named. */
export const placeWindow: Step = {
  name: 'placeWindow',
  onFailure: 'repeat',
  isWanted: isPlaced,
  run: async (work) => {
    const { scrollIntoView: selector, scrollIntoViewAdjustTop, scrollX, scrollY } = work.plan.options
    if (selector === undefined) return callInPage(work, 'scrollToPosition', scrollX, scrollY)
    await findElement(work, selector)
    await callInPage(work, 'scrollToTop', selector, scrollIntoViewAdjustTop)
  },
}
