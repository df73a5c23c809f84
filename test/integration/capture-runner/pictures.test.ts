import type { CaptureOptions } from '@tintype/crds/options/catalog'
import sharp from 'sharp'
import t from 'tap'
import { SAMPLES, scriptsPage } from '../../support/attack/scripts-page.ts'
import { openStage, SMALL_WINDOW, strict } from '../options/options.ts'
import { serving, servingGreen } from './stage/page-server.ts'
import { BLUE, GREEN, isNear, RED, WHITE } from './stage/pixels.ts'

const filled = (style: string, rest = '') => `<!doctype html><title>Filled</title><body style="margin:0;${style}">${rest}</body>`
const block = (color: string, height: number) => `<div style="background:${color};height:${height}px"></div>`

/** 8,000 px: a block of 1,000 px in each of 8 shades. */
const tall = filled('', Array.from({ length: 8 }, (_, i) => block(`rgb(0,${i * 9},200)`, 1000)).join(''))

const stripes = Array.from(
  { length: 9 },
  (_, n) => `<div style="height:333px;background:linear-gradient(${n * 40}deg,#fd${n},#0${n}f)"></div>`,
)

const stage = await openStage(
  t,
  {
    '/scripts': scriptsPage(SAMPLES).replace('<table>', `${stripes.join('')}<table>`),
    '/red': filled('background:#f00'),
    '/device': (request, response) => {
      const isPhone = /Android .* Mobile/.test(request.headers['user-agent'] ?? '') && request.headers['sec-ch-ua-mobile'] !== '?0'
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<!doctype html><meta name="viewport" content="width=device-width"><body style="margin:0;background:#f00"><p>A line.<script>
        const isPhone = ${isPhone} && navigator.userAgent.includes('Android') && matchMedia('(pointer: coarse)').matches && navigator.maxTouchPoints > 0
        if (isPhone && innerWidth === 360 && devicePixelRatio === 3) document.body.style.background = '#0f0'</script>`)
    },
    '/little': filled('', '<p>A line of text.'),
    '/tall': tall,
    '/transparent': filled('', '<div style="width:100px;height:100px;background:#0f0"></div>'),
    '/scheme': filled('', '<style>body{background:#fff}@media(prefers-color-scheme:dark){body{background:#00f}}</style>'),
    '/later': filled('background:#f00', '<script>setTimeout(() => { document.body.style.background = "#0f0" }, 4000)</script>'),
    '/strict': strict('<!doctype html><title>Strict</title><h1>strict</h1>'),
    '/click': filled(
      'background:#f00',
      `<button style="display:none" class="go">hidden</button><div style="height:3000px"></div>
       <button class="go" onclick="document.body.style.background = '#0f0'; scrollTo(0, 0)">go</button>`,
    ),
    '/red-slowly': serving('text/html', filled('background:#00f'), 300),
    '/noise': filled(
      '',
      `<canvas id="c" width="800" height="600"></canvas><script>
       const c = document.querySelector('#c').getContext('2d'), d = c.createImageData(800, 600); let s = 7
       for (let i = 0; i < d.data.length; i++) { s = (s * 1103515245 + 12345) % 2147483648; d.data[i] = i % 4 === 3 ? 255 : s >> 16 }
       c.putImageData(d, 0, 0)</script>`,
    ),
    '/static': filled(
      '',
      `<canvas id="c" width="1900" height="1000"></canvas><script>
       const canvas = document.querySelector('#c'), c = canvas.getContext('2d'), d = c.createImageData(1900, 1000); let s = 7
       for (let i = 0; i < d.data.length; i++) { s = Math.imul(s, 1103515245) + 12345 & 0x7fffffff; d.data[i] = i % 4 === 3 ? 255 : s >> 16 }
       c.putImageData(d, 0, 0); const src = canvas.toDataURL('image/jpeg', 1); canvas.remove()
       for (let i = 0; i < 20; i++) document.body.append(Object.assign(new Image(), { src, style: 'display:block' }))</script>`,
    ),
    '/slow-font-and-image': filled('background:#fff', '<img src="/slow.svg" style="display:block" width="400" height="400">'),
    '/slow.svg': servingGreen(400, 400, 500),
  },
  { usual: {} },
)
const shoot = (path: string, options?: CaptureOptions) => stage.shoot(path, { ...SMALL_WINDOW, ...options })

t.test('a capture without options is a png of 1920 by 1080 pixels', async (t) => {
  const { pixels, findings } = await stage.shoot('/red')
  t.equal(pixels.format, 'png')
  t.strictSame(pixels.size, [1920, 1080])
  for (const [x, y] of [
    [0, 0],
    [1919, 1079],
    [960, 540],
  ] as const)
    t.ok(isNear(pixels.at(x, y), RED, 0))
  t.match(findings, { pageTitle: 'Filled', finalUrl: stage.site.url('/red'), httpStatus: 200, truncated: false })
  t.strictSame(findings.warnings, ['the picture shows one color and almost nothing else'])
})

// proves: device
t.test('a device sets the page’s window, pixel ratio, touch and user agent, and the size of the screenshot', async (t) => {
  const { pixels } = await stage.shoot('/device', { device: 'Galaxy S24' })
  t.strictSame(pixels.size, [360 * 3, 780 * 3])
  t.ok(isNear(pixels.at(5, 5), GREEN, 0), 'the page saw a phone')
  const desktop = await shoot('/device')
  t.ok(isNear(desktop.pixels.at(5, 5), RED, 0), 'the page saw a desktop')
  t.strictSame(
    (await stage.shoot('/device', { device: 'iPhone 15 Pro', deviceScaleFactor: 1, viewportWidth: 500 })).pixels.size,
    [500, 659],
  )
})

t.test('a page with a line of text or a few transparent pixels is not blank', async (t) => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const { pixels, findings } = await shoot('/little', { format })
    t.strictSame([pixels.format, findings.warnings], [format, []])
  }
  t.strictSame((await shoot('/transparent', { omitBackground: true })).findings.warnings, [])
})

// proves: viewport_width, viewport_height, device_scale_factor
t.test('viewport and scale determine the size of the screenshot', async (t) => {
  const cases: [CaptureOptions, number[]][] = [
    [{ viewportWidth: 320, viewportHeight: 640 }, [320, 640]],
    [{ viewportWidth: 1, viewportHeight: 1 }, [1, 1]],
    [{ viewportWidth: 400, viewportHeight: 300, deviceScaleFactor: 2.5 }, [1000, 750]],
    [{ viewportWidth: 400, viewportHeight: 300, deviceScaleFactor: 0.1 }, [40, 30]],
    [{ viewportWidth: 7680, viewportHeight: 4320 }, [7680, 4320]],
  ]
  for (const [options, size] of cases) t.strictSame((await shoot('/red', options)).pixels.size, size, JSON.stringify(options))
})

// proves: image_quality
t.test('image_quality changes the size of jpeg and webp files, and adds a warning for png', async (t) => {
  const window = { viewportWidth: 800, viewportHeight: 600 }
  for (const format of ['jpeg', 'webp'] as const) {
    const sizes: number[] = []
    for (const imageQuality of [0, 50, 90]) sizes.push((await shoot('/noise', { ...window, format, imageQuality })).picture.length)
    const [low = 0, middle = 0, high = 0] = sizes
    t.ok(low < middle / 1.5 && middle < high / 1.5, `${format}: ${sizes.join(' < ')}`)
  }
  t.match((await shoot('/noise', { ...window, imageQuality: 10 })).findings.warnings, ['image_quality has no effect on png'])
})

// proves: omit_background
t.test('omit_background keeps unpainted areas transparent', async (t) => {
  const { pixels } = await shoot('/transparent', { omitBackground: true })
  t.equal(pixels.channels, 4)
  t.strictSame(pixels.at(50, 50), [...GREEN, 255])
  t.equal(pixels.at(500, 500)[3], 0)
  const { pixels: opaque } = await shoot('/transparent')
  t.ok(isNear(opaque.at(500, 500), WHITE, 0))
})

// proves: dark_mode
t.test('dark_mode selects the page’s dark color scheme', async (t) => {
  t.ok(isNear((await shoot('/scheme')).pixels.at(5, 5), WHITE, 0))
  t.ok(isNear((await shoot('/scheme', { darkMode: true })).pixels.at(5, 5), BLUE, 0))
  t.ok(isNear((await shoot('/scheme', { darkMode: true, deviceScaleFactor: 2 })).pixels.at(5, 5), BLUE, 0))
})

t.test('full_page in tiles has no seam at a scale between', async (t) => {
  const deviceScaleFactor = 1.1
  const { pixels } = await shoot('/tall', { fullPage: true, fullPageMaxHeight: 8_000, viewportWidth: 400, deviceScaleFactor })
  t.strictSame(pixels.size, [440, 8_800])
  const places = Array.from({ length: 8 }, (_, row) => [row * 1000 + 2, row * 1000 + 997].map((y) => ({ row, y }))).flat()
  const wrong = places.filter(({ row, y }) => {
    const color = pixels.at(Math.round(300 * deviceScaleFactor), Math.round(y * deviceScaleFactor))
    return !isNear(color, [0, row * 9, 200], 0)
  })
  t.strictSame(wrong, [])
})

t.test('a webp with too much detail gets a lower quality and a warning', async (t) => {
  const { pixels } = await shoot('/static', { viewportWidth: 1900, format: 'webp', fullPage: true, imageQuality: 98 })
  t.strictSame(pixels.size, [1900, 16_383])
})

// proves: delay
t.test('delay lets the page continue', async (t) => {
  t.ok(isNear((await shoot('/later')).pixels.at(5, 500), RED, 0))
  t.ok(isNear((await shoot('/later', { delay: 4_500 })).pixels.at(5, 500), GREEN, 0))
})

// proves: scripts
t.test('scripts run and are awaited under the strictest Content-Security-Policy', async (t) => {
  const scripts = 'await new Promise((done) => setTimeout(done, 200)); document.documentElement.style.background = "rgb(0, 255, 0)"'
  t.ok(isNear((await shoot('/strict', { scripts })).pixels.at(5, 5), GREEN, 0))
})

t.test('a navigation by scripts is followed', async (t) => {
  const { pixels, findings } = await shoot('/red', { scripts: `location.href = '/red-slowly'` })
  t.ok(isNear(pixels.at(5, 5), BLUE, 0))
  t.equal(findings.finalUrl, stage.site.url('/red-slowly'))
})

// proves: click
t.test('click hits the first visible match anywhere on the page', async (t) => {
  t.ok(isNear((await shoot('/click', { click: '.go' })).pixels.at(900, 500), GREEN, 0))
})

// proves: wait_until
t.test('each state of wait_until works alone and together with all others', async (t) => {
  for (const waitUntil of [
    ['commit'],
    ['domcontentloaded'],
    ['load'],
    ['networkidle'],
    ['load', 'networkidle', 'commit', 'domcontentloaded'],
  ] as const) {
    const { pixels } = await shoot('/slow-font-and-image', { waitUntil: [...waitUntil] })
    t.ok(isNear(pixels.at(200, 200), GREEN, 0), waitUntil.join())
  }
})

// Screenshots in tiles: Chromium's compressed data goes unchanged into the file, which shows the page pixel by pixel.

const SECTION = 700

const pixelsOf = async (picture: Buffer) => sharp(picture).raw().toBuffer({ resolveWithObject: true })

function chunkTypes(png: Buffer): string[] {
  const types: string[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) types.push(png.toString('latin1', at + 4, at + 8))
  return types
}

for (const [name, options] of Object.entries({
  opaque: {},
  'at twice the size': { deviceScaleFactor: 2, fullPageSectionHeight: 2 * SECTION },
  transparent: { omitBackground: true },
} satisfies Record<string, CaptureOptions>)) {
  // proves: full_page_algorithm
  t.test(`a png is joined from tiles without decoding, ${name}`, async (t) => {
    const wanted = { fullPage: true, viewportWidth: 700, viewportHeight: 500, fullPageSectionHeight: SECTION, ...options }
    const once = await stage.take('/scripts', { ...wanted, fullPageAlgorithm: 'native' })
    const joined = await stage.take('/scripts', { ...wanted, fullPageAlgorithm: 'stitch' })
    const [expected, found] = [await pixelsOf(once.picture), await pixelsOf(joined.picture)]
    t.strictSame({ ...found.info, size: 0 }, { ...expected.info, size: 0 })
    t.ok(found.data.equals(expected.data), 'pixel by pixel')
    const scale = (options as CaptureOptions).deviceScaleFactor ?? 1
    const tiles = Math.ceil(found.info.height / (SECTION * scale))
    t.ok(tiles > 3, `${tiles} tiles`)
    // One chunk begins the stream and one ends it.
    t.strictSame(chunkTypes(joined.picture), ['IHDR', ...Array.from({ length: tiles + 2 }, () => 'IDAT'), 'IEND'])
  })
}

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

const usual = { viewportWidth: 900, viewportHeight: 900, disableAnimations: true }
const single = await openStage(t, { '/': busyPage }, { isolation: 'browser', usual })

const cases: Record<string, CaptureOptions> = {
  png: { format: 'png' },
  jpeg: { format: 'jpeg' },
  webp: { format: 'webp', deviceScaleFactor: 2 },
  'png of the whole page in tiles, at twice the size': { fullPage: true, fullPageAlgorithm: 'stitch', deviceScaleFactor: 2 },
}

for (const [name, options] of Object.entries(cases)) {
  t.test(`a page gives the same bytes in ${RUNS} browsers, one after another: ${name}`, async (t) => {
    const shots = []
    for (let run = 0; run < RUNS; run++) shots.push(await single.take('/', options))
    const [first] = shots
    t.ok(first && first.picture.length > 30_000, `a picture of ${first?.picture.length} bytes`)
    t.equal(new Set(shots.map(({ browserPid }) => browserPid)).size, RUNS, 'each has its own browser')
    t.ok(shots.every(({ picture }) => first?.picture.equals(picture)))
  })
}
