import { callInPage } from '../../page/call.ts'
import { windowAt } from '../../picture/tiles.ts'
import type { Step } from '../step.ts'

/** The browser rounds the width of content up. */
const TOLERANCE = 2

/** Adds warnings for a full page that is wider than its picture, and for a part of it that scrolls sideways. Parts that no reader can scroll to do not count. */
export const noteWidth: Step = {
  name: 'noteWidth',
  isWanted: ({ picture: { fullPage, clip }, options: { selector }, pages }) => fullPage && (selector ?? clip ?? pages) === undefined,
  run: async (work) => {
    const { plan, findings } = work
    const wider = await callInPage(work, 'findWiderPart')
    if (wider)
      findings.warnings.push(
        `the picture shows ${wider.width} of ${wider.whole} pixels of the width of ${wider.part}, which scrolls sideways. Raise viewport_width by ${wider.whole - wider.width}`,
      )
    if (!findings.size || plan.options.fullPageFullWidth) return
    const [wide, shown] = [findings.size.contentWidth, windowAt(plan.context.viewport, findings.size).width]
    if (wide < shown + TOLERANCE || (await callInPage(work, 'hidesSides'))) return
    const advice = 'Set full_page_full_width to true, or raise viewport_width'
    findings.warnings.push(`the page is ${Math.round(wide)} pixels wide, but the picture shows ${Math.round(shown)} of them. ${advice}`)
  },
}
