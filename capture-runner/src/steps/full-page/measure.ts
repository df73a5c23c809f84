import { answered } from '../../runtime/race.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step } from '../step.ts'

/** Measures the page. This also makes the browser lay it out anew, without which a picture right after loading may fail. */
export const measure: Step = {
  name: 'measure',
  run: async (work) => {
    const { tab, findings, signal } = work
    // A page that has begun to leave during the delay is followed: what is shown now is not what the client would see.
    await follow(work)
    const { cssContentSize, cssVisualViewport } = await answered(tab.session.send('Page.getLayoutMetrics'), signal)
    const { width: contentWidth, height: contentHeight } = cssContentSize
    findings.size = { contentWidth, contentHeight, scrollX: cssVisualViewport.pageX, scrollY: cssVisualViewport.pageY }
  },
}
