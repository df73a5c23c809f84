// Backgrounds load at the first layout, which may be after the load event. No script can detect whether one has loaded.

import t from 'tap'
import { servePages } from './stage/page-server.ts'
import { decode, GREEN, isNear } from './stage/pixels.ts'
import { openStudio } from './stage/studio.ts'

const SLOW_MILLISECONDS = 500
const GREEN_SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="400" height="400" fill="#0f0"/></svg>'

/** A page whose body gets its background in the load event. */
const backed = (address: string) => `<!doctype html><title>Backed</title><body style="margin:0;background-color:#0f0">
  <style>.late{background-image:url(${address})}</style><h1>text</h1><script>onload = () => { document.body.className = 'late' }</script>`

const site = await servePages({
  '/late': backed('/slow.svg').replace('#0f0', '#f00'),
  '/hung': backed('/hung.svg'),
  '/missing': backed('/404.svg'),
  '/hung.svg': () => {},
  '/slow.svg': (_request, response) => {
    const answer = () => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(GREEN_SVG)
    setTimeout(answer, SLOW_MILLISECONDS)
  },
})
const studio = await openStudio()
t.teardown(async () => {
  await studio.close()
  await site.close()
})

t.test('a background that loads after the load event is in the screenshot', async (t) => {
  const { picture } = await studio.shoot(site.url('/late'))
  t.ok(isNear((await decode(picture)).at(900, 300), GREEN, 0))
})

for (const path of ['/hung', '/missing']) {
  t.test(`a background that never loads does not block the screenshot: ${path}`, async (t) => {
    const { picture, findings } = await studio.shoot(site.url(path))
    t.ok(isNear((await decode(picture)).at(900, 300), GREEN, 0))
    t.strictSame(findings.warnings, [])
  })
}
