// Canvases that redraw when their size changes, like those of maps. A screenshot of something inside the window must not resize the window.

import t from 'tap'
import { openStage, page } from '../options/options.ts'
import { GREEN, isNear } from './stage/pixels.ts'

/** Cleared by every change of its size, and drawn again later. */
const map = (
  more = '',
) => `<div id="place" style="position:absolute;inset:0"><canvas id="map" style="display:block"></canvas></div>${more}<script>
  const context = map.getContext('2d')
  const draw = () => { context.fillStyle = '#0f0'; context.fillRect(0, 0, map.width, map.height) }
  new ResizeObserver(([{ contentRect: { width, height } }]) => { map.width = width; map.height = height; setTimeout(draw, 100) }).observe(place)
  addEventListener('resize', () => { map.width = place.clientWidth; map.height = place.clientHeight; setTimeout(draw, 100) })
</script>`
/** Drawn once by WebGL, whose buffer is not kept, and again some time after the window has changed. */
const globe = `<canvas id="globe" width="600" height="400" style="display:block;width:100vw;height:100vh"></canvas><script>
  const context = globe.getContext('webgl')
  const draw = () => { context.clearColor(0, 1, 0, 1); context.clear(context.COLOR_BUFFER_BIT) }
  draw()
  addEventListener('resize', () => { globe.width = innerWidth; setTimeout(draw, 100) })
</script>`

const stage = await openStage(t, {
  '/map': page('background:#f00', map()),
  '/globe': page('background:#f00', globe),
  '/box': page('background:#f00', map('<p id="box" style="position:relative;width:300px;height:200px;margin:50px">.</p>')),
})

const WINDOW = { viewportWidth: 600, viewportHeight: 400, delay: 300 }

for (const path of ['/map', '/globe']) {
  t.test(`a canvas map is visible in a full page that fits the window: ${path}`, async (t) => {
    for (const deviceScaleFactor of [1, 2]) {
      const { pixels } = await stage.shoot(path, { ...WINDOW, fullPage: true, deviceScaleFactor })
      t.strictSame([pixels.width, pixels.height], [600 * deviceScaleFactor, 400 * deviceScaleFactor])
      t.ok(isNear(pixels.at(300, 300), GREEN), `at scale ${deviceScaleFactor}: ${pixels.at(300, 300)}`)
    }
  })

  t.test(`a canvas map is visible in a window at a scale of 2: ${path}`, async (t) => {
    const { pixels } = await stage.shoot(path, { ...WINDOW, deviceScaleFactor: 2 })
    t.strictSame([pixels.width, pixels.height], [1_200, 800])
    for (const [x, y] of [
      [5, 5],
      [1_195, 795],
    ] as const)
      t.ok(isNear(pixels.at(x, y), GREEN), `${pixels.at(x, y)}`)
  })
}

t.test('a canvas map is visible behind an element in the window', async (t) => {
  for (const deviceScaleFactor of [1, 2]) {
    const { pixels } = await stage.shoot('/box', { ...WINDOW, selector: '#box', deviceScaleFactor })
    t.strictSame([pixels.width, pixels.height], [300 * deviceScaleFactor, 200 * deviceScaleFactor])
    t.ok(isNear(pixels.at(250, 150), GREEN), `at scale ${deviceScaleFactor}: ${pixels.at(250, 150)}`)
  }
})
