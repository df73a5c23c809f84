import t from 'tap'
import { buildPdf, toInches } from '../../../../capture-runner/src/plan/pdf.ts'
import { withDefaults } from '../../../../crds/src/options/catalog.ts'

t.test('toInches reads every unit, and pixels without one', async (t) => {
  for (const [length, inches] of [
    ['96', 1],
    ['96px', 1],
    ['1.5in', 1.5],
    ['2.54cm', 1],
    ['25.4mm', 1],
    ['72pt', 1],
    ['6pc', 1],
    ['0', 0],
  ] as const)
    t.equal(toInches(length), inches, length)
})

t.test('buildPdf plans nothing for images', async (t) => {
  t.strictSame(buildPdf(withDefaults({ pdfScale: 2 })), {})
})

t.test('buildPdf prefers width and height to the paper format', async (t) => {
  const { pages } = buildPdf(withDefaults({ format: 'pdf', pdfPaperFormat: 'letter', pdfHeight: '3in' }))
  t.match(pages, { paperWidth: 8.5, paperHeight: 3, printBackground: true, tagged: false, pageRanges: '' })
})

t.test('buildPdf has only the margins of the client, because a page may have its own', async (t) => {
  t.strictSame(buildPdf(withDefaults({ format: 'pdf' })).pages?.margins, {})
  const options = { pdfMarginTop: '2in', pdfMarginRight: '0', pdfMarginLeft: '96px' }
  t.strictSame(buildPdf(withDefaults({ format: 'pdf', ...options })).pages?.margins, { top: 2, right: 0, left: 1 })
})

t.test('buildPdf passes on a width and the templates of header and footer', async (t) => {
  const templates = { pdfHeaderTemplate: '<b></b>', pdfFooterTemplate: '<i></i>' }
  t.match(buildPdf(withDefaults({ format: 'pdf', pdfWidth: '2in', ...templates })).pages, {
    paperWidth: 2,
    headerTemplate: '<b></b>',
    footerTemplate: '<i></i>',
  })
})

t.test('buildPdf tags a document with an outline', async (t) => {
  t.match(buildPdf(withDefaults({ format: 'pdf', pdfOutline: true })).pages, { tagged: true, outline: true })
})
