import { callInPage } from '../../page/call.ts'
import type { ElementPlan } from '../../plan/region.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { findElement } from '../find-element.ts'
import type { Step, Work } from '../step.ts'

/** How a warning about a missing region begins. */
export const WHOLE_WINDOW = 'captured the whole window'

/** How long a hidden element may take to appear in a page that loads nothing. */
const HIDDEN_MILLISECONDS = 5_000

/** Finds the element to capture, and scrolls to it. */
export const seekElement: Step = {
  name: 'seekElement',
  onFailure: 'repeat',
  isWanted: ({ picture }) => picture.element !== undefined,
  run: async (work) => {
    const { element } = work.plan.picture
    if (!element || !(await isFound(work, element)) || !element.scrollIntoView) return
    await callInPage(work, 'scrollToMiddle', element.selector)
  },
}

async function isFound(work: Work, { selector, required }: ElementPlan): Promise<boolean> {
  try {
    await findElement(work, selector, {}, HIDDEN_MILLISECONDS)
    return true
  } catch (error) {
    if (required || !(error instanceof CaptureError && error.code === 'SELECTOR_NOT_FOUND')) throw error
    work.findings.warnings.push(`${WHOLE_WINDOW}: ${error.message}`)
    return false
  }
}
