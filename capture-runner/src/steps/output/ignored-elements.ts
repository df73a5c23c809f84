import { callInPage } from '../../page/call.ts'
import { shorten } from '../injection/syntax.ts'
import type { Step } from '../step.ts'

/** Records where the elements of `compare_ignore` are, directly before the screenshot. They stay visible in the picture. */
export const ignoredElements: Step = {
  name: 'ignoredElements',
  isWanted: ({ comparison, pages }) => comparison.ignoredSelectors.length > 0 && pages === undefined,
  run: async (work) => {
    const { plan, findings } = work
    const { ignoredSelectors } = plan.comparison
    const found = await callInPage(work, 'findIgnoredBoxes', ignoredSelectors)
    findings.ignoredElements = ignoredSelectors.map((selector, index) => ({ selector, areas: found[index] ?? [] }))
    for (const { selector, areas } of findings.ignoredElements) {
      if (areas.length === 0) findings.warnings.push(`compare_ignore matched no visible element: ${shorten(selector)}`)
    }
  },
}
