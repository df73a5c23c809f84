// Preparation of the page before the screenshot. Some pages have JavaScript disabled or the strictest Content-Security-Policy.

import t from 'tap'
import { serving } from '../../capture-runner/stage/page-server.ts'
import { BLUE, GREEN, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page, SMALL_WINDOW, strict } from '../options.ts'

const box = (id: string, color: string, more = '') => `<div id="${id}" style="width:200px;height:200px;background:${color};${more}">x</div>`
const turns = (color: string) => `document.body.style.background='${color}'`
const boxes = page('', `${box('one', '#f00')}${box('two', '#0f0')}`)

const stage = await openStage(
  t,
  {
    '/boxes': boxes,
    '/strict-boxes': strict(
      '<!doctype html><title>Strict</title><body><style>*{color:red}</style><p id="one">A line of text.</p><p id="two">Another line.</p>',
    ),
    '/init': page('', `<p>A line.</p><script>if (window.given === 7) ${turns('#0f0')}</script>`),
    '/frames': page('', '<iframe src="/inner" style="border:0;width:400px;height:300px"></iframe>'),
    '/inner': page('', `<script>if (window.given === 7) ${turns('#0f0')}</script>`),
    '/sheet.css': serving('text/css', '#one { background: url(/nothing.png) #0f0 !important }'),
    '/script.js': serving('text/javascript', turns('#00f')),
    '/slow.json': serving('application/json', '{}', 700),
    '/shadow': markup`<div id="host"></div><script>host.attachShadow({ mode: 'open' }).innerHTML = '<div class="gone" style="height:200px;background:#f00">x</div>'</script>`,
    '/moving': markup`<style>@keyframes go { from { background: #f00 } to { background: #0f0 } }
     @keyframes spin { from { background: #00f } to { background: #f00 } }
     #one { animation: go 600s forwards } #two { animation: spin 1s infinite; background: #f00 }</style>
     ${box('one', '#f00')}<div id="two" style="width:200px;height:200px">x</div>`,
    '/pulsing': markup`<style>@keyframes pulse { from, to { opacity: 1 } 50% { opacity: 0.7 } } @keyframes late { from, to { visibility: visible } }
     #one { opacity: 0; animation: pulse 2s infinite } #two { visibility: hidden; animation: late 2s 30s infinite }</style>
     ${box('one', '#0f0')}${box('two', '#00f')}`,
    '/drawing': markup`<p style="position:absolute;left:910px">A line.</p><svg width="900" height="600" style="display:block">
     <rect width="100" height="100" fill="#00f"><animateTransform attributeName="transform" type="translate" values="0 0;800 0;0 0" dur="7s" repeatCount="indefinite"/></rect></svg>
     <svg width="900" height="400" style="position:absolute;left:0;top:200px"><rect width="100" height="100" fill="#0f0"><animate attributeName="x" to="400" dur="60s" fill="freeze"/></rect></svg>
     <svg width="900" height="100" style="position:absolute;left:0;top:400px"><rect width="100" height="100" fill="#f00"><set attributeName="fill" to="#00f" begin="50s"/></rect></svg>`,
    '/video': markup`<p>A line.</p><script>
     const canvas = document.createElement('canvas'), c = canvas.getContext('2d'), video = document.createElement('video')
     setInterval(() => c.fillRect(0, 0, 9, 9), 20)
     Object.assign(video, { muted: true, srcObject: canvas.captureStream(20), onpause: () => { ${turns('#0f0')} } })
     document.body.append(video); video.play()</script>`,
  },
  { usual: SMALL_WINDOW },
)

t.test('option init_script: runs before the page’s own scripts, in every frame', async (t) => {
  const initScript = 'window.given = 7'
  t.strictSame((await stage.shoot('/init', { initScript })).pixels.at(900, 500), GREEN)
  t.strictSame((await stage.shoot('/frames', { initScript })).pixels.at(200, 200), GREEN)
})

t.test('option hide_selectors: removes elements from the layout', async (t) => {
  t.strictSame((await stage.shoot('/boxes', { hideSelectors: ['#one'] })).pixels.at(100, 100), GREEN, 'the second box moves up')
})

t.test('option include_shadow_dom: lets hide_selectors reach open shadow roots', async (t) => {
  const options = { hideSelectors: ['.gone'], blankPageAction: 'accept' as const }
  t.strictSame((await stage.shoot('/shadow', options)).pixels.at(50, 50), RED)
  t.strictSame((await stage.shoot('/shadow', { ...options, includeShadowDom: true })).pixels.at(50, 50), WHITE)
})

t.test('option style_urls: adds style sheets from other URLs to the page', async (t) => {
  const { pixels } = await stage.shoot('/boxes', { styleUrls: [stage.site.url('/sheet.css')] })
  t.strictSame(pixels.at(100, 100), GREEN)
  t.ok(stage.site.requests.includes('GET /nothing.png'), 'URLs in a sheet are relative to it')
  const { findings } = await stage.shoot('/boxes', { styleUrls: [stage.site.url('/missing.css')] })
  t.match(findings.warnings, [/could not be loaded/])
})

t.test('option script_urls: runs scripts from other URLs, regardless of the page’s policy', async (t) => {
  t.strictSame((await stage.shoot('/strict-boxes', { scriptUrls: [stage.site.url('/script.js')] })).pixels.at(900, 500), BLUE)
  t.match(await stage.fail('/boxes', { scriptUrls: [stage.site.url('/missing.js')] }), { code: 'SCRIPT_ERROR' })
})

t.test('option scripts_wait_until: waits again after the scripts', async (t) => {
  const scripts = `fetch('/slow.json').then(() => { ${turns('#0f0')} }); document.body.append('more')`
  t.strictSame((await stage.shoot('/boxes', { scripts, scriptsWaitUntil: ['networkidle'] })).pixels.at(900, 500), GREEN)
  t.strictSame((await stage.shoot('/boxes', { scripts, stabilityTimeout: 0 })).pixels.at(900, 500), WHITE)
})

t.test('option fail_on_script_error: false turns a failed script into a warning', async (t) => {
  t.match(await stage.fail('/boxes', { scripts: 'nothing.here()' }), { code: 'SCRIPT_ERROR' })
  const { findings, pixels } = await stage.shoot('/boxes', { scripts: 'nothing.here()', failOnScriptError: false })
  t.match(findings.warnings, [/ReferenceError/])
  t.strictSame(pixels.at(100, 100), RED)
})

t.test('option mask_selectors: covers elements with a box', async (t) => {
  const { pixels } = await stage.shoot('/boxes', { maskSelectors: ['#two'], fullPage: true, viewportHeight: 100 })
  t.strictSame([pixels.at(100, 100), pixels.at(100, 300)], [RED, [255, 0, 255]])
})

// proves: error_on_click_selector_not_found, error_on_hover_selector_not_found
t.test('a click or hover without a match fails, and so does an unknown key', async (t) => {
  for (const action of [{ click: '#none' }, { hover: '#none' }])
    t.match(await stage.fail('/boxes', { ...action, waitForSelectorTimeout: 100 }), { code: 'SELECTOR_NOT_FOUND' }, JSON.stringify(action))
  t.match(await stage.fail('/boxes', { pressKey: 'NoSuchKey' }), { code: 'INVALID_OPTIONS' })
})

t.test(
  'option disable_animations: finite animations are at their end, infinite ones at their first frame, also if they show an element',
  async (t) => {
    for (const path of ['/moving', '/pulsing']) {
      const { pixels } = await stage.shoot(path, { disableAnimations: true })
      t.strictSame([pixels.at(100, 100), pixels.at(100, 300)], [GREEN, BLUE], path)
    }
  },
)

t.test('option disable_animations: animated SVG elements stand still', async (t) => {
  const shot = (delay: number) => stage.shoot('/drawing', { disableAnimations: true, delay })
  const [now, later] = [await shot(0), await shot(700)]
  t.ok(now.picture.equals(later.picture))
  t.strictSame([now.pixels.at(50, 50), now.pixels.at(450, 250), now.pixels.at(50, 450)], [BLUE, GREEN, BLUE])
})

t.test('option pause_videos: stops videos at their beginning', async (t) => {
  t.strictSame((await stage.shoot('/video', { pauseVideos: true, delay: 200 })).pixels.at(900, 600), GREEN)
  t.strictSame((await stage.shoot('/video', { delay: 200 })).pixels.at(900, 600), WHITE)
})
