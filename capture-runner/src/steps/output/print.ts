import { fixDates } from '../../picture/pdf-dates.ts'
import type { PagesPlan } from '../../plan/pdf.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { answered, raced } from '../../runtime/race.ts'
import { checkMainFrame } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'

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
    const { tab, plan, findings } = work
    if (!plan.pages) return
    checkMainFrame(tab)
    const pages = plan.pages.fitOnePage ? await fitOnePage(work, plan.pages) : plan.pages
    findings.picture = await printKept(work, pages)
    const wanted = pagesIn(pages.pageRanges)
    if (wanted.size === 0 || countPages(findings.picture) === wanted.size) return
    findings.warnings.push(
      `pdf_page_ranges names pages beyond the document, which has ${await countAll(work, pages)} pages: ${pages.pageRanges}`,
    )
  },
}

/** @throws CaptureError with the number of pages when none of them is wanted */
async function printKept(work: Work, pages: PagesPlan): Promise<Buffer> {
  try {
    return await printPages(work, pages)
  } catch (error) {
    if (!(error instanceof Refused) || !/exceeds page count/.test(error.message)) throw error
    const count = await countAll(work, pages)
    throw new CaptureError('INVALID_OPTIONS', `pdf_page_ranges names no page of the document, which has ${count}: ${pages.pageRanges}`)
  }
}

/** What the browser says against the options of a pdf. */
class Refused extends CaptureError {}

/** @throws CaptureError INVALID_OPTIONS for what cannot be printed like this */
async function printPages({ tab, signal }: Work, pages: PagesPlan): Promise<Buffer> {
  try {
    // Not bounded like other answers: a long document takes its time.
    const { data } = await raced(tab.session.send('Page.printToPDF', toParameters(pages)), signal)
    return fixDates(Buffer.from(data, 'base64'))
  } catch (cause) {
    const [, said] = /\(Page\.printToPDF\): (.+)/.exec(String(cause)) ?? []
    // A crash is told in either way, whichever comes first.
    if (said === 'Printing failed' || (cause instanceof CaptureError && cause.code === 'PAGE_CRASHED')) throw toCrash(pages, cause)
    signal.throwIfAborted()
    throw said === undefined ? cause : new Refused('INVALID_OPTIONS', `the browser cannot print this: ${said}`, { cause })
  }
}

function toCrash(pages: PagesPlan, cause: unknown): CaptureError {
  if (!hasTemplate(pages)) return new CaptureError('PAGE_CRASHED', 'the page crashed when it was printed', { cause })
  const message = 'the browser crashed when it printed pdf_header_template or pdf_footer_template: they must load nothing'
  return new CaptureError('INVALID_OPTIONS', message, { cause })
}

/** The pages that ranges name. */
function pagesIn(ranges: string): Set<number> {
  const named = ranges.split(',').filter((range) => range !== '')
  return new Set(
    named.flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number)
      return Array.from({ length: to - from + 1 }, (_, index) => from + index)
    }),
  )
}

/** Pages of the whole document: without what its tree of pages could be mistaken for. */
const countAll = async (work: Work, pages: PagesPlan): Promise<number> =>
  countPages(await printPages(work, { ...pages, pageRanges: '', outline: false, tagged: false }))

/** Pages of a file of the browser's, whose tree of pages is not compressed. */
function countPages(file: Buffer): number {
  const counts = [...file.toString('latin1').matchAll(/\/Type \/Pages\s[^>]*?\/Count (\d+)/g)].map(([, count]) => Number(count))
  return Math.max(0, ...counts)
}

const hasTemplate = ({ headerTemplate, footerTemplate }: PagesPlan): boolean => headerTemplate !== undefined || footerTemplate !== undefined

function toParameters(pages: PagesPlan) {
  const { fitOnePage: _, preferCssPageSize, tagged, outline, headerTemplate, footerTemplate, ...same } = pages
  return {
    ...same,
    preferCSSPageSize: preferCssPageSize,
    generateTaggedPDF: tagged,
    generateDocumentOutline: outline,
    displayHeaderFooter: hasTemplate(pages),
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
