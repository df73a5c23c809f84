import { callInPage } from '../../page/call.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { findElement } from '../find-element.ts'
import { addStyles } from '../injection/styles.ts'
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

/** How a warning about a missing region begins. */
export const WHOLE_WINDOW = 'captured the whole window'

/** How long a hidden element may take to appear in a page that loads nothing. */
const HIDDEN_MILLISECONDS = 5_000

/** Whether the window is scrolled to the element to capture. */
export const isScrolledTo = ({ options }: Work['plan']): boolean =>
  options.selectorScrollIntoView && options.selectorAlgorithm === 'element'

/** Finds the element to capture, and scrolls to it. */
export const seekElement: Step = {
  name: 'seekElement',
  onFailure: 'repeat',
  isWanted: ({ options }) => options.selector !== undefined,
  run: async (work) => {
    const { selector = '' } = work.plan.options
    if ((await isFound(work, selector)) && isScrolledTo(work.plan)) await callInPage(work, 'scrollToMiddle', selector)
  },
}

async function isFound(work: Work, selector: string): Promise<boolean> {
  try {
    await findElement(work, selector, {}, HIDDEN_MILLISECONDS)
    return true
  } catch (error) {
    const isNeeded = work.plan.options.errorOnSelectorNotFound
    if (isNeeded || !(error instanceof CaptureError && error.code === 'SELECTOR_NOT_FOUND')) throw error
    work.findings.warnings.push(`${WHOLE_WINDOW}: ${error.message}`)
    return false
  }
}

/** Magnifies the page of a PDF. Other captures have a window with larger CSS pixels. */
export const zoom: Step = {
  name: 'zoom',
  onFailure: 'repeat',
  isForDocument: true,
  isWanted: (plan) => plan.zoom !== undefined,
  run: (work) => addStyles(work, `html { zoom: ${work.plan.zoom ?? 1} !important }`),
}
