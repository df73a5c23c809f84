import { callInPage } from '../../page/call.ts'
import type { Step } from '../step.ts'

/** Before a full-page screenshot: expands an inner scrolling panel to its full height, and pins elements that are as tall as the window. */
export const unfold: Step = {
  name: 'unfold',
  isWanted: ({ picture }) =>
    picture.scrollContainer !== undefined ||
    picture.pinWindowHeights ||
    (picture.eagerImages && !picture.sweep && picture.scroll === undefined),
  run: async (work) => {
    const { scrollContainer, pinWindowHeights, eagerImages } = work.plan.picture
    const parts = { container: scrollContainer, pins: pinWindowHeights, eager: eagerImages }
    const found = await callInPage(work, 'unfold', parts)
    if (found === 'absent') work.findings.warnings.push('full_page_scroll_container matched no scrollable element')
  },
}
