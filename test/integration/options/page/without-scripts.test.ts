// Preparing and waiting on restricted pages: scripts disabled, and the strictest policy. Each option works there, or its error explains why it
// cannot. The table contains every option of both groups.

import type { RequestListener } from 'node:http'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t, { type Test } from 'tap'
import { waitingGroup } from '../../../../crds/src/options/page/loading.ts'
import { preparingGroup } from '../../../../crds/src/options/page/preparing.ts'
import { BLUE, GREEN, isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { openStage } from '../options.ts'

/** The policy blocks all styles, so colors are set by attributes. */
const cell = (id: string, color: string, width = 200, height = 200) =>
  `<table cellspacing="0" cellpadding="0"><tr><td id="${id}" bgcolor="${color}" width="${width}" height="${height}">x</td></tr></table>`
const page = (body: string) => `<!doctype html><title>Nothing allowed</title><body marginwidth="0" marginheight="0">${body}</body>`

const turns = (color: string) => `document.body.style.background = '${color}'`

const pages: Record<string, string> = {
  '/boxes': page(`${cell('one', '#ff0000')}${cell('two', '#00ff00')}<p><a href="/green">Go to the green page</a>`),
  '/green': '<!doctype html><title>Green</title><body bgcolor="#00ff00">A line.',
  '/details': page('<details><summary>One</summary>1</details><details><summary>Two</summary>2</details>'),
  '/shadow': page(`<div><template shadowrootmode="open"><p class="gone">Hidden?</p>${cell('one', '#00ff00')}</template></div>`),
  '/long': page(`${cell('wide', '#ff0000', 4_000, 3_000)}${cell('deep', '#00ff00')}${cell('end', '#0000ff', 200, 3_000)}`),
  '/wide': page(
    '<table cellspacing="0" cellpadding="0" width="4000"><tr><td bgcolor="#ff0000" width="2000" height="500">x<td bgcolor="#00ff00" width="2000">x</table>',
  ),
  '/video': page('<p>A line.<video autoplay muted loop></video>'),
  '/image': page('<p>A line.<img src="/never" width="50" height="50">'),
  '/blank': page(''),
}

/** The end of the document arrives late, which is the only delay possible without scripts. */
const late: RequestListener = (_, response) => {
  response.write(`<!doctype html><title>Late</title><body><p>A line.${' '.repeat(2_000)}`)
  setTimeout(() => response.end(cell('late', '#00ff00')), 700)
}

/** All with the strictest policy. */
const served = Object.entries({ ...pages, '/late': late }).map(([path, answer]): [string, RequestListener] => [
  path,
  (request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'" })
    return typeof answer === 'string' ? void response.end(answer) : answer(request, response)
  },
])
const stage = await openStage(t, {
  ...Object.fromEntries(served),
  '/never': () => {},
  '/sheet.css': (_, response) => void response.writeHead(200, { 'content-type': 'text/css' }).end('#one { background: #0f0 }'),
  '/script.js': (_, response) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end(turns('#00f')),
})

/** Expected effect of an option. */
interface Case {
  path?: string
  options: CaptureOptions
  /** Color at a point of the screenshot. */
  shows?: { x: number; y: number; color: number[] }
  warns?: RegExp
  fails?: { code: string; message?: RegExp }
  /** For options that cannot work without scripts. */
  withoutScripts?: Pick<Case, 'shows' | 'warns' | 'fails'>
}

const beside = (color: number[]) => ({ x: 900, y: 500, color })
const first = (color: number[]) => ({ x: 100, y: 150, color })
const WAITS_IN_VAIN: Pick<Case, 'options' | 'fails'> = {
  options: { waitForSelector: '#none', waitForSelectorTimeout: 200 },
  fails: { code: 'SELECTOR_NOT_FOUND', message: /within 200 ms/ },
}

const preparing: Record<keyof typeof preparingGroup.options, Case> = {
  styles: { options: { styles: 'body { background: #00f }' }, shows: beside(BLUE) },
  scripts: { options: { scripts: turns('#00f') }, shows: beside(BLUE) },
  click: { options: { click: 'a' }, shows: beside(GREEN) },
  initScript: {
    options: { initScript: `addEventListener('DOMContentLoaded', () => { ${turns('#00f')} })` },
    shows: beside(BLUE),
    withoutScripts: { warns: /^init_script has no effect if javascript_enabled is false/ },
  },
  scriptsWaitUntil: { options: { scripts: turns('#00f'), scriptsWaitUntil: ['load', 'networkidle'] }, shows: beside(BLUE) },
  scriptUrls: { options: { scriptUrls: [stage.site.url('/script.js')] }, shows: beside(BLUE) },
  styleUrls: { options: { styleUrls: [stage.site.url('/sheet.css')] }, shows: first(GREEN) },
  hideSelectors: { options: { hideSelectors: ['#one'] }, shows: first(GREEN) },
  includeShadowDom: {
    path: '/shadow',
    options: { includeShadowDom: true, hideSelectors: ['.gone'] },
    shows: { x: 100, y: 3, color: GREEN },
  },
  maskSelectors: { options: { maskSelectors: ['#one'] }, shows: first([255, 0, 255]) },
  maskColor: { options: { maskSelectors: ['#one'], maskColor: '#00f' }, shows: first(BLUE) },
  errorOnClickSelectorNotFound: { options: { click: '#none', errorOnClickSelectorNotFound: false }, shows: first(RED), warns: /#none/ },
  clickAll: { path: '/details', options: { clickAll: 'summary', failIfSelectorPresent: ['details:not([open])'] } },
  hover: { options: { hover: '#one', styles: '#one:hover { background: #0f0 }' }, shows: first(GREEN) },
  errorOnHoverSelectorNotFound: { options: { hover: '#none', errorOnHoverSelectorNotFound: false }, shows: first(RED), warns: /#none/ },
  pressKey: { options: { pressKey: 'Tab', styles: 'body:has(a:focus) { background: #00f }' }, shows: beside(BLUE) },
  scrollIntoView: { path: '/long', options: { scrollIntoView: '#deep' }, shows: first(GREEN) },
  scrollIntoViewAdjustTop: {
    path: '/long',
    options: { scrollIntoView: '#deep', scrollIntoViewAdjustTop: -150 },
    shows: { x: 100, y: 100, color: RED },
  },
  scrollX: { path: '/wide', options: { scrollX: 2_000 }, shows: { x: 500, y: 300, color: GREEN } },
  scrollY: { path: '/long', options: { scrollY: 3_200 }, shows: { x: 100, y: 500, color: BLUE } },
  disableAnimations: {
    options: {
      disableAnimations: true,
      styles: '@keyframes go { from { background: #f00 } to { background: #0f0 } } body { animation: go 600s forwards }',
    },
    shows: beside(GREEN),
  },
  pauseVideos: {
    path: '/video',
    options: { pauseVideos: true, styles: 'body:has(video:not([autoplay])) { background: #0f0 }' },
    shows: beside(GREEN),
  },
}

const waiting: Record<keyof typeof waitingGroup.options, Case> = {
  delay: { options: { delay: 100 }, shows: first(RED) },
  timeout: { path: '/late', options: { timeout: 60_000, waitForSelector: '#late' } },
  waitForSelector: { path: '/late', options: { waitUntil: ['commit'], waitForSelector: '#late' } },
  waitUntil: { options: { waitUntil: ['commit', 'domcontentloaded', 'load', 'networkidle'] }, shows: first(RED) },
  jobTimeout: { options: { jobTimeout: 60_000 }, shows: first(RED) },
  captureTimeout: { options: { captureTimeout: 60_000 }, shows: first(RED) },
  waitForSelectorState: { path: '/late', options: { waitUntil: ['commit'], waitForSelector: '#late', waitForSelectorState: 'attached' } },
  waitForSelectorTimeout: WAITS_IN_VAIN,
  waitForSelectorCount: { options: { waitForSelector: 'td', waitForSelectorCount: 2 }, shows: first(RED) },
  waitForSelectorGone: { options: { waitForSelectorGone: '#none' }, shows: first(RED) },
  waitForFunction: { path: '/late', options: { waitUntil: ['commit'], waitForFunction: 'document.querySelector("#late")' } },
  waitForFontsTimeout: { options: { waitForFontsTimeout: 0 }, shows: first(RED) },
  waitForImages: { options: { waitForImages: true }, shows: first(RED) },
  stabilityTimeout: { options: { stabilityTimeout: 100 }, shows: first(RED) },
  networkIdleTime: { options: { waitUntil: ['networkidle'], networkIdleTime: 200 }, shows: first(RED) },
  networkIdleMaxConnections: { options: { waitUntil: ['networkidle'], networkIdleMaxConnections: 1 }, shows: first(RED) },
  networkIdleTimeout: { options: { waitUntil: ['networkidle'], networkIdleTimeout: 5_000 }, shows: first(RED) },
  domIdleTime: { path: '/late', options: { waitUntil: ['commit'], domIdleTime: 1_500, failIfSelectorPresent: ['body:not(:has(#late))'] } },
  bestAttempt: { options: { ...WAITS_IN_VAIN.options, bestAttempt: true }, shows: first(RED), warns: /no visible element/ },
  retries: { options: { retries: 0 }, shows: first(RED) },
  retryDelay: { options: { retryDelay: 0 }, shows: first(RED) },
  blankPageAction: { path: '/blank', options: { blankPageAction: 'fail' }, fails: { code: 'BLANK_PAGE' } },
}

async function check(t: Test, path: string, { options, ...expected }: Case): Promise<void> {
  const { shows, warns, fails } = expected
  if (fails) return void t.match(await stage.fail(path, options), fails)
  const { pixels, findings } = await stage.shoot(path, options)
  if (shows) t.ok(isNear(pixels.at(shows.x, shows.y), shows.color, 0), `${pixels.at(shows.x, shows.y)}`)
  if (warns) t.match(findings.warnings, [warns])
  else t.strictSame(findings.warnings, [])
}

for (const [name, { path = '/boxes', ...one }] of Object.entries<Case>({ ...preparing, ...waiting })) {
  const { options, withoutScripts, ...expected } = one
  const does = withoutScripts ? 'reports that it cannot work' : 'works'
  // proves: wait_for_selector_timeout, styles, mask_color, click_all, hover, press_key, scroll_into_view, scroll_into_view_adjust_top, scroll_x, scroll_y
  t.test(`${name} ${does} on a page without scripts under default-src 'none'`, (t) =>
    check(t, path, { options: { ...options, javascriptEnabled: false }, ...(withoutScripts ?? expected) }),
  )
  // Options that run page scripts are tested in one of the two modes only.
  if (!/script/i.test(name)) continue
  t.test(`${name} works under default-src 'none'`, (t) => check(t, path, { options, ...expected }))
}

t.test('the table contains every option that prepares or waits', async (t) => {
  t.strictSame(Object.keys(preparing).sort(), Object.keys(preparingGroup.options).sort())
  t.strictSame(Object.keys(waiting).sort(), Object.keys(waitingGroup.options).sort())
})

t.test('a client’s script may await a settled promise on a page without scripts', async (t) => {
  const scripts = `const color = await '#00f'; await Promise.resolve(); document.body.style.background = color`
  const { pixels } = await stage.shoot('/boxes', { javascriptEnabled: false, scripts })
  t.ok(isNear(pixels.at(900, 500), BLUE))
})

t.test('a client’s script that awaits a timer on a page without scripts fails with an explanation', async (t) => {
  const options = { javascriptEnabled: false, scripts: 'await new Promise((done) => setTimeout(done, 10))', timeout: 2_000 }
  t.match(await stage.fail('/boxes', options), { code: 'TIMEOUT', message: /javascript_enabled/ })
  const asking = {
    javascriptEnabled: false,
    waitForFunction: 'new Promise((done) => setTimeout(done, 10, true))',
    waitForSelectorTimeout: 1_000,
  }
  t.match(await stage.fail('/boxes', asking), { code: 'TIMEOUT', message: /javascript_enabled/ })
})
