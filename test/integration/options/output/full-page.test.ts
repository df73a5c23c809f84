// Full pages: limits, methods, and elements that would spoil them, such as canvases that redraw when their size changes.

import t from 'tap'
import { servingGreen } from '../../capture-runner/stage/page-server.ts'
import { BLUE, GREEN, isNear, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page } from '../options.ts'

const block = (color: string, height: number, more = '') => `<div style="background:${color};height:${height}px;${more}"></div>`
/** Turns green once it has been in the window. */
const shy = (id: string) => `<div id="${id}" style="height:200px;background:#f00"></div>
  <script>new IntersectionObserver(([e]) => { if (e.isIntersecting) e.target.style.background = '#0f0' }).observe(document.querySelector('#${id}'))</script>`

/** Turns green if it is still in the window one frame after entering it. */
const patient = (id: string) => `<div id="${id}" style="height:20px;background:#f00"></div>
  <script>new IntersectionObserver(([e]) => { if (e.isIntersecting) requestAnimationFrame(() => {
    const { top: y } = (frameElement ?? e.target).getBoundingClientRect()
    if (y > 0 && y < top.innerHeight) e.target.style.background = '#0f0'
  }) }).observe(document.querySelector('#${id}'))</script>`

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
  // A fixed header, a sticky one below the window, 60 rows of 1,000 px.
  '/tall': markup`<div style="position:fixed;top:0;left:0;width:100px;height:50px;background:#f00"></div>
     ${Array.from({ length: 60 }, (_, i) => block(`rgb(0,${i * 4},200)`, 1_000)).join('')}`,
  // Adds a block when its end comes near, at most fifty times.
  '/feed': markup`<div id="feed"><div style="height:2000px;background:#00f"></div></div><script>
     let added = 0
     addEventListener('scroll', () => {
       if (added < 50 && scrollY + innerHeight > document.documentElement.scrollHeight - 100) {
         added++
         feed.insertAdjacentHTML('beforeend', '<div style="height:1000px;background:#0f0"></div>')
       }
     })</script>`,
  '/places': markup`${block('#fff', 8_000)}<script>const seen = new Set(); addEventListener('scroll', () => { seen.add(scrollY); document.title = [...seen].sort((a, b) => a - b).join() })</script>`,
  '/shy': page('', `${block('#fff', 4_000)}${shy('late')}`),
  // The sweep shows each at one position only.
  '/patient': page('', `${block('#fff', 1_500)}${patient('late')}${block('#fff', 3_000)}`),
  '/patient-frame': markup`${block('#fff', 1_500)}<iframe style="display:block;border:0;width:400px;height:20px" srcdoc="${`<body style=margin:0>${patient('late')}`.replaceAll('"', '&quot;')}"></iframe>${block('#fff', 3_000)}`,
  '/lazy': page('', `${block('#fff', 9_000)}<img loading="lazy" src="/green.svg" style="display:block" width="400" height="400">`),
  '/late-content': markup`${block('#fff', 9_000)}${shy('late')}<img loading="lazy" src="/green.svg" style="display:block" width="400" height="400">`,
  '/green.svg': servingGreen(400),
  // Its script makes the block as tall as the page when the window grows.
  '/growing': page('', `<div id="hero" style="background:#f00;height:100vh"></div>${block('#00f', 3_000)}`),
  '/wide': page('', `<div style="width:3000px;height:1500px;background:linear-gradient(90deg,#f00 0 2500px,#0f0 2500px)"></div>`),
  '/panel': page(
    'height:100vh;overflow:hidden;display:flex;flex-direction:column',
    `<div style="height:60px;flex:none;background:#f00"></div>
     <div style="flex:1;min-height:0;display:flex"><nav style="width:200px;background:#00f"></nav>
     <main id="panel" style="flex:1;overflow-y:auto">${block('#fff', 5_000)}${block('#0f0', 100)}</main></div>`,
  ),
  '/short': page('', block('#00f', 300)),
})
const { shoot } = stage
/** A narrow window, because these pages are tall. */
const narrow = { fullPage: true, viewportWidth: 400, viewportHeight: 1_080 }

// proves: full_page, full_page_max_height
t.test('complaint: tall pages repeat themselves or are cut: each of 50,000 rows is at its place', async (t) => {
  const { pixels, findings } = await shoot('/tall', { ...narrow, fullPageMaxHeight: 50_000 })
  t.strictSame(pixels.size, [400, 50_000])
  const wrong = Array.from({ length: 50 }, (_, row) => row).filter((row) => {
    const places: [number, number][] = [
      [200, row * 1_000 + 1],
      [200, row * 1_000 + 998],
    ]
    // The header is at the top of the first row, and of no other.
    if (row > 0) places.push([10, row * 1_000 + 10])
    return !places.every(([x, y]) => isNear(pixels.at(x, y), [0, row * 4, 200], 0))
  })
  t.strictSame(wrong, [])
  t.ok(isNear(pixels.at(10, 10), RED, 0), 'the header')
  t.match(findings, { truncated: true, warnings: ['the page is 60000 pixels tall: the picture ends at full_page_max_height'] })
})

t.test('option full_page_scroll: follows a page that grows during the scroll', async (t) => {
  const still = await shoot('/feed', { ...narrow, fullPageSweep: false })
  t.equal(still.pixels.height, 2_000)
  const { pixels } = await shoot('/feed', { ...narrow, fullPageScroll: true, fullPageMaxHeight: 9_000 })
  t.equal(pixels.height, 9_000)
  t.ok(isNear(pixels.at(200, 8_999), GREEN))
})

t.test('option full_page_scroll_delay: waits at each position', async (t) => {
  const { timings } = await shoot('/shy', { ...narrow, fullPageScroll: true, fullPageScrollDelay: 500 })
  const scrolls = Math.ceil((4_200 - 1_080) / 1_080)
  t.ok((timings.scroll ?? 0) >= scrolls * 500, `${timings.scroll} ms`)
})

t.test('option full_page_scroll_by: sets the scroll distance', async (t) => {
  const { findings } = await shoot('/places', { ...narrow, fullPageScroll: true, fullPageScrollBy: 700 })
  const places = (findings.pageTitle ?? '').split(',').map(Number)
  for (const place of [700, 1_400, 2_100, 6_920]) t.ok(places.includes(place), `${place} of ${places}`)
  t.ok(
    places.some((place) => place > 0 && place < 700),
    'smoothly: through places between',
  )
})

t.test('option full_page_max_scrolls: limits the scroll of an endless feed', async (t) => {
  const { pixels } = await shoot('/feed', { ...narrow, fullPageScroll: true, fullPageMaxScrolls: 3 })
  t.ok(pixels.height > 2_000 && pixels.height < 7_000, `${pixels.height}`)
})

t.test('complaint: lazy images and sections are missing in full pages: both are captured', async (t) => {
  const { pixels } = await shoot('/late-content', narrow)
  t.ok(isNear(pixels.at(200, 9_100), GREEN), 'the section')
  t.ok(isNear(pixels.at(200, 9_400), GREEN), 'the image')
})

t.test('option full_page_sweep: triggers content that waits to be visible', async (t) => {
  t.ok(isNear((await shoot('/shy', narrow)).pixels.at(200, 4_100), GREEN))
  t.ok(isNear((await shoot('/shy', { ...narrow, fullPageSweep: false })).pixels.at(200, 4_100), RED))
})

t.test('a full page contains a section that must be visible for more than a frame', async (t) => {
  for (const path of ['/patient', '/patient-frame']) t.ok(isNear((await shoot(path, narrow)).pixels.at(200, 1_510), GREEN), path)
})

t.test('the sweep loads a lazy image of a page without scripts', async (t) => {
  t.ok(isNear((await shoot('/lazy', { ...narrow, fullPageEagerImages: false })).pixels.at(200, 9_200), GREEN))
})

t.test('option full_page_eager_images: loads lazy images without a scroll', async (t) => {
  const without = { ...narrow, fullPageSweep: false }
  t.ok(isNear((await shoot('/lazy', without)).pixels.at(200, 9_200), GREEN))
  t.ok(isNear((await shoot('/lazy', { ...without, fullPageEagerImages: false })).pixels.at(200, 9_200), WHITE))
})

// proves: full_page_fixed_elements, full_page_section_height
t.test(
  'complaint: sticky headers are repeated in stitched pictures: they appear once, never, or in each section as configured',
  async (t) => {
    const sections = { ...narrow, fullPageMaxHeight: 4_000, fullPageAlgorithm: 'stitch', fullPageSectionHeight: 1_000 } as const
    const headers = async (fullPageFixedElements: 'once' | 'hide' | 'keep') => {
      const { pixels } = await shoot('/tall', { ...sections, fullPageFixedElements })
      return [0, 1_000, 2_000, 3_000].map((top) => isNear(pixels.at(10, top + 10), RED, 0))
    }
    t.strictSame(await headers('once'), [true, false, false, false])
    t.strictSame(await headers('hide'), [false, false, false, false])
    t.strictSame(await headers('keep'), [true, true, true, true], 'a section has the configured height')
  },
)

t.test('option full_page_fix_viewport_units: keeps the height of 100vh blocks in a taller window', async (t) => {
  const grown = { ...narrow, captureBeyondViewport: false }
  t.ok(isNear((await shoot('/growing', grown)).pixels.at(200, 2_000), RED), 'the block has grown with the window')
  const { pixels } = await shoot('/growing', { ...grown, fullPageFixViewportUnits: true })
  t.ok(isNear(pixels.at(200, 1_079), RED) && isNear(pixels.at(200, 1_080), BLUE))
})

t.test('option full_page_full_width: captures the full width of a page wider than the window', async (t) => {
  t.strictSame((await shoot('/wide', narrow)).pixels.size, [400, 1_500])
  const { pixels } = await shoot('/wide', { ...narrow, fullPageFullWidth: true })
  t.strictSame(pixels.size, [3_000, 1_500])
  t.ok(isNear(pixels.at(2_499, 700), RED) && isNear(pixels.at(2_999, 700), GREEN))
})

// proves: full_page_scroll_container
t.test('complaint: inner panels are not captured: the scrolling panel is expanded', async (t) => {
  t.equal((await shoot('/panel', narrow)).pixels.height, 1_080)
  for (const fullPageScrollContainer of ['auto', '#panel']) {
    const { pixels } = await shoot('/panel', { ...narrow, fullPageScrollContainer })
    t.equal(pixels.height, 60 + 5_100)
    t.ok(
      isNear(pixels.at(300, 30), RED) && isNear(pixels.at(300, 5_100), GREEN) && isNear(pixels.at(100, 5_100), BLUE),
      fullPageScrollContainer,
    )
  }
  const { findings } = await shoot('/short', { ...narrow, fullPageScrollContainer: 'auto' })
  t.match(findings.warnings, ['full_page_scroll_container matched no scrollable element'])
})

t.test('option full_page_overflow: scales down, or fails', async (t) => {
  const limit = { ...narrow, fullPageMaxHeight: 6_000 }
  const { pixels, findings } = await shoot('/tall', { ...limit, fullPageOverflow: 'scale' })
  t.strictSame(pixels.size, [40, 6_000])
  t.ok(isNear(pixels.at(20, 5_950), [0, 59 * 4, 200]), 'the last row of the page is captured')
  t.match(findings, { truncated: false, warnings: ['the picture is 10 % of its size: the page is 60000 pixels tall'] })
  t.equal((await stage.fail('/tall', { ...limit, fullPageOverflow: 'fail' })).code, 'TOO_LARGE')
})

// A screenshot of something inside the window must not resize the window.
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
