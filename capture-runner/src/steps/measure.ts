import { raced } from '../race.ts'
import type { Step } from './step.ts'

/** Measures the page. This also makes the browser lay it out anew, without which a picture right after loading may fail. */
export const measure: Step = {
  name: 'measure',
  run: async ({ tab, findings, signal }) => {
    const { cssContentSize, cssVisualViewport } = await raced(tab.session.send('Page.getLayoutMetrics'), signal)
    findings.size = { contentHeight: cssContentSize.height, scrollX: cssVisualViewport.pageX, scrollY: cssVisualViewport.pageY }
  },
}
