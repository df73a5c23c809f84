import type { EffectiveOptions } from '@tintype/crds/options/catalog'

export type Side = 'top' | 'right' | 'bottom' | 'left'

/** Print settings of a PDF, lengths in inches. */
export interface PagesPlan {
  paperWidth: number
  paperHeight: number
  landscape: boolean
  printBackground: boolean
  scale: number
  /** Absent: those of the page's own `@page` rules, or else 0. */
  margins: Partial<Record<Side, number>>
  pageRanges: string
  fitOnePage: boolean
  preferCssPageSize: boolean
  headerTemplate?: string
  footerTemplate?: string
  tagged: boolean
  outline: boolean
}

/** Print settings; absent for images. */
export interface PdfPlan {
  pages?: PagesPlan
}

const MILLIMETERS_PER_INCH = 25.4
const metric = (width: number, height: number): readonly [number, number] => [width / MILLIMETERS_PER_INCH, height / MILLIMETERS_PER_INCH]

/** Width and height in inches, in portrait orientation. */
const PAPER: Readonly<Record<EffectiveOptions['pdfPaperFormat'], readonly [number, number]>> = {
  a0: metric(841, 1189),
  a1: metric(594, 841),
  a2: metric(420, 594),
  a3: metric(297, 420),
  a4: metric(210, 297),
  a5: metric(148, 210),
  a6: metric(105, 148),
  letter: [8.5, 11],
  legal: [8.5, 14],
  tabloid: [11, 17],
  ledger: [17, 11],
}

const PER_INCH: Readonly<Record<string, number>> = { '': 96, px: 96, in: 1, cm: 2.54, mm: 25.4, pt: 72, pc: 6 }

/** Converts a CSS length to inches. Without a unit it is in pixels. */
export function toInches(length: string): number {
  return Number.parseFloat(length) / PER_INCH[length.replace(/^[0-9.]+/, '')]!
}

function buildMargins({ pdfMarginTop, pdfMarginRight, pdfMarginBottom, pdfMarginLeft }: EffectiveOptions): PagesPlan['margins'] {
  const lengths = { top: pdfMarginTop, right: pdfMarginRight, bottom: pdfMarginBottom, left: pdfMarginLeft }
  return Object.fromEntries(Object.entries(lengths).flatMap(([side, length]) => (length === undefined ? [] : [[side, toInches(length)]])))
}

/** Builds the plan for a PDF. */
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
    margins: buildMargins(options),
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
