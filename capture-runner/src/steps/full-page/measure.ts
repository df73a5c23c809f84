import { callInPage } from '../../page/call.ts'
import { awaitResponse } from '../../runtime/race.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step } from '../step.ts'

/** Measures the page. This also forces a layout, without which a screenshot right after loading may fail. */
export const measure: Step = {
  name: 'measure',
  onFailure: 'repeat',
  run: async (work) => {
    const { tab, plan, findings, signal } = work
    // The page may have begun a navigation during the delay. Follow it, because the client would not see the old document.
    await follow(work)
    const { cssContentSize, cssVisualViewport } = await awaitResponse(tab.session.send('Page.getLayoutMetrics'), signal)
    const { width: contentWidth, height: contentHeight } = cssContentSize
    const { pageX, pageY: scrollY, clientWidth, scale } = cssVisualViewport
    const startX = contentWidth > clientWidth ? await callInPage(work, 'readStart') : 0
    findings.size = {
      contentWidth,
      contentHeight,
      scrollX: startX + pageX,
      scrollY,
      startX,
      scale: exactScale(plan.context.viewport.width, scale),
    }
  },
}

/** The browser rounds the scale. The exact one shows a whole number of CSS pixels. */
const exactScale = (windowWidth: number, scale: number): number => (scale === 1 ? 1 : windowWidth / Math.round(windowWidth / scale))
