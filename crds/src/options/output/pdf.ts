import { choice, type Facts, filled, formed, group, number, off, on, PICTURE } from '../rules/declare.ts'

const PAPER_FORMATS = ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'letter', 'legal', 'tabloid', 'ledger'] as const

const TEMPLATE_LENGTH = 16384

/** A CSS length; pixels if it has no unit. */
const length = (own: Facts<string>) =>
  formed(16, /^[0-9]{1,5}(\.[0-9]{1,4})?(px|in|cm|mm|pt|pc)?$/, { ...own, form: 'must be a length, such as 10mm, 1in or 20px' })
const margin = length({ absent: 'that of the page’s own @page rule, else 0', example: '12mm' })
const template = (example: string) => filled(TEMPLATE_LENGTH, { links: 'own_markup', isLarge: true, example })

/** True for page ranges that are not empty, such as `1-3,5`. */
export const isPageRanges = (text: string): boolean =>
  text.split(',').every((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return from >= 1 && from <= to
  })

/** Options for format pdf. */
export const pdfGroup = group('PDF', PICTURE, {
  pdfPaperFormat: choice(PAPER_FORMATS, { default: 'a4' })('Paper format of a pdf: a0 to a6, letter, legal, tabloid or ledger.'),
  pdfWidth: length({ example: '210mm' })('Width of the sheet with a unit, such as 210mm, 8.5in or 800px. Overrides pdf_paper_format.'),
  pdfHeight: length({ example: '99mm' })('Height of the sheet with a unit, such as 297mm or 11in. Overrides pdf_paper_format.'),
  pdfLandscape: off('Prints in landscape orientation.'),
  pdfPrintBackground: on('Prints backgrounds.'),
  pdfScale: number(0.1, 2, { default: 1 })('Scale of the content.'),
  pdfMarginTop: margin('Margin at the top, such as 10mm.'),
  pdfMarginRight: margin('Margin on the right.'),
  pdfMarginBottom: margin('Margin at the bottom.'),
  pdfMarginLeft: margin('Margin on the left.'),
  pdfPageRanges: formed(128, /^[0-9]{1,4}(-[0-9]{1,4})?(, ?[0-9]{1,4}(-[0-9]{1,4})?){0,15}$/, { absent: 'all', example: '1-3,5' })(
    'Pages to include, such as 1-3,5. The capture fails if no page matches.',
  ),
  pdfFitOnePage: off(
    'Prints all content on one sheet that is as tall as the content. The width is pdf_width or that of pdf_paper_format. Page breaks, and @page rules of the page, have no effect.',
  ),
  pdfPreferCssPageSize: off('Prefers the page’s own CSS @page size.'),
  pdfHeaderTemplate: template('<span class="title" style="font-size: 9px"></span>')(
    'HTML to print at the top of each sheet within pdf_margin_top. The browser fills in spans with class date, title, url, pageNumber or totalPages. Images can use data: URLs only.',
  ),
  pdfFooterTemplate: template('<span class="pageNumber" style="font-size: 9px"></span>')(
    'HTML to print at the bottom of each sheet, with the rules of pdf_header_template.',
  ),
  pdfTagged: off('Tags the content for screen readers.'),
  pdfOutline: off('Creates bookmarks from the headings, and tags the content too.'),
})
