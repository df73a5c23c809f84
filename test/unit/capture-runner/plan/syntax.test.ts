import { type CaptureOptions, withDefaults } from '@tintype/crds/options/catalog'
import t from 'tap'
import { buildSyntax } from '../../../../capture-runner/src/plan/syntax.ts'

const plan = (options: CaptureOptions) => buildSyntax(withDefaults(options)).syntax

t.test('buildSyntax has nothing to read without selectors, scripts and styles', async (t) => {
  t.equal(plan({ fullPage: true, fullPageScrollContainer: 'auto' }), undefined)
})

t.test('buildSyntax reads selectors under the names that requests have for them', async (t) => {
  t.strictSame(plan({ fullPage: true, fullPageScrollContainer: 'main', hideSelectors: ['p', 'b'] })?.selectors, [
    { option: 'full_page_scroll_container', text: 'main', isRule: false },
    { option: 'hide_selectors[0]', text: 'p', isRule: true },
    { option: 'hide_selectors[1]', text: 'b', isRule: true },
  ])
})

t.test('buildSyntax reads header and footer of a pdf, and of nothing else', async (t) => {
  const templates = { pdfHeaderTemplate: '<b></b>', pdfFooterTemplate: '<i></i>' }
  t.strictSame(plan({ format: 'pdf', ...templates })?.templates, [
    { option: 'pdf_header_template', text: '<b></b>' },
    { option: 'pdf_footer_template', text: '<i></i>' },
  ])
  t.equal(plan({ format: 'png', ...templates }), undefined)
})
