import path from 'node:path'
import t from 'tap'
import { openLists } from '../../../../capture-runner/src/blocking/lists.ts'
import { ensureLists } from '../../../cluster/images/lists.ts'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import { type Pages, serving } from '../../capture-runner/stage/page-server.ts'
import { BLUE, GREEN, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page } from '../options.ts'

// Blocking, checked by the requests to the sites and by the screenshot. Every name resolves to one site here.

const turns = (color: string) => `document.body.style.background='${color}'`
const block = (attributes: string) => `<div ${attributes} style="width:300px;height:200px;background:#f00">x</div>`
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** A page whose body depends on the server's port. */
const at =
  (body: (port: string) => string): Pages[string] =>
  (request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(page('', `<p>A line.</p>${body(new URL(`http://${request.headers.host}`).port)}`))
  }
const script = serving('text/javascript', turns('#f00'))
const picture = serving('image/png', pixel)
const scriptAt = (address: string) => `<script src="http://${address}"></script>`

const BAR = 'position:fixed;left:0;right:0;bottom:0;height:300px;background:#f00;z-index:9'
const TEXT = 'We use cookies. <button>Fine</button>'
const NAVIGATION = '<nav style="position:fixed;top:0;left:0;right:0;height:40px;background:#0f0"><a href="/">Home</a></nav>'
/** An element whose shadow root has this markup. */
const shadow = (name: string, markup: string, mode = 'open'): string =>
  `<${name}><template shadowrootmode="${mode}">${markup}</template></${name}>`
const closed = (name: string, markup: string): string => shadow(name, markup, 'closed')
const around = (banner: string): string => page('', `<h1>News</h1>${NAVIGATION}${banner}`)

const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
t.teardown(() => names.close())
const lists = openLists(path.join(await ensureLists(), 'lists'))
const stage = await openStage(
  t,
  {
    '/ads': at(
      (port) =>
        `${block('class="adsbygoogle-wrapper"')}${scriptAt(`pagead2.googlesyndication.com:${port}/pagead/js/adsbygoogle.js`)}<img src="/pixel.png">`,
    ),
    '/pagead/js/adsbygoogle.js': script,
    '/counted': at(
      (port) => `${scriptAt(`www.google-analytics.com:${port}/analytics.js`)}<img src="http://pixel.quantserve.com:${port}/pixel.png">`,
    ),
    '/analytics.js': script,
    '/chat': at((port) => `${block('id="intercom-container"')}${scriptAt(`code.jivosite.com:${port}/widget.js`)}`),
    '/widget.js': script,
    '/social': at((port) => `${block('class="fb-like"')}${scriptAt(`s7.addthis.com:${port}/en_US/embeds.js`)}`),
    '/en_US/embeds.js': script,
    '/annoying': at(() => block('class="newsletter-slice"')),
    '/banner': at((port) => `${block('id="onetrust-banner-sdk"')}${scriptAt(`cdn.cookielaw.org:${port}/otSDKStub.js`)}`),
    '/otSDKStub.js': script,
    '/many': at(
      (port) => `<img src="/pixel.png"><img src="http://other.example:${port}/pixel.png?far"><iframe src="/inner"></iframe>
       <script>fetch('/data.json').catch(() => {})</script>`,
    ),
    '/pixel.png': picture,
    '/data.json': script,
    '/inner': page('', '<p>Inner.</p>'),
    '/socket': markup`<p>A line.</p><script>const s = new WebSocket('ws://' + location.host + '/ws'); s.onerror = () => { ${turns('#0f0')} }</script>`,
    '/worker': markup`<p>A line.</p><script>navigator.serviceWorker?.register('/sw.js').then(() => navigator.serviceWorker.ready).then(async () => {
       if (sessionStorage.again) { document.title = (await (await fetch('/answer')).text()); return }
       sessionStorage.again = 1; location.reload() })</script>`,
    '/sw.js': serving(
      'text/javascript',
      `addEventListener('fetch', (e) => { if (e.request.url.endsWith('/answer')) e.respondWith(new Response('by the worker')) })`,
    ),
    '/answer': serving('text/plain', 'by the site'),
    '/unknown-banner': markup`<h1>News</h1><div style="position:fixed;left:0;right:0;bottom:0;height:300px;background:#f00;z-index:9">We use cookies. <button>Fine</button></div>
       <nav style="position:fixed;top:0;left:0;right:0;height:40px;background:#0f0"><a href="/">Home</a></nav>`,
    '/inside': around(shadow('cookie-banner', `<div style="${BAR}">${TEXT}</div>`)),
    '/host': around(shadow('cookie-banner', `<style>:host { ${BAR} }</style><p>${TEXT}</p>`)),
    '/deep': around(shadow('my-app', `<main>${shadow('my-layer', shadow('cookie-banner', `<div style="${BAR}">${TEXT}</div>`))}</main>`)),
    '/split': around(`<div style="${BAR}">${shadow('cookie-text', `<p>${TEXT}</p>`)}</div>`),
    '/closed-inside': around(closed('cookie-banner', `<div style="${BAR}">${TEXT}</div>`)),
    '/closed-host': around(closed('cookie-banner', `<style>:host { ${BAR} }</style><p>${TEXT}</p>`)),
    '/closed-deep': around(
      shadow('my-app', `<main>${closed('my-layer', closed('cookie-banner', `<div style="${BAR}">${TEXT}</div>`))}</main>`),
    ),
    '/closed-split': around(`<div style="${BAR}">${closed('cookie-text', `<p>${TEXT}</p>`)}</div>`),
    // Like libraries: attached by a script, to an element of any name.
    '/closed-script': around(
      `<div id="place"></div><script>document.querySelector('#place').attachShadow({ mode: 'closed' }).innerHTML =
     '<dialog open style="${BAR};border:0;padding:0;margin:0;width:100%;max-width:none;top:auto">${TEXT}</dialog>'</script>`,
    ),
    '/closed-own': around(
      closed(
        'site-player',
        `<style>.cookie { color: red }</style><div style="${BAR};background:#00f">Now on air. <a href="/">Listen</a></div>`,
      ),
    ),
    // The page's own bar, which mentions cookies only in its style.
    '/own': around(
      shadow(
        'site-footer',
        `<style>.cookie { color: red }</style><div style="${BAR};background:#00f">Now on air. <a href="/">Listen</a></div>`,
      ),
    ),
  },
  { lists, guard: { dnsServers: [names.address] } },
)
const { port } = new URL(stage.site.url('/'))
const shootAt = async (path: string, options: Parameters<typeof stage.shoot>[1] = {}, host = 'news.example') => {
  const before = stage.seen.length
  const shot = await stage.shootAt(`http://${host}:${port}${path}`, options)
  const asked = stage.seen.slice(before).map(({ path, headers }) => `${headers.host?.split(':')[0]}${path}`)
  return { ...shot, asked }
}

t.test('option block_ads: blocks scripts of ads and hides their boxes; the rest stays', async (t) => {
  const bare = await shootAt('/ads')
  t.ok(bare.asked.includes('pagead2.googlesyndication.com/pagead/js/adsbygoogle.js'))
  t.strictSame([bare.pixels.at(100, 150), bare.pixels.at(900, 600)], [RED, RED])
  const { asked, pixels } = await shootAt('/ads', { blockAds: true })
  t.strictSame(asked, ['news.example/ads', 'news.example/pixel.png'])
  t.strictSame([pixels.at(100, 150), pixels.at(900, 600)], [WHITE, WHITE])
})

t.test('option block_trackers: blocks trackers', async (t) => {
  t.ok((await shootAt('/counted')).asked.includes('pixel.quantserve.com/pixel.png'))
  const { asked, pixels } = await shootAt('/counted', { blockTrackers: true })
  t.strictSame(asked, ['news.example/counted'])
  t.strictSame(pixels.at(900, 600), WHITE)
})

for (const [name, option, path] of [
  ['block_chats', 'blockChats', '/chat'],
  ['block_socials', 'blockSocials', '/social'],
] as const) {
  // proves: block_chats, block_socials
  t.test(`${name} blocks scripts and hides elements`, async (t) => {
    const { asked, pixels } = await shootAt(path, { [option]: true })
    t.strictSame(asked, [`news.example${path}`])
    t.strictSame(pixels.at(100, 150), WHITE)
    const bare = await shootAt(path)
    t.strictSame([bare.asked.length, bare.pixels.at(100, 150)], [2, RED])
  })
}

t.test('option block_annoyances: hides them', async (t) => {
  t.strictSame((await shootAt('/annoying', { blockAnnoyances: true })).pixels.at(100, 150), WHITE)
  t.strictSame((await shootAt('/annoying')).pixels.at(100, 150), RED)
})

t.test('option cookie_banner_action: hide also blocks the banner’s script', async (t) => {
  const { asked, pixels } = await shootAt('/banner', { blockCookieBanners: true, cookieBannerAction: 'hide' })
  t.strictSame(asked, ['news.example/banner'])
  t.strictSame(pixels.at(100, 150), WHITE)
})

t.test('option block_banners_by_heuristics: hides a banner that is in no list, and keeps the page’s own bar', async (t) => {
  const { pixels } = await shootAt('/unknown-banner', { blockBannersByHeuristics: true })
  t.strictSame([pixels.at(900, 1000), pixels.at(900, 20)], [WHITE, GREEN])
  t.strictSame((await shootAt('/unknown-banner')).pixels.at(900, 1000), RED)
})

t.test('option block_requests: blocks URLs by patterns', async (t) => {
  const { asked } = await shootAt('/many', { blockRequests: ['*://other.example*', '*/data.*'] })
  t.strictSame(asked.toSorted(), ['news.example/inner', 'news.example/many', 'news.example/pixel.png'])
})

t.test('option block_resources: blocks resource types, including WebSockets', async (t) => {
  const { asked } = await shootAt('/many', { blockResources: ['image', 'document'] })
  t.strictSame(asked.toSorted(), ['news.example/data.json', 'news.example/many'])
  const socket = await shootAt('/socket', { blockResources: ['websocket'], delay: 200 })
  t.strictSame(socket.pixels.at(900, 600), GREEN)
  t.notOk(stage.site.requests.includes('GET /ws'))
})

t.test('option allow_requests: takes precedence over all blocking', async (t) => {
  const { asked } = await shootAt('/many', {
    blockResources: ['image', 'fetch', 'document'],
    blockThirdParty: true,
    allowRequests: ['*?far'],
  })
  t.strictSame(asked.toSorted(), ['news.example/many', 'other.example/pixel.png?far'])
})

t.test('option block_third_party: blocks other sites', async (t) => {
  const { asked } = await shootAt('/many', { blockThirdParty: true })
  t.notOk(asked.some((request) => request.startsWith('other.example')))
  t.ok(asked.includes('news.example/pixel.png'))
})

t.test('option block_service_workers: responses come from the site', async (t) => {
  const options = { waitForFunction: 'document.title.startsWith("by")' }
  t.equal((await shootAt('/worker', { ...options, blockServiceWorkers: true }, '127.0.0.1')).findings.pageTitle, 'by the site')
  t.equal((await shootAt('/worker', options, '127.0.0.1')).findings.pageTitle, 'by the worker')
})

// Banners in shadow roots, as of many web components.

for (const path of [
  '/inside',
  '/host',
  '/deep',
  '/split',
  '/closed-inside',
  '/closed-host',
  '/closed-deep',
  '/closed-split',
  '/closed-script',
]) {
  t.test(`banners in shadow roots are hidden, and the page's own bar stays: ${path}`, async (t) => {
    t.strictSame((await stage.shoot(path)).pixels.at(900, 1000), RED, 'the control')
    const { pixels } = await stage.shoot(path, { blockBannersByHeuristics: true })
    t.strictSame([pixels.at(900, 1000), pixels.at(900, 20)], [WHITE, GREEN])
  })
}

t.test('block_banners_by_heuristics keeps a bar of the page in a shadow root, open or closed', async (t) => {
  for (const path of ['/own', '/closed-own'])
    t.strictSame((await stage.shoot(path, { blockBannersByHeuristics: true })).pixels.at(900, 1000), BLUE, path)
})
