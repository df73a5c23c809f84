import { callInPage } from '../../page/call.ts'
import type { ElementPlan } from '../../plan/region.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { findElement } from '../find-element.ts'
import type { Step, Work } from '../step.ts'

/** Finds the element to capture, and scrolls to it. */
export const seekElement: Step = {
  name: 'seekElement',
  isWanted: ({ picture }) => picture.element !== undefined,
  run: async (work) => {
    const { element } = work.plan.picture
    if (!element || !(await isFound(work, element)) || !element.scrollIntoView) return
    await callInPage(work, 'scrollToMiddle', element.selector)
  },
}

async function isFound(work: Work, { selector, required }: ElementPlan): Promise<boolean> {
  try {
    await findElement(work, selector)
    return true
  } catch (error) {
    if (required || !(error instanceof CaptureError && error.code === 'SELECTOR_NOT_FOUND')) throw error
    work.findings.warnings.push(`captured the whole window: ${error.message}`)
    return false
  }
}
