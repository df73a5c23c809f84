import t from 'tap'
import { findNearestName } from '../../../../crds/src/text/nearest-name.ts'

const known = ['url', 'full_page', 'full_page_max_height', 'viewport_width', 'viewport_height', 'click', 'delay', 'format']
const cases: [string, string | undefined][] = [
  ['fullPage', 'full_page'],
  ['full-page', 'full_page'],
  ['fullpgae', 'full_page'],
  ['viewport_widht', 'viewport_width'],
  ['vieport_height', 'viewport_height'],
  ['FORMAT', 'format'],
  ['clik', 'click'],
  ['uri', 'url'],
  ['something_else', undefined],
  ['', undefined],
  ['x'.repeat(10_000), undefined],
]
for (const [name, nearest] of cases) {
  t.test(`findNearestName takes ${name.slice(0, 20)} for ${nearest}`, async (t) => t.equal(findNearestName(name, known), nearest))
}
