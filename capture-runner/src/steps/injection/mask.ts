import { callInPage } from '../../page/call.ts'
import type { Step } from '../step.ts'
import { shorten } from './syntax.ts'

/**
 * Covers the client's masked elements. Runs as the last step before the screenshot, after all steps that move or hide elements. In a PDF the
 * elements are hidden instead, because text below a box could be copied.
 */
export const mask: Step = {
  name: 'mask',
  isWanted: (plan) => plan.masked !== undefined,
  run: async (work) => {
    const { plan, findings } = work
    if (!plan.masked) return
    const { selectors, color } = plan.masked
    const covered = await (plan.pages
      ? callInPage(work, 'leaveOutMatches', selectors)
      : callInPage(work, 'coverMatches', { selectors, color }))
    for (const [index, selector] of selectors.entries()) {
      if (covered[index] === 0) findings.warnings.push(`mask_selectors[${index}] matched no visible element: ${shorten(selector)}`)
    }
  },
}
