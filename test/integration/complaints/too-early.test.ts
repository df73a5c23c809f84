import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { serving, servingGreen } from '../capture-runner/stage/page-server.ts'
import { GREEN, isNear, RED, WHITE } from '../capture-runner/stage/pixels.ts'
import { markup, openStage, page } from '../options/options.ts'

// Complaints about screenshots that are too early or never taken: blank pages, networks that are never idle, hangs, dead third parties.

const turns = (color: string) => `document.body.style.background = '${color}'`
const WINDOW = { viewportWidth: 600, viewportHeight: 400 }

/** Accepts connections and never responds, like a third party that is down behind its load balancer. */
const dead = createServer(() => {})
dead.listen(0, '127.0.0.1')
await once(dead, 'listening')
/** A port where nothing listens. */
const closed = createServer().listen(0, '127.0.0.1')
await once(closed, 'listening')
const closedPort = (closed.address() as AddressInfo).port
closed.close()
const silent = (path: string) => `http://127.0.0.1:${(dead.address() as AddressInfo).port}${path}`
const refused = (path: string) => `http://127.0.0.1:${closedPort}${path}`
const names = await startDnsServer(() => undefined)
t.teardown(() => {
  dead.closeAllConnections()
  dead.close()
  return names.close()
})

const stage = await openStage(
  t,
  {
    // Like a single-page application: a script draws content from a slow response.
    '/application': markup`<main id="root"></main><script>fetch('/data').then((answer) => answer.text()).then((text) => { root.innerHTML = text; ${turns('#0f0')} })</script>`,
    '/data': serving('text/plain', '<h1>There it is</h1>', 1_200),
    '/never-drawn': page('', `<main id="root"></main><script>fetch('/broken').then(() => {})</script>`),
    '/broken': (_, response) => void response.writeHead(500).end(),
    '/half': page('background:#fff', '<p>Text.</p><img src="/late.svg" width="300" height="300" style="display:block">'),
    '/background': page('background:url(/soon.svg)', '<p>Text.</p>'),
    // Backgrounds load at the first layout, which may be after the load event. No script can detect whether one has loaded.
    ...Object.fromEntries(
      ['late', 'news', 'missing'].map((name) => [
        `/backed-${name}`,
        page(
          `background-color:${name === 'late' ? '#f00' : '#0f0'}`,
          '<p>Text.</p><script>onload = () => { document.body.className = "backed" }</script>',
          `<style>.backed { background-image: url(/${name}.svg) }</style>`,
        ),
      ]),
    ),
    '/news.svg': () => {},
    '/late.svg': servingGreen(300, 300, 700),
    '/soon.svg': servingGreen(300, 300, 250),
    // Like chats and tickers: a stream, a socket, frequent beacons, a long poll and a poll.
    '/restless': page(
      'background:#0f0',
      `<p>Text.</p><script>
       new EventSource('/events'); new WebSocket('ws://' + location.host + '/socket'); fetch('/news')
       setInterval(() => navigator.sendBeacon('/beacon', 'x'), 50)
       setInterval(() => fetch('/poll'), 100)</script>`,
    ),
    '/streams': page('background:#0f0', `<p>Text.</p><script>new EventSource('/events'); navigator.sendBeacon('/beacon', 'x')</script>`),
    '/events': (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n'),
    '/beacon': (_, response) => void response.writeHead(204).end(),
    '/poll': serving('text/plain', 'x', 300),
    '/news': () => {},
    // The page requests the font after its load event, and the font never loads.
    '/font': page(
      'background:#0f0',
      `<p>Text that waits for its font.</p><script>addEventListener('load', () => { document.body.className = 'loaded' })</script>`,
      '<style>@font-face { font-family: late; src: url(/news); font-display: block } .loaded p { font-family: late }</style>',
    ),
    // Its script begins with the first section of the screenshot, and never ends.
    '/busy': page('', '<div style="height:9000px">Text.</div><script>addEventListener("resize", () => { for (;;); })</script>'),
    '/animated': page(
      'background:#0f0',
      `<p>Text.</p><script>const frame = () => { document.title = Math.random(); requestAnimationFrame(frame) }; frame()</script>`,
    ),
    '/green': page('background:#0f0', '<p>Text.</p>'),
    '/third-parties': page(
      'background:#0f0',
      `<p>Text.</p><img src="${refused('/pixel.gif')}"><img src="http://gone.invalid/pixel.gif"><script src="${refused('/counter.js')}"></script>
       <script src="/broken"></script><link rel="stylesheet" href="http://gone.invalid/fonts.css"><iframe src="${refused('/ad')}" width="50" height="20"></iframe>`,
    ),
    '/dead-script': page('background:#0f0', `<p>Text.</p><script async src="${silent('/counter.js')}"></script>`),
    '/dead-blocking-script': page(
      'background:#f00',
      `<p>Text.</p><script src="${silent('/library.js')}"></script><script>${turns('#0f0')}</script>`,
    ),
  },
  { guard: { dnsServers: [names.address] } },
)
const cornerOf = async (path: string, options: Parameters<typeof stage.shoot>[1] = {}) => {
  const { pixels, findings } = await stage.shoot(path, { ...WINDOW, ...options })
  return { color: pixels.at(500, 350), warnings: findings.warnings, pixels }
}

t.test('complaint: blank or half-loaded pictures: content that a script draws late is captured without an option', async (t) => {
  const { color, warnings } = await cornerOf('/application')
  t.ok(isNear(color, GREEN), `${color}`)
  t.strictSame(warnings, [])
})

t.test('complaint: blank or half-loaded pictures: images after the load event are captured', async (t) => {
  t.ok(isNear((await cornerOf('/half')).pixels.at(100, 200), GREEN))
  t.ok(isNear((await cornerOf('/background')).color, GREEN))
  t.ok(isNear((await cornerOf('/backed-late')).color, GREEN), 'a background that loads after the load event')
})

t.test('a background that never loads does not block the screenshot', async (t) => {
  for (const path of ['/backed-news', '/backed-missing']) {
    const { color, warnings } = await cornerOf(path)
    t.ok(isNear(color, GREEN), path)
    t.strictSame(warnings, [], path)
  }
})

// proves: blank_page_action
t.test('complaint: blank or half-loaded pictures: a page that stays blank adds a warning, or fails if configured', async (t) => {
  const { color, warnings } = await cornerOf('/never-drawn')
  t.ok(isNear(color, WHITE))
  t.match(warnings, ['the picture shows one color and almost nothing else'])
  t.match(await stage.fail('/never-drawn', { blankPageAction: 'fail' }), { code: 'BLANK_PAGE' })
})

t.test('complaint: networks that never go idle end in timeouts: streams, sockets and beacons count as idle', async (t) => {
  const { color, warnings } = await cornerOf('/streams', { waitUntil: ['networkidle'] })
  t.ok(isNear(color, GREEN))
  t.strictSame(warnings, [])
})

// proves: network_idle_timeout
t.test('complaint: networks that never go idle end in timeouts: a poll adds a warning', async (t) => {
  const { color, warnings } = await cornerOf('/restless', { waitUntil: ['networkidle'], networkIdleTimeout: 1_500 })
  t.ok(isNear(color, GREEN))
  t.equal(warnings[0], 'the network was not idle within 1500 ms')
  t.ok(isNear((await cornerOf('/restless')).color, GREEN), 'there is no wait without the option')
})

// proves: wait_for_fonts_timeout
t.test('complaint: the screenshot call hangs: the wait for fonts ends after wait_for_fonts_timeout', async (t) => {
  const { pixels, warnings, color } = await cornerOf('/font', { fullPage: true, waitForFontsTimeout: 500 })
  t.ok(isNear(color, GREEN))
  t.strictSame(warnings, ['fonts or images were still loading when the picture was taken'])
  t.equal(pixels.height, 400)
})

t.test('complaint: the screenshot call hangs: a page that paints endlessly is captured', async (t) => {
  t.ok(isNear((await cornerOf('/animated')).color, GREEN))
})

// proves: capture_timeout
t.test('complaint: the screenshot call hangs: an endless script fails at capture_timeout, and the next page succeeds', async (t) => {
  const error = await stage.fail('/busy', {
    ...{ clipX: 0, clipY: 0, clipWidth: 100, clipHeight: 3_000 },
    captureTimeout: 1_000,
    // The script begins at a new layout, which would be before the screenshot.
    stabilityTimeout: 0,
  })
  t.match(error, { code: 'TIMEOUT', message: 'the picture was not taken within 1000 ms' })
  t.ok(isNear((await cornerOf('/green')).color, GREEN))
})

t.test('complaint: one dead third party ruins the job: blocked, unknown and broken ones do not affect the page', async (t) => {
  const { color, warnings } = await cornerOf('/third-parties')
  t.ok(isNear(color, GREEN))
  t.strictSame(warnings, [])
})

t.test('complaint: one dead third party ruins the job: with best_attempt, one that never responds does not fail the capture', async (t) => {
  const patience = { timeout: 1_500, waitForFontsTimeout: 0 }
  const { color, warnings } = await cornerOf('/dead-script', { ...patience, bestAttempt: true })
  t.ok(isNear(color, GREEN))
  t.match(warnings, ['the page did not load within 1500 ms', /^the page was still waiting for http:.*\/counter\.js when/])
  t.ok(isNear((await cornerOf('/dead-script', { waitUntil: ['domcontentloaded'] })).color, GREEN), 'nor with an earlier wait_until')
  t.ok(isNear((await cornerOf('/dead-blocking-script', { ...patience, bestAttempt: true })).color, RED), 'the loaded part of the page')
})

// proves: timeout
t.test('complaint: failures are opaque: a failure has a code, and a timeout names its limit', async (t) => {
  t.match(await stage.fail('/dead-script', { timeout: 1_500 }), { code: 'TIMEOUT', message: 'the page did not load within 1500 ms' })
  t.match(await stage.fail('/third-parties', { failIfRequestFailed: ['*/counter.js'] }), { code: 'CONTENT_RULE', message: /counter\.js/ })
})
