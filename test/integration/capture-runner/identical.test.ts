import t from 'tap'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { SAMPLES, scriptsPage } from '../../support/attack/scripts-page.ts'
import { servePages } from './stage/page-server.ts'
import { openStudio } from './stage/studio.ts'

// Clients may compare screenshots byte by byte (archives, monitoring, visual tests), so only changes of the page may change the bytes. Each screenshot
// here is the first one of its browser.

const RUNS = 3

/** Content that is sensitive to rounding: gradients, blur, scaled and rotated text in all scripts, a canvas, and an endless animation. */
const busyPage = scriptsPage(SAMPLES).replace(
  '<table>',
  `<style>
  body { background: linear-gradient(17deg, #fde, #def 40%, #ffd) }
  .spin { width: 200px; height: 200px; position: absolute; right: 40px; top: 40px; border-radius: 30px; animation: spin 700ms linear infinite;
    background: conic-gradient(red, lime, blue, red); box-shadow: 0 0 33px rgba(0, 0, 0, .7) }
  .tilted { position: absolute; right: 60px; top: 320px; font: 31px 'Times New Roman'; rotate: 13deg; filter: blur(.6px) }
  @keyframes spin { to { rotate: 1turn; opacity: .2 } }
</style>
<div class="spin"></div><div class="tilted">Illumination illimitable</div><canvas width="180" height="180" style="position:absolute;right:60px;top:520px"></canvas>
<script>
  const paint = document.querySelector('canvas').getContext('2d')
  for (let n = 1; n < 40; n++) {
    paint.strokeStyle = 'hsl(' + n * 9 + ' 80% 50%)'
    paint.beginPath()
    paint.arc(90, 90, n * 2.1, n / 7, n / 2)
    paint.stroke()
  }
</script><table>`,
)

const site = await servePages({ '/': busyPage })
const studio = await openStudio({ isolation: 'browser' })
t.teardown(async () => {
  await studio.close()
  await site.close()
})

const cases: Record<string, CaptureOptions> = {
  png: { format: 'png' },
  jpeg: { format: 'jpeg' },
  webp: { format: 'webp', deviceScaleFactor: 2 },
  'png of the whole page in tiles, at twice the size': { fullPage: true, fullPageAlgorithm: 'stitch', deviceScaleFactor: 2 },
}

for (const [name, options] of Object.entries(cases)) {
  t.test(`a page gives the same bytes in ${RUNS} browsers, one after another: ${name}`, async (t) => {
    const shots = []
    for (let run = 0; run < RUNS; run++) {
      shots.push(await studio.shoot(site.url('/'), { viewportWidth: 900, viewportHeight: 900, disableAnimations: true, ...options }))
    }
    const [first] = shots
    t.ok(first && first.picture.length > 30_000, `a picture of ${first?.picture.length} bytes`)
    t.equal(new Set(shots.map(({ browserPid }) => browserPid)).size, RUNS, 'each has its own browser')
    t.ok(shots.every(({ picture }) => first?.picture.equals(picture)))
  })
}
