import { z } from 'zod'
import { option, pictureOption } from '../rules/option-rules.ts'

export const PaperFormat = z.enum(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'letter', 'legal', 'tabloid', 'ledger'])
export type PaperFormat = z.infer<typeof PaperFormat>

const TEMPLATE_LENGTH = 16384

/** A CSS length; pixels if it has no unit. */
const length = (what: string) =>
  z
    .string()
    .max(16)
    .regex(/^[0-9]{1,5}(\.[0-9]{1,4})?(px|in|cm|mm|pt|pc)?$/, 'must be a length, such as 10mm, 1in or 20px')
    .describe(what)
const template = (what: string) => z.string().min(1).max(TEMPLATE_LENGTH).describe(what)

/** True for page ranges that are not empty, such as `1-3,5`. */
export const isPageRanges = (text: string): boolean =>
  text.split(',').every((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return from >= 1 && from <= to
  })

/** Options for format pdf. */
export const pdfOptions = {
  pdfPaperFormat: pictureOption(PaperFormat.describe('Paper format of a pdf: a0 to a6, letter, legal, tabloid or ledger. Default: a4.')),
  pdfWidth: pictureOption(
    length('Width of the sheet with a unit, such as 210mm, 8.5in or 800px. Overrides pdf_paper_format. Default: none.'),
  ),
  pdfHeight: pictureOption(length('Height of the sheet with a unit, such as 297mm or 11in. Overrides pdf_paper_format. Default: none.')),
  pdfLandscape: pictureOption(z.boolean().describe('Prints in landscape orientation. Default: false.')),
  pdfPrintBackground: pictureOption(z.boolean().describe('Prints backgrounds. Default: true.')),
  pdfScale: pictureOption(z.number().min(0.1).max(2).describe('Scale of the content, 0.1 to 2. Default: 1.')),
  pdfMarginTop: pictureOption(length('Margin at the top, such as 10mm. Default: that of the page’s own @page rule, else 0.')),
  pdfMarginRight: pictureOption(length('Margin on the right. Default: that of the page’s own @page rule, else 0.')),
  pdfMarginBottom: pictureOption(length('Margin at the bottom. Default: that of the page’s own @page rule, else 0.')),
  pdfMarginLeft: pictureOption(length('Margin on the left. Default: that of the page’s own @page rule, else 0.')),
  pdfPageRanges: pictureOption(
    z
      .string()
      .max(128)
      .regex(/^[0-9]{1,4}(-[0-9]{1,4})?(, ?[0-9]{1,4}(-[0-9]{1,4})?){0,15}$/)
      .describe('Pages to include, such as 1-3,5. The capture fails if no page matches. Default: all.'),
  ),
  pdfFitOnePage: pictureOption(
    z
      .boolean()
      .describe(
        'Prints all content on one sheet that is as tall as the content. The width is pdf_width or that of pdf_paper_format. Page breaks, and @page rules of the page, have no effect. Default: false.',
      ),
  ),
  pdfPreferCssPageSize: pictureOption(z.boolean().describe('Prefers the page’s own CSS @page size. Default: false.')),
  pdfHeaderTemplate: option(
    { links: 'own_markup', picture: 'yes' },
    template(
      'HTML to print at the top of each sheet within pdf_margin_top, at most 16384 characters. The browser fills in spans with class date, title, url, pageNumber or totalPages. Images can use data: URLs only. Default: none.',
    ),
  ),
  pdfFooterTemplate: option(
    { links: 'own_markup', picture: 'yes' },
    template('HTML to print at the bottom of each sheet, with the rules of pdf_header_template, at most 16384 characters. Default: none.'),
  ),
  pdfTagged: pictureOption(z.boolean().describe('Tags the content for screen readers. Default: false.')),
  pdfOutline: pictureOption(z.boolean().describe('Creates bookmarks from the headings, and tags the content too. Default: false.')),
}

export const pdfDefaults = {
  pdfPaperFormat: 'a4',
  pdfLandscape: false,
  pdfPrintBackground: true,
  pdfScale: 1,
  pdfFitOnePage: false,
  pdfPreferCssPageSize: false,
  pdfTagged: false,
  pdfOutline: false,
} as const
