// Pages that redirect by a refresh, as old sites and "you will be redirected" pages do.

import t from 'tap'
import { openStage, page } from '../options/options.ts'
import { GREEN, RED } from './stage/pixels.ts'

const leaving = (content: string) =>
  page('background:#f00', '<p>You are being taken elsewhere.</p>', `<meta http-equiv="refresh" content="${content}">`)

const stage = await openStage(t, {
  '/meta': leaving('1; url=/there'),
  '/twice': leaving('1; url=/meta'),
  '/header': (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'text/html', refresh: '1; url=/there' })
      .end(page('background:#f00', '<p>On the way.</p>')),
  '/later': leaving('30; url=/there'),
  '/itself': leaving('2'),
  '/taken-back': page(
    'background:#0f0',
    '<p>Stays.</p><script>addEventListener("load", () => setTimeout(() => stop(), 100))</script>',
    '<meta http-equiv="refresh" content="2; url=/meta">',
  ),
  '/there': page('background:#0f0', '<p>There.</p>'),
})

for (const options of [{}, { locale: 'de-DE' }]) {
  t.test(`after a refresh within a short time, the new page is captured ${JSON.stringify(options)}`, async (t) => {
    for (const path of ['/meta', '/twice', '/header']) {
      const { pixels, findings } = await stage.shoot(path, options)
      t.strictSame(pixels.at(900, 500), GREEN, path)
      t.match(findings.finalUrl, /\/there$/)
    }
  })
}

t.test('a page is captured itself if it refreshes to itself, after a long time, or cancels the refresh', async (t) => {
  for (const path of ['/later', '/itself']) t.strictSame((await stage.shoot(path)).pixels.at(900, 500), RED, path)
  t.strictSame((await stage.shoot('/taken-back')).pixels.at(900, 500), GREEN)
})
