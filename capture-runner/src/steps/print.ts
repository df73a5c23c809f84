import type { PagesPlan } from '../plans/pdf.ts'
import { answered, raced } from '../race.ts'
import { checkMainFrame } from './navigate.ts'
import type { Step, Work } from './step.ts'

const PIXELS_PER_INCH = 96
/** Inches; a viewer draws no larger sheet. */
const MAX_SHEET_INCHES = 200
/** What an empty template is written as: nothing at all would be the browser's own. */
const NO_TEMPLATE = '<span></span>'

/** Prints the page. */
export const print: Step = {
  name: 'print',
  code: 'INVALID_OPTIONS',
  isWanted: (plan) => plan.pages !== undefined,
  run: async (work) => {
    const { tab, plan, findings, signal } = work
    if (!plan.pages) return
    checkMainFrame(tab)
    const pages = plan.pages.fitOnePage ? await fitOnePage(work, plan.pages) : plan.pages
    // Not bounded like other answers: a long document takes its time.
    const { data } = await raced(tab.session.send('Page.printToPDF', toParameters(pages)), signal)
    findings.picture = Buffer.from(data, 'base64')
  },
}

function toParameters(pages: PagesPlan) {
  const { fitOnePage: _, preferCssPageSize, tagged, outline, headerTemplate, footerTemplate, ...same } = pages
  return {
    ...same,
    preferCSSPageSize: preferCssPageSize,
    generateTaggedPDF: tagged,
    generateDocumentOutline: outline,
    displayHeaderFooter: headerTemplate !== undefined || footerTemplate !== undefined,
    headerTemplate: headerTemplate ?? NO_TEMPLATE,
    footerTemplate: footerTemplate ?? NO_TEMPLATE,
  }
}

/** A sheet as tall as the content is when it is laid out for print at the sheet's width. */
async function fitOnePage(work: Work, pages: PagesPlan): Promise<PagesPlan> {
  const { tab, findings, signal } = work
  const { scale, marginLeft, marginRight, marginTop, marginBottom } = pages
  const paperWidth = pages.landscape ? pages.paperHeight : pages.paperWidth
  const width = Math.max(1, Math.floor(((paperWidth - marginLeft - marginRight) * PIXELS_PER_INCH) / scale))
  await raced(tab.resize({ width, height: work.plan.context.viewport.height }), signal)
  await raced(tab.setMedia({ mediaType: 'print', ...work.plan.context }), signal)
  const { cssContentSize } = await answered(tab.session.send('Page.getLayoutMetrics'), signal)
  const wanted = ((cssContentSize.height + 1) * scale) / PIXELS_PER_INCH + marginTop + marginBottom
  if (wanted > MAX_SHEET_INCHES) findings.warnings.push(`the content needs a sheet of ${Math.ceil(wanted)} inches: a sheet ends at 200`)
  return { ...pages, landscape: false, paperWidth, paperHeight: Math.min(wanted, MAX_SHEET_INCHES), preferCssPageSize: false }
}
