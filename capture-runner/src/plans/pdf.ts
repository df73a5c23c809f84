import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'
import type { PaperFormat } from '@tintype/crds/capture-options/pdf'

/** The pages of a pdf, lengths in inches. */
export interface PagesPlan {
  paperWidth: number
  paperHeight: number
  landscape: boolean
  printBackground: boolean
  scale: number
  marginTop: number
  marginRight: number
  marginBottom: number
  marginLeft: number
  pageRanges: string
  fitOnePage: boolean
  preferCssPageSize: boolean
  headerTemplate?: string
  footerTemplate?: string
  tagged: boolean
  outline: boolean
}

/** Tells the pages of a pdf; absent: a picture is wanted. */
export interface PdfPlan {
  pages?: PagesPlan
}

/** Width and height in inches, upright. */
const PAPER: Readonly<Record<PaperFormat, readonly [number, number]>> = {
  a0: [33.1, 46.8],
  a1: [23.4, 33.1],
  a2: [16.54, 23.4],
  a3: [11.7, 16.54],
  a4: [8.27, 11.7],
  a5: [5.83, 8.27],
  a6: [4.13, 5.83],
  letter: [8.5, 11],
  legal: [8.5, 14],
  tabloid: [11, 17],
  ledger: [17, 11],
}

const PER_INCH: Readonly<Record<string, number>> = { px: 96, in: 1, cm: 2.54, mm: 25.4, pt: 72, pc: 6 }

/** A CSS length in inches; without a unit, pixels. */
export function toInches(length: string): number {
  const [, amount = '0', unit = 'px'] = /^([0-9.]+)([a-z]*)$/.exec(length) ?? []
  return Number(amount) / (PER_INCH[unit || 'px'] ?? 96)
}

/** Works out the pages of a pdf. */
export function buildPdf(options: EffectiveOptions): PdfPlan {
  if (options.format !== 'pdf') return {}
  const [width, height] = PAPER[options.pdfPaperFormat]
  const { pdfHeaderTemplate, pdfFooterTemplate } = options
  const pages: PagesPlan = {
    paperWidth: options.pdfWidth === undefined ? width : toInches(options.pdfWidth),
    paperHeight: options.pdfHeight === undefined ? height : toInches(options.pdfHeight),
    landscape: options.pdfLandscape,
    printBackground: options.pdfPrintBackground,
    scale: options.pdfScale,
    marginTop: toInches(options.pdfMarginTop),
    marginRight: toInches(options.pdfMarginRight),
    marginBottom: toInches(options.pdfMarginBottom),
    marginLeft: toInches(options.pdfMarginLeft),
    pageRanges: options.pdfPageRanges ?? '',
    fitOnePage: options.pdfFitOnePage,
    preferCssPageSize: options.pdfPreferCssPageSize,
    ...(pdfHeaderTemplate === undefined ? {} : { headerTemplate: pdfHeaderTemplate }),
    ...(pdfFooterTemplate === undefined ? {} : { footerTemplate: pdfFooterTemplate }),
    tagged: options.pdfTagged || options.pdfOutline,
    outline: options.pdfOutline,
  }
  return { pages }
}
