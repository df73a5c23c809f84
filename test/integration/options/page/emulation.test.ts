import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t from 'tap'
import { serving } from '../../capture-runner/stage/page-server.ts'
import { BLUE, GREEN, isNear, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { openStage, page, SMALL_WINDOW, telling } from '../options.ts'

const QUERIES: Readonly<Record<string, string>> = {
  print: 'print',
  motion: '(prefers-reduced-motion: reduce)',
  forced: '(forced-colors: active)',
  more: '(prefers-contrast: more)',
  less: '(prefers-contrast: less)',
  gamut: '(color-gamut: rec2020) and (prefers-reduced-transparency: reduce)',
}
const STRIP = 40

const position = `new Promise((done) => navigator.geolocation.getCurrentPosition(
  ({ coords: { latitude, longitude, accuracy } }) => done([latitude, longitude, accuracy]), ({ code }) => done(code)))`
const facts = `({
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  hour: new Date('2026-07-01T12:00:00Z').getHours(),
  language: navigator.language,
  number: (1234.5).toLocaleString(),
  now: [new Date().toISOString(), Date.now()],
})`

const stage = await openStage(
  t,
  {
    '/zoomed': page(
      'background:#0f0;height:3000px',
      `<style>div { position: absolute } #box { width: 100px; height: 100px; background: #00f } #half { width: 50vw; height: 50vh; background: #f00; z-index: -1 }
       #half { clip-path: inset(calc(100% - 20px) 0 0 calc(100% - 20px)) } #corner { position: fixed; right: 0; bottom: 0; width: 30px; height: 30px; background: #00f }
       #narrow, #wide { left: 200px; width: 100px; height: 100px } #wide { left: 300px } #holder { inset: 0 0 auto 0; height: 100px; container-type: inline-size }
       @media (max-width: 820px) { #narrow { background: #00f } } @container (min-width: 1300px) { #wide { background: #00f } }</style>
     <div id="half"></div><div id="box"></div><div id="narrow"></div><div id="holder"><div id="wide"></div></div><div id="corner"></div>
     <script>document.title = innerWidth + ' ' + devicePixelRatio.toFixed(1)</script>`,
    ),
    '/window': telling(
      '[innerWidth, innerHeight, matchMedia("(pointer: coarse)").matches, navigator.maxTouchPoints, matchMedia("(orientation: landscape)").matches]',
      '<meta name="viewport" content="width=420">',
    ),
    '/media': page(
      '',
      `<p style="position:absolute;left:300px">text</p>${Object.keys(QUERIES)
        .map((name) => `<div id="${name}"></div>`)
        .join('')}`,
      `<style>div { height: ${STRIP}px; width: 200px; background: #f00; forced-color-adjust: none } ${Object.entries(QUERIES)
        .map(([name, query]) => `@media ${query} { #${name} { background: #0f0 } }`)
        .join(' ')}</style>`,
    ),
    '/plain': page('background:#fff', '<p>Black on white.'),
    '/script': page(
      'background:#f00',
      '<p>text',
      '<script>addEventListener("load", () => { document.body.style.background = "#0f0" })</script>',
    ),
    '/policy': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'; script-src 'unsafe-inline'" })
      response.end(
        page(
          '',
          '<p>text',
          '<script>document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/green.css" }))</script>',
        ),
      )
    },
    '/green.css': serving('text/css', 'html { background: #0f0 }'),
    '/position': telling(position),
    '/facts': telling(facts),
    '/framed': telling(`new Promise((done) => addEventListener('message', ({ data }) => done(data)))`, '<iframe src="/frame"></iframe>'),
    '/debounced': telling(`new Promise((done) => {
    const called = Date.now()
    const check = () => (Date.now() - called < 300 ? setTimeout(check, 10) : done('done'))
    check()
  })`),
    '/frame': `<script>parent.postMessage(${facts}, '*')</script>`,
  },
  { usual: SMALL_WINDOW },
)
const at = async (path: string, options: CaptureOptions) => (await stage.shoot(path, options)).pixels.at(300, 200)

t.test('option viewport_mobile: applies the page’s viewport meta tag', async (t) => {
  const window = { viewportWidth: 800, viewportHeight: 600 }
  t.match(await stage.ask('/window', window), [800])
  t.match(await stage.ask('/window', { ...window, viewportMobile: true }), [420])
  t.match(await stage.ask('/window', { device: 'iPhone 15 Pro', viewportMobile: false }), [393], 'it overrides the device')
})

t.test('option viewport_has_touch: reports a touch screen', async (t) => {
  t.match(await stage.ask('/window', { viewportHasTouch: true }), [1000, 700, true, /[1-9]/])
  t.match(await stage.ask('/window'), [1000, 700, false, 0])
})

t.test('option viewport_landscape: swaps width and height of window and device', async (t) => {
  t.match(await stage.ask('/window', { viewportWidth: 500, viewportHeight: 900, viewportLandscape: true }), [900, 500, false, 0, true])
  const { pixels } = await stage.shoot('/plain', { device: 'iPhone 15 Pro', viewportLandscape: true })
  t.strictSame([pixels.width, pixels.height], [659 * 3, 393 * 3])
})

/** Media queries that match, by their strips. */
async function matchesOf(options: CaptureOptions): Promise<string[]> {
  const { pixels } = await stage.shoot('/media', options)
  const { deviceScaleFactor: scale = 1 } = options
  return Object.keys(QUERIES).filter((_, index) => isNear(pixels.at(100 * scale, (20 + index * STRIP) * scale), GREEN))
}
const CASES: readonly (readonly [options: CaptureOptions, matches: string[]])[] = [
  [{}, []],
  [{ mediaType: 'print' }, ['print']],
  [{ mediaType: 'screen' }, []],
  [{ mediaType: 'print', deviceScaleFactor: 2 }, ['print']],
  [{ reducedMotion: true }, ['motion']],
  [{ forcedColors: true }, ['forced']],
  [{ prefersContrast: 'more' }, ['more']],
  [{ prefersContrast: 'less' }, ['less']],
  [{ prefersContrast: 'no_preference' }, []],
  [{ mediaFeatures: { 'color-gamut': 'rec2020', 'prefers-reduced-transparency': 'reduce' } }, ['gamut']],
  [{ mediaFeatures: { 'color-gamut': 'rec2020' }, reducedMotion: true, mediaType: 'print', darkMode: true }, ['print', 'motion']],
]
// proves: media_type, reduced_motion, forced_colors, prefers_contrast, media_features
t.test(
  'options of media change what the page’s styles match, alone and together, and not for the next capture of the account',
  async (t) => {
    for (const [options, matches] of [...CASES, CASES[0]!]) t.strictSame(await matchesOf(options), matches, JSON.stringify(options))
  },
)

t.test('option dark_mode_force: darkens a page that has no dark scheme', async (t) => {
  t.ok(isNear(await at('/plain', { darkMode: true }), WHITE))
  const [red = 255, green = 255, blue = 255] = await at('/plain', { darkMode: true, darkModeForce: true })
  t.ok(red < 64 && green < 64 && blue < 64, `${red}, ${green}, ${blue}`)
})

t.test('option javascript_enabled: disables the page’s scripts but not the client’s', async (t) => {
  t.ok(isNear(await at('/script', {}), GREEN))
  t.ok(isNear(await at('/script', { javascriptEnabled: false }), RED))
  const scripts = 'document.body.style.background = "#00f"'
  t.ok(isNear(await at('/script', { javascriptEnabled: false, scripts }), BLUE))
})

t.test('option bypass_csp: allows what the page’s policy blocks', async (t) => {
  t.ok(isNear(await at('/policy', {}), WHITE))
  t.ok(isNear(await at('/policy', { bypassCsp: true }), GREEN))
})

// proves: page_zoom
t.test('page_zoom left half of the picture blank, and media queries, vh and fixed elements did not follow it', async (t) => {
  const window = { viewportWidth: 1200, viewportHeight: 801, stabilityTimeout: 0 }
  for (const zoom of [0.5, 0.9, 1.5, 2]) {
    const { pixels, findings } = await stage.shoot('/zoomed', { ...window, pageZoom: zoom })
    t.strictSame([pixels.width, pixels.height], [1200, 801], `${zoom}`)
    const colorAt = (x: number, y: number) => pixels.at(Math.floor(x), Math.floor(y))
    for (const [what, x, y, color] of [
      ['a box of 100 pixels', 95 * zoom, 95 * zoom, BLUE],
      ['its outside', 106 * zoom, 95 * zoom, GREEN],
      ['the whole width', 1190, 400, GREEN],
      ['the whole height', 600, 796, GREEN],
      ['half of the width and height', 594, 396, RED],
      ['half of the width and height', 606, 396, GREEN],
      ['half of the width and height', 594, 407, GREEN],
      ['a fixed box at the corner', 1200 - 25 * zoom, 801 - 25 * zoom, BLUE],
      ['outside of the fixed box', 1200 - 35 * zoom, 801 - 25 * zoom, GREEN],
      ['a box for narrow windows', 250 * zoom, 50 * zoom, zoom > 1.4 ? BLUE : GREEN],
      ['a box for containers', 350 * zoom, 50 * zoom, zoom < 1 ? BLUE : GREEN],
    ] as const)
      t.ok(isNear(colorAt(x, y), color), `${zoom}: ${what}: ${colorAt(x, y)}`)
    t.equal(findings.pageTitle, `${Math.round(1200 / zoom)} ${zoom.toFixed(1)}`)
    if (zoom === 0.9 || zoom === 2) continue
    const full = await stage.shoot('/zoomed', { ...window, pageZoom: zoom, fullPage: true })
    t.ok(Math.abs(full.pixels.height - 3000 * zoom) < 3 && full.pixels.width === 1200, `${zoom}: ${full.pixels.height}`)
    t.ok(isNear(full.pixels.at(Math.floor(600), Math.floor(2990 * zoom)), GREEN), `${zoom}: the end of the page`)
    t.ok(isNear(full.pixels.at(Math.floor(1200 - 25 * zoom), Math.floor(2975 * zoom)), BLUE), `${zoom}: the fixed box at the end`)
    const box = await stage.shoot('/zoomed', { ...window, pageZoom: zoom, selector: '#box' })
    t.equal(box.pixels.width, Math.round(100 * zoom), `${zoom}: an element`)
  }
})

t.test('option geolocation_latitude, geolocation_longitude, geolocation_accuracy: set the page’s position', async (t) => {
  const options = { geolocationLatitude: -33.9, geolocationLongitude: 151.2 }
  t.strictSame(await stage.ask('/position', options), [-33.9, 151.2, 0])
  t.strictSame(await stage.ask('/position', { ...options, geolocationAccuracy: 25 }), [-33.9, 151.2, 25])
  t.equal(await stage.ask('/position'), 1, 'without the options, the permission is denied')
})

t.test('option timezone, locale: set the page’s time zone, language and formats, and the request’s header', async (t) => {
  t.match(await stage.ask('/facts'), { zone: 'UTC', hour: 12, language: 'en-US', number: '1,234.5' })
  const asked = await stage.ask('/facts', { timezone: 'Asia/Tokyo', locale: 'de-AT' })
  t.match(asked, { zone: 'Asia/Tokyo', hour: 21, language: 'de-AT', number: '1\u00a0234,5' })
  t.match(stage.lastSeen('/facts').headers['accept-language'], /^de-AT/)
  t.match(await stage.ask('/framed', { timezone: 'America/New_York' }), { zone: 'America/New_York', hour: 8 }, 'in frames too')
})

t.test('option fixed_time: starts the page’s clock at this time, also in frames', async (t) => {
  for (const [path, fixedTime] of [
    ['/facts', '1999-12-31T23:50:00Z'],
    ['/framed', '2000-01-01T00:50:00+01:00'],
  ] as const) {
    const { now } = (await stage.ask(path, { fixedTime })) as { now: [string, number] }
    t.match(now, [/^1999-12-31T23:5/, Number])
    t.ok(Math.abs(now[1] - Date.UTC(1999, 11, 31, 23, 50)) < 300_000, `${now}`)
  }
})

t.test('option fixed_time: work that a page delays by comparing times happens', async (t) => {
  t.equal(await stage.ask('/debounced', { fixedTime: '2026-01-15T12:00:00Z' }), 'done')
})
