import t from 'tap'
import { siteOf } from '../../../../capture-runner/src/browser/site.ts'

t.test('siteOf returns the registrable domain, or else the host', async (t) => {
  for (const [url, site] of [
    ['https://www.example.com:8443/a', 'example.com'],
    ['https://a.b.example.co.uk', 'example.co.uk'],
    ['https://ada.github.io', 'ada.github.io'],
    ['http://127.0.0.1:80', '127.0.0.1'],
    ['http://[::1]/', '[::1]'],
    ['http://intranet/', 'intranet'],
    ['null', ''],
    ['', ''],
  ] as const)
    t.equal(siteOf(url), site, url)
})
