import { type CaptureOptions, withDefaults } from '@tintype/crds/options/catalog'
import t from 'tap'
import { addressOf, buildSource, SYNTHETIC_ADDRESS } from '../../../../capture-runner/src/plan/source.ts'

const URL = 'https://example.com/'

const urls: [Parameters<typeof addressOf>[1], string][] = [
  [{}, URL],
  [{ html: '<p>' }, SYNTHETIC_ADDRESS],
  [{ markdown: '# a' }, SYNTHETIC_ADDRESS],
  [{ html: '<p>', htmlBaseUrl: 'https://base.example/' }, 'https://base.example/'],
  [{ htmlBaseUrl: 'https://base.example/' }, URL],
]
for (const [options, url] of urls) {
  t.test(`addressOf sends the browser to ${url} with ${JSON.stringify(options)}`, async (t) => {
    t.equal(addressOf(URL, options), url)
  })
}

const sources: [CaptureOptions, object][] = [
  [{}, {}],
  [{ html: '<p>' }, { markup: { kind: 'html', text: '<p>' } }],
  [{ markdown: '# a' }, { markup: { kind: 'markdown', text: '# a' } }],
  [{ referer: 'https://a.example/' }, { referer: 'https://a.example/' }],
  [{ pageZoom: 2 }, {}],
  [{ pageZoom: 2, format: 'pdf' }, { zoom: 2 }],
]
for (const [options, source] of sources) {
  t.test(`buildSource with ${JSON.stringify(options)} plans ${JSON.stringify(source)}`, async (t) => {
    t.strictSame(buildSource(withDefaults(options)), source)
  })
}
