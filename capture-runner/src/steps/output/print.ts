import { callInPage } from '../../page/call.ts'
import type { PagesPlan } from '../../plan/pdf.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { abortable, awaitResponse } from '../../runtime/race.ts'
import { MAX_ELEMENTS } from '../full-page/reveal.ts'
import { addStyles } from '../injection/styles.ts'
import { checkMainFrame } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'

const PIXELS_PER_INCH = 96
/** Inches. Viewers draw no larger sheet. */
const MAX_SHEET_INCHES = 200
const CHECK_SIZES = 'Check pdf_width, pdf_height and the pdf_margin_… options: the margins must leave room on the sheet.'
/** Stands for an empty template, because without any template the browser prints its own. */
const NO_TEMPLATE = '<span></span>'

/** Prints the page to PDF. */
export const print: Step = {
  name: 'print',
  code: 'INVALID_OPTIONS',
  isWanted: (plan) => plan.pages !== undefined,
  run: async (work) => {
    const { tab, plan, findings } = work
    if (!plan.pages) return
    checkMainFrame(tab)
    await addStyles(work, overridesFor(plan.pages))
    const pages = plan.pages.fitOnePage ? await fitOnePage(work, plan.pages) : plan.pages
    findings.picture = await printSelected(work, pages)
    if (pages.fitOnePage && pages.pageRanges === '' && pages.paperHeight < MAX_SHEET_INCHES && countPages(findings.picture) > 1) {
      findings.warnings.push(`pdf_fit_one_page needed ${countPages(findings.picture)} sheets, because content grows with the sheet`)
    }
    const wanted = pagesIn(pages.pageRanges)
    if (wanted.size === 0 || countPages(findings.picture) === wanted.size) return
    findings.warnings.push(
      `pdf_page_ranges names pages beyond the document, which has ${await countAll(work, pages)} pages: ${pages.pageRanges}`,
    )
  },
}

/**
 * Rules of the page go before the margins of a print command, so the client's margins become rules that go before them. On a single sheet, nothing of
 * the page's own paper counts.
 * @returns CSS
 */
function overridesFor({ margins, fitOnePage }: PagesPlan): string {
  const { top = 0, right = 0, bottom = 0, left = 0 } = margins
  const sides = Object.entries(fitOnePage ? { top, right, bottom, left } : margins)
  // pdf_scale scales the content only.
  const declarations = sides.map(([side, inches]) => `margin-${side}: ${inches}in !important`)
  if (!fitOnePage) return declarations.length === 0 ? '' : `@page { ${declarations.join('; ')} }`
  const noBreaks = 'break-before: auto !important; break-after: auto !important; page: auto !important'
  return `@page { size: auto !important; ${declarations.join('; ')} }\n*, *::before, *::after { ${noBreaks} }`
}

/** @throws CaptureError with the number of pages if the ranges select none of them */
async function printSelected(work: Work, pages: PagesPlan): Promise<Buffer> {
  try {
    return await printPages(work, pages)
  } catch (error) {
    if (!(error instanceof PrintRejected) || !/exceeds page count/.test(error.message)) throw error
    const count = await countAll(work, pages)
    throw new CaptureError('INVALID_OPTIONS', `pdf_page_ranges names no page of the document, which has ${count}: ${pages.pageRanges}`)
  }
}

/** The browser rejected the print options. */
class PrintRejected extends CaptureError {}

/** @throws CaptureError INVALID_OPTIONS for options that the browser rejects */
async function printPages({ tab, plan, signal }: Work, pages: PagesPlan): Promise<Buffer> {
  try {
    // Without the usual time limit of commands, because a long document takes time.
    const { data } = await abortable(tab.session.send('Page.printToPDF', toParameters(pages)), signal)
    const file = Buffer.from(data, 'base64')
    const { fixedTime } = plan.context
    return fixedTime === undefined ? file : setDates(file, new Date(fixedTime))
  } catch (cause) {
    const [, reason] = /\(Page\.printToPDF\): (.+)/.exec(String(cause)) ?? []
    // Chromium reports a crash as either of these errors, whichever comes first.
    if (reason === 'Printing failed' || (cause instanceof CaptureError && cause.code === 'PAGE_CRASHED')) throw toCrash(pages, cause)
    signal.throwIfAborted()
    if (reason === undefined) throw cause
    const hint = /paper|content area/.test(reason) ? `. ${CHECK_SIZES}` : ''
    throw new PrintRejected('INVALID_OPTIONS', `the browser cannot print this: ${reason}${hint}`, { cause })
  }
}

function toCrash(pages: PagesPlan, cause: unknown): CaptureError {
  if (!hasTemplate(pages)) return new CaptureError('PAGE_CRASHED', 'the page crashed when it was printed', { cause })
  const message = 'the browser crashed when it printed pdf_header_template or pdf_footer_template. They must not load resources.'
  return new CaptureError('INVALID_OPTIONS', message, { cause })
}

/** The page numbers in the ranges. */
function pagesIn(ranges: string): Set<number> {
  const named = ranges.split(',').filter((range) => range !== '')
  return new Set(
    named.flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number)
      return Array.from({ length: to - from + 1 }, (_, index) => from + index)
    }),
  )
}

/** Number of pages in the whole document. Without outline and tags, whose objects look like the page tree. */
const countAll = async (work: Work, pages: PagesPlan): Promise<number> =>
  countPages(await printPages(work, { ...pages, pageRanges: '', outline: false, tagged: false }))

/** Number of pages in a PDF of Chromium, whose page tree is not compressed. */
function countPages(file: Buffer): number {
  const counts = [...file.toString('latin1').matchAll(/\/Type \/Pages\s[^>]*?\/Count (\d+)/g)].map(([, count]) => Number(count))
  return Math.max(0, ...counts)
}

const hasTemplate = ({ headerTemplate, footerTemplate }: PagesPlan): boolean => headerTemplate !== undefined || footerTemplate !== undefined

function toParameters(pages: PagesPlan) {
  const { fitOnePage: _, margins, preferCssPageSize, tagged, outline, headerTemplate, footerTemplate, ...same } = pages
  return {
    ...same,
    ...toMargins(margins),
    preferCSSPageSize: preferCssPageSize,
    generateTaggedPDF: tagged,
    generateDocumentOutline: outline,
    displayHeaderFooter: hasTemplate(pages),
    headerTemplate: headerTemplate ?? NO_TEMPLATE,
    footerTemplate: footerTemplate ?? NO_TEMPLATE,
  }
}

const toMargins = ({ top = 0, right = 0, bottom = 0, left = 0 }: PagesPlan['margins']) => ({
  marginTop: top,
  marginRight: right,
  marginBottom: bottom,
  marginLeft: left,
})

/** Sets the sheet's height to the content's height in print layout at the sheet's width. */
async function fitOnePage(work: Work, pages: PagesPlan): Promise<PagesPlan> {
  const { tab, findings, signal } = work
  const { scale } = pages
  const { marginLeft, marginRight, marginTop, marginBottom } = toMargins(pages.margins)
  const paperWidth = pages.landscape ? pages.paperHeight : pages.paperWidth
  const width = Math.max(1, Math.floor(((paperWidth - marginLeft - marginRight) * PIXELS_PER_INCH) / scale))
  await abortable(tab.resize({ width, height: work.plan.context.viewport.height }), signal)
  await abortable(tab.setMedia({ mediaType: 'print', ...work.plan.context }), signal)
  const height = await measureAtOwnHeight(work)
  const wanted = ((height + 1) * scale) / PIXELS_PER_INCH + marginTop + marginBottom
  if (wanted > MAX_SHEET_INCHES) findings.warnings.push(`the content needs a sheet of ${Math.ceil(wanted)} inches; the limit is 200 inches`)
  return { ...pages, landscape: false, paperWidth, paperHeight: Math.min(wanted, MAX_SHEET_INCHES), preferCssPageSize: false }
}

/**
 * Height of the content in a window as tall as itself, in CSS pixels. There, elements grow whose height is in units of the window, and the more so the
 * taller the sheet is. So they are pinned.
 */
async function measureAtOwnHeight(work: Work): Promise<number> {
  const { tab, signal } = work
  const measure = async () => Math.ceil((await awaitResponse(tab.session.send('Page.getLayoutMetrics'), signal)).cssContentSize.height)
  await callInPage(work, 'prepareReveal', MAX_ELEMENTS)
  const height = await measure()
  await abortable(tab.layOut(height), signal)
  let own = await measure()
  if (own > height) {
    await callInPage(work, 'pinHeights')
    own = await measure()
  }
  await abortable(tab.layOut(), signal)
  return own
}

const DATES = /^\/(CreationDate|ModDate) \(D:\d{14}[+-]\d\d'\d\d'\)/gm
const END_OF_OBJECT = 'endobj'

/**
 * Sets the dates of creation and change of Chromium's PDF, in place. The length does not change, so the offsets in the cross-reference table stay valid.
 * Chromium writes both dates uncompressed into the first object, and no file identifier.
 */
export function setDates(pdf: Buffer, time: Date): Buffer {
  const end = pdf.indexOf(END_OF_OBJECT)
  if (end === -1) return pdf
  const head = pdf.toString('latin1', 0, end)
  const date = `D:${time.toISOString().slice(0, 19).replaceAll(/\D/g, '')}+00'00'`
  for (const { index, 1: name } of head.matchAll(DATES)) pdf.write(`/${name} (${date})`, index, 'latin1')
  return pdf
}
