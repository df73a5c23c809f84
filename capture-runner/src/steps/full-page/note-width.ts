import { callInPage } from '../../page/call.ts'
import { windowAt } from '../../picture/region.ts'
import type { Step } from '../step.ts'

/** The browser rounds the width of content up. */
const TOLERANCE = 2

/** Adds a warning for a full page that is wider than its picture. Parts that no reader can scroll to do not count. */
export const noteWidth: Step = {
  name: 'noteWidth',
  isWanted: ({ picture: { fullPage, fullWidth, element, clip }, pages }) =>
    fullPage && !fullWidth && element === undefined && clip === undefined && pages === undefined,
  run: async (work) => {
    const { plan, findings } = work
    if (!findings.size) return
    const [wide, shown] = [findings.size.contentWidth, windowAt(plan.context.viewport, findings.size).width]
    if (wide < shown + TOLERANCE || (await callInPage(work, 'hidesSides'))) return
    const advice = 'Set full_page_full_width to true, or raise viewport_width'
    findings.warnings.push(`the page is ${Math.round(wide)} pixels wide, but the picture shows ${Math.round(shown)} of them. ${advice}`)
  },
}
