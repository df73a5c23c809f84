import { awaitResponse } from '../../runtime/race.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step } from '../step.ts'

/** Measures the page. This also forces a layout, without which a screenshot right after loading may fail. */
export const measure: Step = {
  name: 'measure',
  onFailure: 'repeat',
  run: async (work) => {
    const { tab, findings, signal } = work
    // The page may have begun a navigation during the delay. Follow it, because the client would not see the old document.
    await follow(work)
    const { cssContentSize, cssVisualViewport } = await awaitResponse(tab.session.send('Page.getLayoutMetrics'), signal)
    const { width: contentWidth, height: contentHeight } = cssContentSize
    findings.size = { contentWidth, contentHeight, scrollX: cssVisualViewport.pageX, scrollY: cssVisualViewport.pageY }
  },
}
