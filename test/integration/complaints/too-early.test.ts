// What users say of pictures that are taken too early, or never: blank ones, networks without rest, screenshots that hang, dead third parties.

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { GREEN, isNear, RED, WHITE } from '../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options/options.ts'

const turns = (color: string) => `document.body.style.background = '${color}'`
const WINDOW = { viewportWidth: 600, viewportHeight: 400 }

/** Accepts connections and never answers: what a third party does that is down behind its balancer. */
const dead = createServer(() => {})
dead.listen(0, '127.0.0.1')
await once(dead, 'listening')
/** Nobody listens there any more. */
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

/** A green image that takes its time. */
const after =
  (milliseconds: number): RequestListener =>
  (_, response) => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><rect width="300" height="300" fill="#0f0"/></svg>'
    setTimeout(() => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(svg), milliseconds)
  }

const stage = await openStage(
  t,
  {
    // Nothing but a place for what a script draws from an answer that takes its time, as single-page applications are.
    '/application': page(
      '',
      `<main id="root"></main><script>fetch('/data').then((answer) => answer.text()).then((text) => { root.innerHTML = text; ${turns('#0f0')} })</script>`,
    ),
    '/data': (_, response) => void setTimeout(() => response.end('<h1>There it is</h1>'), 1_200),
    '/never-drawn': page('', `<main id="root"></main><script>fetch('/broken').then(() => {})</script>`),
    '/broken': (_, response) => void response.writeHead(500).end(),
    '/half': page('background:#fff', '<p>Text.</p><img src="/late.svg" width="300" height="300" style="display:block">'),
    '/background': page('background:url(/soon.svg)', '<p>Text.</p>'),
    '/late.svg': after(700),
    '/soon.svg': after(250),
    // A stream, a socket, a beacon each moment, a question that is answered when there is news, and a poll: of such are chats and tickers made.
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
    '/poll': (_, response) => void setTimeout(() => response.end('x'), 300),
    '/news': () => {},
    // The font is wanted once the page has loaded, and never comes.
    '/font': page(
      'background:#0f0',
      `<p>Text that waits for its font.</p><script>addEventListener('load', () => { document.body.className = 'loaded' })</script>`,
      '<style>@font-face { font-family: late; src: url(/news); font-display: block } .loaded p { font-family: late }</style>',
    ),
    // Its script begins with the first section of the picture, and never ends.
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

t.test('complaint: blank or half-loaded pictures: what a script draws late is in it, without an option', async (t) => {
  const { color, warnings } = await cornerOf('/application')
  t.ok(isNear(color, GREEN), `${color}`)
  t.strictSame(warnings, [])
})

t.test('complaint: blank or half-loaded pictures: images that come after the load event are in it', async (t) => {
  t.ok(isNear((await cornerOf('/half')).pixels.at(100, 200), GREEN))
  t.ok(isNear((await cornerOf('/background')).color, GREEN))
})

t.test('complaint: blank or half-loaded pictures: one that stays blank is told of, and fails where that is asked for', async (t) => {
  const { color, warnings } = await cornerOf('/never-drawn')
  t.ok(isNear(color, WHITE))
  t.match(warnings, ['the picture shows one color and nothing else'])
  t.match(await stage.fail('/never-drawn', { blankPageAction: 'fail' }), { code: 'BLANK_PAGE' })
})

t.test('complaint: networks that never go idle end in timeouts: streams, sockets and beacons count as rest', async (t) => {
  const { color, warnings } = await cornerOf('/streams', { waitUntil: ['networkidle'] })
  t.ok(isNear(color, GREEN))
  t.strictSame(warnings, [])
})

t.test('complaint: networks that never go idle end in timeouts: a poll costs a warning, not the picture', async (t) => {
  const { color, warnings } = await cornerOf('/restless', { waitUntil: ['networkidle'], networkIdleTimeout: 1_500 })
  t.ok(isNear(color, GREEN))
  t.strictSame(warnings, ['the network was not idle within 1500 ms'])
  t.ok(isNear((await cornerOf('/restless')).color, GREEN), 'nobody waits for it who has not asked for it')
})

t.test('complaint: the screenshot call hangs: it waits for no font for longer than wait_for_fonts_timeout', async (t) => {
  const { pixels, warnings, color } = await cornerOf('/font', { fullPage: true, waitForFontsTimeout: 500 })
  t.ok(isNear(color, GREEN))
  t.strictSame(warnings, ['fonts or images were still loading when the picture was taken'])
  t.equal(pixels.height, 400)
})

t.test('complaint: the screenshot call hangs: a page that paints without end is taken as it is', async (t) => {
  t.ok(isNear((await cornerOf('/animated')).color, GREEN))
})

t.test(
  'complaint: the screenshot call hangs: a script without end is ended with the time for the picture, and the next page is taken',
  async (t) => {
    const error = await stage.fail('/busy', {
      fullPage: true,
      fullPageAlgorithm: 'stitch',
      fullPageSectionHeight: 500,
      captureTimeout: 1_000,
      // The script begins when the page is laid out anew, which would be before the picture.
      stabilityTimeout: 0,
    })
    t.match(error, { code: 'TIMEOUT', message: 'the picture was not taken within 1000 ms' })
    t.ok(isNear((await cornerOf('/green')).color, GREEN))
  },
)

t.test('complaint: one dead third party ruins the job: refused, unknown and broken ones leave the page as it is', async (t) => {
  const { color, warnings } = await cornerOf('/third-parties')
  t.ok(isNear(color, GREEN))
  t.strictSame(warnings, [])
})

t.test('complaint: one dead third party ruins the job: one that is silent costs no picture with best_attempt', async (t) => {
  const patience = { timeout: 1_500, waitForFontsTimeout: 0 }
  const { color, warnings } = await cornerOf('/dead-script', { ...patience, bestAttempt: true })
  t.ok(isNear(color, GREEN))
  t.strictSame(warnings, ['the page did not load within 1500 ms'])
  t.ok(isNear((await cornerOf('/dead-script', { waitUntil: ['domcontentloaded'] })).color, GREEN), 'nor when less is waited for')
  t.ok(isNear((await cornerOf('/dead-blocking-script', { ...patience, bestAttempt: true })).color, RED), 'as far as the page has come')
})

t.test('complaint: failures are opaque: one that ends the capture has a code and says after how long', async (t) => {
  t.match(await stage.fail('/dead-script', { timeout: 1_500 }), { code: 'TIMEOUT', message: 'the page did not load within 1500 ms' })
  t.match(await stage.fail('/third-parties', { failIfRequestFailed: ['*/counter.js'] }), { code: 'CONTENT_RULE', message: /counter\.js/ })
})
