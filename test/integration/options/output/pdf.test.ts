// PDFs, checked by parsing the files: pages, sizes and contents.

import { inflateSync } from 'node:zlib'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t from 'tap'
import { eventually } from '../../../support/eventually.ts'
import { openStage, page } from '../options.ts'

const chapters = [1, 2, 3]
  .map((n) => `<h1 style="break-before:page">Chapter ${n}</h1><p style="height:200px">Text of ${n}.</p>`)
  .join('')
  .replace('break-before:page', '')
const stage = await openStage(
  t,
  {
    '/short': page('', '<p>One line.</p>'),
    '/colored': page('background:#0f0', '<p>One line.</p>'),
    '/chapters': page('', chapters),
    '/long': page('', '<div style="height:9000px;background:#00f">Long.</div>'),
    '/shell': page('', `<main style="height:100vh;overflow:auto">${'<p>A line.</p>'.repeat(120)}</main>`),
    '/ruled': page('', '<div style="height:700px">Text.</div>', '<style>@page { margin: 2mm } @page :first { margin-top: 3mm }</style>'),
    '/broken': page(
      '',
      '<div style="height:100vh">Cover.</div><div style="height:900px;break-before:page">Text.</div><div style="page:wide">End.</div>',
      '<style>@page { size: a4 landscape; margin: 25mm } @page wide { margin: 50mm }</style>',
    ),
    '/sized': page('', '<p>One line.</p>', '<style>@page { size: 300px 500px }</style>'),
  },
  { usual: { format: 'pdf' } },
)

interface Printed {
  /** Width and height of each page in points. */
  sheets: number[][]
  /** The file with decompressed streams. */
  text: string
  bytes: number
}

async function print(path: string, options: CaptureOptions = {}): Promise<Printed> {
  const { picture } = await stage.take(path, options)
  const raw = picture.toString('latin1')
  const streams = [...raw.matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)].map(([, body = '']) => unpack(Buffer.from(body, 'latin1')))
  const text = [raw, ...streams].join('\n')
  const boxes = [...text.matchAll(/\/MediaBox \[\s*0 0 ([\d.]+) ([\d.]+)\s*\]/g)]
  return { sheets: boxes.map(([, width, height]) => [Math.round(Number(width)), Math.round(Number(height))]), text, bytes: picture.length }
}

function unpack(stream: Buffer): string {
  try {
    return inflateSync(stream).toString('latin1')
  } catch {
    return ''
  }
}

const A4 = [595, 842]
/** The browser rounds a page up to whole pixels of three quarters of a point. */
const isSheet = ({ sheets }: Printed, [width = 0, height = 0]: number[]): boolean =>
  sheets.length > 0 && sheets.every(([w = 0, h = 0]) => Math.abs(w - width) <= 1 && Math.abs(h - height) <= 1)

const SIZES: readonly (readonly [options: CaptureOptions, size: number[]])[] = [
  [{}, A4],
  [{ pdfPaperFormat: 'letter' }, [612, 792]],
  [{ pdfPaperFormat: 'a6' }, [297, 421]],
  [{ pdfLandscape: true }, [842, 595]],
  [{ pdfWidth: '4in', pdfHeight: '400px' }, [288, 300]],
  [{ pdfWidth: '100mm', pdfHeight: '100' }, [283, 75]],
]
// proves: format, pdf_paper_format, pdf_landscape, pdf_width, pdf_height
t.test('a PDF has the size of its options, by default a4', async (t) => {
  for (const [options, size] of SIZES) t.ok(isSheet(await print('/short', options), size), JSON.stringify(options))
})

const FIXED = '2026-01-15T12:00:00Z'

t.test('the dates in a PDF are those of the capture, or fixed_time', async (t) => {
  const datesOf = ({ text }: Printed) => [...text.matchAll(/\/(?:CreationDate|ModDate) \(D:(\d{14})/g)].map(([, date = '']) => date)
  const before = new Date()
  const dates = datesOf(await print('/short'))
  t.equal(dates.length, 2)
  for (const date of dates) {
    const time = Date.parse(date.replace(/(....)(..)(..)(..)(..)(..)/, '$1-$2-$3T$4:$5:$6Z'))
    t.ok(Math.abs(time - before.getTime()) < 86_400_000, date)
  }
  t.strictSame(datesOf(await print('/short', { fixedTime: FIXED })), ['20260115120000', '20260115120000'])
})

t.test('PDFs of one page with the same fixed_time are identical at any time and in any browser', async (t) => {
  for (const options of [{}, { pdfTagged: true, pdfOutline: true }]) {
    const take = async () => (await stage.take('/chapters', { fixedTime: FIXED, ...options })).picture
    const first = await take()
    const second = Math.floor(Date.now() / 1_000)
    await eventually('another second', async () => Math.floor(Date.now() / 1_000) > second)
    t.equal(Buffer.compare(first, await take()), 0)
  }
})

t.test('option pdf_print_background: false omits backgrounds', async (t) => {
  const isGreen = ({ text }: Printed) => /(^|\s)0 1 0 rg/.test(text)
  t.ok(isGreen(await print('/colored')))
  t.notOk(isGreen(await print('/colored', { pdfPrintBackground: false })))
})

t.test('option pdf_scale: prints more on a page', async (t) => {
  const whole = await print('/long')
  const half = await print('/long', { pdfScale: 0.5 })
  t.equal(whole.sheets.length, 9)
  t.equal(half.sheets.length, 5)
})

// proves: pdf_margin_top, pdf_margin_right, pdf_margin_bottom, pdf_margin_left
t.test('pdf_margin_* set the margins of the page', async (t) => {
  const bare = await print('/long')
  const vertical = await print('/long', { pdfMarginTop: '3in', pdfMarginBottom: '3in' })
  t.ok(vertical.sheets.length > bare.sheets.length, `${vertical.sheets.length} sheets`)
  // The blue block is a rectangle as wide as the page without its margins.
  const widthOf = ({ text }: Printed) =>
    Math.max(...[...text.matchAll(/[\d.-]+ [\d.-]+ ([\d.]+) [\d.-]+ re\s+f/g)].map(([, width]) => Number(width)))
  const narrow = await print('/long', { pdfMarginLeft: '2in', pdfMarginRight: '2in' })
  t.ok(widthOf(narrow) < widthOf(bare), `${widthOf(narrow)} of ${widthOf(bare)}`)
})

t.test('pdf_margin_* go before margins in the page’s CSS', async (t) => {
  const sheet = { pdfWidth: '800px', pdfHeight: '1000px' }
  t.equal((await print('/ruled', sheet)).sheets.length, 1)
  t.equal((await print('/ruled', { ...sheet, pdfMarginTop: '400px' })).sheets.length, 2)
  t.equal((await print('/ruled', { ...sheet, pdfMarginTop: '400px', pdfScale: 0.5 })).sheets.length, 1)
  t.equal((await print('/ruled', { ...sheet, pdfMarginTop: '700px', pdfScale: 0.5 })).sheets.length, 2)
  t.equal((await print('/ruled', { ...sheet, pdfMarginBottom: '400px', pdfPreferCssPageSize: true })).sheets.length, 2)
})

t.test('option pdf_page_ranges: prints only the selected pages', async (t) => {
  t.equal((await print('/chapters', { pdfPageRanges: '1-2' })).sheets.length, 2)
})

t.test('option pdf_fit_one_page: prints everything on one page', async (t) => {
  const { sheets } = await print('/long', { pdfFitOnePage: true })
  t.equal(sheets.length, 1)
  t.ok((sheets[0]?.[1] ?? 0) >= 9_000 * 0.75 && (sheets[0]?.[1] ?? 0) < 9_100 * 0.75, `${sheets}`)
  for (const options of [{}, { pdfPageRanges: '1' }]) {
    t.equal((await print('/chapters', { pdfFitOnePage: true, ...options })).sheets.length, 1)
  }
})

t.test('pdf_fit_one_page prints one sheet although the page has margins, breaks and heights of a window', async (t) => {
  for (const options of [{}, { pdfMarginTop: '1in', pdfMarginLeft: '1in' }, { pdfScale: 0.5 }]) {
    const { picture, findings } = await stage.take('/broken', { pdfFitOnePage: true, ...options })
    t.equal([...picture.toString('latin1').matchAll(/\/MediaBox/g)].length, 1, JSON.stringify(options))
    t.strictSame(findings.warnings, [])
  }
})

t.test('option pdf_prefer_css_page_size: uses the page size in the page’s CSS', async (t) => {
  t.ok(isSheet(await print('/sized', { pdfPreferCssPageSize: true }), [225, 375]))
  t.ok(isSheet(await print('/sized'), A4))
})

// proves: pdf_footer_template
t.test('option pdf_header_template: prints a line at the top of each page, the footer at the bottom', async (t) => {
  const margins = { pdfMarginTop: '1in', pdfMarginBottom: '1in' }
  const line = '<div style="font-size:10px">Sheet <span class="pageNumber"></span></div>'
  const bare = await print('/short', margins)
  const headed = await print('/short', { ...margins, pdfHeaderTemplate: line })
  const both = await print('/short', { ...margins, pdfHeaderTemplate: line, pdfFooterTemplate: line })
  const glyphRuns = ({ text }: Printed) => [...text.matchAll(/T[jJ]/g)].length
  t.ok(glyphRuns(headed) > glyphRuns(bare), `${glyphRuns(headed)} of ${glyphRuns(bare)}`)
  t.ok(glyphRuns(both) > glyphRuns(headed))
})

// proves: pdf_tagged
t.test('option pdf_outline: creates bookmarks from the headings, and pdf_tagged only tags the content for screen readers', async (t) => {
  t.match((await print('/chapters', { pdfOutline: true })).text, /\/Outlines/)
  const tagged = await print('/chapters', { pdfTagged: true })
  t.match(tagged.text, /\/StructTreeRoot/)
  t.notMatch(tagged.text, /\/Outlines/)
  t.notMatch((await print('/chapters')).text, /\/StructTreeRoot/)
})

const refused = (options: CaptureOptions) => stage.fail('/chapters', options)

t.test('the message for a page range beyond the document contains the number of pages', async (t) => {
  for (const pdfPageRanges of ['4', '9-12, 7']) {
    t.match(await refused({ pdfPageRanges, pdfOutline: true }), {
      code: 'INVALID_OPTIONS',
      message: `pdf_page_ranges names no page of the document, which has 3: ${pdfPageRanges}`,
    })
  }
  const partly = async (pdfPageRanges: string) => (await stage.take('/chapters', { pdfPageRanges })).findings.warnings
  t.strictSame(await partly('2,9'), ['pdf_page_ranges names pages beyond the document, which has 3 pages: 2,9'])
  t.strictSame(await partly('1-9'), ['pdf_page_ranges names pages beyond the document, which has 3 pages: 1-9'])
  t.strictSame(await partly('1-2,2-3'), [])
})

t.test('templates that load a resource are rejected, because they crash the page, and the next capture succeeds', async (t) => {
  const sheet = stage.site.url('/short')
  const loading: Record<string, string> = {
    '<iframe>': `<iframe src="${sheet}"></iframe>`,
    '<object>': `<p><object data="${sheet}"></object>`,
    '<embed>': `<embed src="${sheet}">`,
    '<link>': `<link rel="stylesheet" href="${sheet}">`,
    '@import': `<style>/* */ @import "${sheet}";</style>`,
    'the font of @font-face': `<style>@font-face { font-family: a; src: url(${sheet}) } p { font-family: a }</style><p>a</p>`,
  }
  for (const [found, template] of Object.entries(loading)) {
    const message = `may load only images from data: URLs; remove ${found}`
    t.match(await refused({ pdfHeaderTemplate: template }), { code: 'INVALID_OPTIONS', message: `pdf_header_template ${message}` })
    t.match(await refused({ pdfFooterTemplate: template }), { code: 'INVALID_OPTIONS', message: `pdf_footer_template ${message}` })
  }
  const sound = '<!-- <iframe> --><style>p { color: red } @import "data:text/css,p{}";</style><img src="data:,"><p>iframe</p>'
  t.equal((await print('/short', { pdfHeaderTemplate: sound, pdfMarginTop: '20mm' })).sheets.length, 1)
})

t.test('a crash by an undetected template is reported as INVALID_OPTIONS', async (t) => {
  // Spelled so that only the browser recognizes it.
  const template = `<style>@\\69mport "${stage.site.url('/short')}";</style>`
  t.match(await refused({ pdfHeaderTemplate: template }), { code: 'INVALID_OPTIONS', message: /crashed .*template/ })
  t.equal((await print('/short')).sheets.length, 1)
})

t.test('a pdf has all pages of a part that scrolls instead of the page', async (t) => {
  t.equal((await print('/shell')).sheets.length, 4)
})
