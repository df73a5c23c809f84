import path from 'node:path'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t from 'tap'
import { openLists } from '../../../../capture-runner/src/blocking/lists.ts'
import { ensureLists } from '../../../cluster/images/lists.ts'
import { choose, isFullLength } from '../../../support/length.ts'
import { type Pages, serving } from '../../capture-runner/stage/page-server.ts'
import { BLUE, GREEN, type Pixels, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { atPaths, markup, openStage, page, pathOf, SMALL_WINDOW } from '../options.ts'
import { BANNER_PAGES, bannerSite } from './banner-pages.ts'

// Blocking, checked by the requests to the sites and by the screenshot. Consent banners are removed from the screenshot, and the page looks as without
// them: those of libraries and platforms, banners without a rule or list entry, which are detected by their position and text, and late ones, although
// the page's virtual clock runs ahead of real time.

const turns = (color: string) => `document.body.style.background='${color}'`
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** A page whose body depends on the server's port. */
const at =
  (body: (port: string) => string): Pages[string] =>
  (request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(page('', `<p>A line.</p>${body(new URL(`http://${request.headers.host}`).port)}`))
  }
const script = serving('text/javascript', '')

interface Unwanted {
  options: CaptureOptions
  /** Attributes of an element that is hidden. */
  box?: string
  /** URLs that are not requested, without their ports. */
  blocked: readonly string[]
}
/** What the lists of each option block. One page has all of it. */
const UNWANTED: Readonly<Record<string, Unwanted>> = {
  ads: {
    options: { blockAds: true },
    box: 'class="adsbygoogle-wrapper"',
    blocked: ['pagead2.googlesyndication.com/pagead/js/adsbygoogle.js'],
  },
  trackers: { options: { blockTrackers: true }, blocked: ['pixel.quantserve.com/pixel.png'] },
  chats: { options: { blockChats: true }, box: 'id="intercom-container"', blocked: ['code.jivosite.com/widget.js'] },
  socials: { options: { blockSocials: true }, box: 'class="fb-like"', blocked: ['s7.addthis.com/en_US/embeds.js'] },
  annoyances: { options: { blockAnnoyances: true }, box: 'class="newsletter-slice"', blocked: [] },
  banners: {
    options: { blockCookieBanners: true, cookieBannerAction: 'hide' },
    box: 'id="onetrust-banner-sdk"',
    blocked: ['consent.cookiebot.com/uc.js'],
  },
}
const unwanted = Object.values(UNWANTED)
const placeOf = (index: number) => 20 + index * 160
const unwantedPage = (port: string): string =>
  unwanted
    .map(({ box = 'hidden', blocked }, index) => {
      const place = `position:absolute;left:${placeOf(index)}px;top:100px;width:150px;height:150px;background:#f00`
      const urls = blocked.map((url) => `http://${url.replace('/', `:${port}/`)}`)
      const parts = urls.map((url) => (url.endsWith('.js') ? `<script src="${url}"></script>` : `<img src="${url}">`))
      return `<div ${box} style="${place}">x</div>${parts.join('')}`
    })
    .join('')

const BAR = 'position:fixed;left:0;right:0;bottom:0;height:200px;z-index:9'
const RED_BAR = `${BAR};background:#f00`
const BLUE_BAR = `${BAR};background:#00f`
const TEXT = 'We use cookies. <button>Fine</button>'
const NAVIGATION = '<nav style="position:fixed;top:0;left:0;right:0;height:40px;background:#0f0"><a href="/">Home</a></nav>'
const around = (body: string): string => page('', `<h1>News</h1><p>A line.</p>${body}`)
const belowNavigation = (banner: string): string => page('', `<h1>News</h1>${NAVIGATION}${banner}`)
/** An element whose shadow root has this markup. */
const shadow = (name: string, markup: string, mode = 'open'): string =>
  `<${name}><template shadowrootmode="${mode}">${markup}</template></${name}>`
const closed = (name: string, markup: string): string => shadow(name, markup, 'closed')
const barOf = (host: typeof shadow): string => host('cookie-banner', `<div style="${RED_BAR}">${TEXT}</div>`)
const hostBarOf = (host: typeof shadow): string => host('cookie-banner', `<style>:host { ${RED_BAR} }</style><p>${TEXT}</p>`)
const ownBarOf = (host: typeof shadow): string =>
  host('site-footer', `<style>.cookie { color: red }</style><div style="${BLUE_BAR}">Now on air. <a href="/">Listen</a></div>`)

/** Banners that are in no list, many of them in shadow roots, as of web components. */
const UNLISTED: Readonly<Record<string, string>> = {
  'a banner in no list': `<div style="${RED_BAR}">${TEXT}</div>`,
  'a banner in a root': barOf(shadow),
  'a banner that is the host of a root': hostBarOf(shadow),
  'a banner in three roots': shadow('my-app', `<main>${shadow('my-layer', barOf(shadow))}</main>`),
  'a banner with its text in a root': `<div style="${RED_BAR}">${shadow('cookie-text', `<p>${TEXT}</p>`)}</div>`,
  'a banner in a closed root': barOf(closed),
  'a banner that is the host of a closed root': hostBarOf(closed),
  'a banner in closed roots of an open one': shadow('my-app', `<main>${closed('my-layer', barOf(closed))}</main>`),
  'a banner with its text in a closed root': `<div style="${RED_BAR}">${closed('cookie-text', `<p>${TEXT}</p>`)}</div>`,
  // Like libraries: attached by a script, to an element of any name.
  'a banner in a closed root of a script': `<div id="place"></div><script>document.querySelector('#place').attachShadow({ mode: 'closed' }).innerHTML =
     '<dialog open style="${RED_BAR};border:0;padding:0;margin:0;width:100%;max-width:none;top:auto">${TEXT}</dialog>'</script>`,
}
/** Bars of the page, which mention cookies only in their styles. */
const OWN_BARS: Readonly<Record<string, string>> = {
  'a bar of the page in a root': ownBarOf(shadow),
  'a bar of the page in a closed root': ownBarOf(closed),
}

/** Removes its container and records the choice. */
const button = (label: string, word: string): string =>
  `<button onclick="document.title='${word}';this.getRootNode().host?.remove();this.closest('.box')?.remove()">${label}</button>`
const CHOICE = `${button('Agree and continue', 'accepted')} ${button('Continue with required cookies only', 'refused')}`
const within = (mode: string, markup: string): string =>
  `<my-notice></my-notice><script>document.querySelector('my-notice').attachShadow({ mode: '${mode}' }).innerHTML = \`${markup}\`</script>`

/** Consent banners, in red. */
const BANNERS: Readonly<Record<string, string>> = {
  'a box': `<div class="box" style="${RED_BAR}">This shop likes cookies. ${CHOICE}</div>`,
  'an open shadow root': within('open', `<div style="${RED_BAR}">We use cookies. ${CHOICE.replaceAll('`', '')}</div>`),
  'a closed shadow root': within('closed', `<div style="${RED_BAR}">We use cookies. ${CHOICE.replaceAll('`', '')}</div>`),
  'a dialog in the top layer': `<dialog class="box" style="${RED_BAR};border:0;padding:0;margin:0;width:100%;max-width:none;top:auto">We use cookies. ${CHOICE}</dialog>
    <script>document.querySelector('dialog').showModal()</script>`,
  'a popover': `<div popover class="box" style="${RED_BAR};border:0;padding:0;margin:0;width:100%;top:auto">We use cookies. ${CHOICE}</div>
    <script>document.querySelector('[popover]').showPopover()</script>`,
  'a box that says nothing of cookies': `<div class="box" style="${RED_BAR}">We process your personal information. Read our <a href="/privacy">privacy policy</a>.
    ${button('Accept', 'accepted')} ${button('Decline', 'refused')}</div>`,
}

/** The page's own elements above it, in blue. */
const OWN: Readonly<Record<string, string>> = {
  'a newsletter dialog': `<div role="dialog" style="${BLUE_BAR}">Our newsletter: the week in one letter. <input type="email"> <button>Sign up</button> <button>No thanks</button></div>`,
  'a login dialog that names cookies': `<div role="dialog" style="${BLUE_BAR}">Log in. You need cookies for it. <input name="user"> <input type="password"> <button>Continue</button></div>`,
  'a header that links to the cookie policy': `<header style="${BLUE_BAR};bottom:auto;top:0;position:sticky"><nav><a href="/">Home</a> <a href="/cookies">Cookies</a> <a href="/ok">OK computer</a></nav></header>`,
  'a gate for the age of visitors': `<div role="dialog" style="${BLUE_BAR}">You must be over 18 to enter. This site uses cookies. <button>Yes</button> <button>No</button></div>`,
  'a basket of cookies': `<div style="${BLUE_BAR}">Two dozen cookies in your basket <button>Check out</button> <button>Remove</button></div>`,
  'an app of which the footer names cookies': `<div style="${BLUE_BAR};height:auto;top:0"><main><h1>Mail</h1><p>Nothing new.</p></main><footer>We use cookies. <button>OK</button></footer></div>`,
  'a player': `<div style="${BLUE_BAR}">Now on air. <button>Play</button></div>`,
}

/** A OneTrust banner that `show()` opens, and whose buttons run `end(word)`. */
const banner = (script: string): string =>
  page(
    'background:#fff',
    `<h1>News</h1><p id="said">asked nothing</p><script>
     const html = '<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" role="dialog" style="position:fixed;left:0;right:0;bottom:0;height:200px">We use cookies. ' +
       '<button id="onetrust-accept-btn-handler" onclick="end(\\'accepted\\')">Accept all</button><button id="onetrust-reject-all-handler" onclick="end(\\'refused\\')">Reject all</button></div></div>'
     const show = () => document.body.insertAdjacentHTML('beforeend', html)
     let end = (word) => { document.querySelector('#onetrust-consent-sdk').remove(); document.title = word }
     ${script}</script>`,
  )

const lists = openLists(path.join(await ensureLists(), 'lists'))
const stage = await openStage(
  t,
  {
    ...bannerSite(),
    ...atPaths(Object.fromEntries(Object.entries({ ...BANNERS, ...OWN }).map(([what, html]) => [what, around(html)]))),
    ...atPaths(Object.fromEntries(Object.entries({ ...UNLISTED, ...OWN_BARS }).map(([what, html]) => [what, belowNavigation(html)]))),
    ...Object.fromEntries(unwanted.flatMap(({ blocked }) => blocked.map((url) => [url.slice(url.indexOf('/')), script] as const))),
    '/unwanted': at((port) => `${unwantedPage(port)}<img src="/own.png">`),
    '/own.png': serving('image/png', pixel),
    '/timer': banner('setTimeout(show, 1300)'),
    '/chain': banner(
      "addEventListener('load', () => setTimeout(() => fetch('/config').then(() => requestAnimationFrame(() => setTimeout(show, 300))), 300))",
    ),
    '/config': (_, response) => void setTimeout(() => response.end('{}'), 300),
    '/reload': banner(
      "if (document.cookie.includes('said=')) document.title = document.cookie; else show(); end = (word) => { document.cookie = 'said=' + word; location.reload() }",
    ),
    '/polling': banner("setInterval(() => fetch('/config'), 50); setTimeout(show, 400)"),
    '/hung': banner("fetch('/never'); setTimeout(show, 400)"),
    '/never': () => {},
    '/later': markup`<p>A page.</p><script>
       let turns = 0; setInterval(() => { turns++ }, 100)
       setTimeout(() => { document.title = 'late: ' + (turns > 20) }, 3000)
       </script>`,
    '/many': at(
      (port) => `<img src="/pixel.png"><img src="http://other.example:${port}/pixel.png?far"><iframe src="/inner"></iframe>
       <script>fetch('/data.json').catch(() => {})</script>`,
    ),
    '/pixel.png': serving('image/png', pixel),
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
  },
  { lists, usual: SMALL_WINDOW },
)
const { port } = new URL(stage.site.url('/'))
/** The same with the requests, as `host/path`. */
const shootAt = async (path: string, options: CaptureOptions = {}, host = 'news.example') => {
  const before = stage.seen.length
  const shot = await stage.shootAt(`http://${host}:${port}${path}`, options)
  const asked = stage.seen.slice(before).map(({ path, headers }) => `${headers.host?.split(':')[0]}${path}`)
  return { ...shot, asked }
}

const shoot = (name: string, options: CaptureOptions = {}) =>
  stage.shootAt(`http://news.example:${port}/${name}`, { viewportWidth: 1200, viewportHeight: 800, ...options })

const plain = (await shoot('plain')).pixels

const OWN_REQUESTS = ['news.example/unwanted', 'news.example/own.png']
t.test('the control: without options that block, everything is requested and shown', async (t) => {
  const { asked, pixels } = await shootAt('/unwanted')
  t.strictSame(asked.toSorted(), [...OWN_REQUESTS, ...unwanted.flatMap(({ blocked }) => blocked)].toSorted())
  for (const [index, { box }] of unwanted.entries()) if (box) t.strictSame(pixels.at(placeOf(index), 200), RED, box)
})

for (const [index, [name, { options, box, blocked }]] of Object.entries(UNWANTED).entries()) {
  // proves: block_ads, block_trackers, block_chats, block_socials, block_annoyances, cookie_banner_action
  t.test(`requests of ${name} are blocked, and their elements hidden; the rest stays`, async (t) => {
    const { asked, pixels } = await shootAt('/unwanted', options)
    t.strictSame(
      blocked.filter((url) => asked.includes(url)),
      [],
    )
    t.strictSame(
      OWN_REQUESTS.filter((url) => !asked.includes(url)),
      [],
    )
    if (box) t.strictSame(pixels.at(placeOf(index), 200), WHITE)
  })
}

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

/** Colors where the bars and the navigation are. */
const barColors = ({ pixels }: Awaited<ReturnType<typeof stage.shoot>>) => [pixels.at(900, 600), pixels.at(900, 20)]

for (const what of Object.keys(UNLISTED)) {
  // proves: block_banners_by_heuristics
  t.test(`block_banners_by_heuristics hides ${what}, and keeps the page's own bar`, async (t) => {
    if (isFullLength) t.strictSame(barColors(await stage.shoot(pathOf(what))), [RED, GREEN], 'the control')
    t.strictSame(barColors(await stage.shoot(pathOf(what), { blockBannersByHeuristics: true })), [WHITE, GREEN])
  })
}

t.test('block_banners_by_heuristics keeps a bar of the page in a shadow root, open or closed', async (t) => {
  for (const what of Object.keys(OWN_BARS))
    t.strictSame(barColors(await stage.shoot(pathOf(what), { blockBannersByHeuristics: true })), [BLUE, GREEN], what)
})

/** Number of different pixels in a sample of one in nine. */
function differences(one: Pixels, other: Pixels): number {
  let count = 0
  for (let y = 0; y < one.height; y += 3) {
    for (let x = 0; x < one.width; x += 3) if (String(one.at(x, y)) !== String(other.at(x, y))) count += 1
  }
  return count
}

// `npm test` takes one library in four, and the platforms that the next test does not answer.
const PLATFORMS = ['Cookiebot', 'Usercentrics']

for (const name of choose(Object.keys(BANNER_PAGES), (name, index) => index % 4 === 1 || PLATFORMS.includes(name))) {
  // proves: block_cookie_banners
  t.test(`block_cookie_banners removes the banner of ${name} and leaves the page unchanged`, async (t) => {
    if (isFullLength) t.ok(differences((await shoot(name, { delay: 1_500 })).pixels, plain) > 100, 'the control')
    const { pixels, findings } = await shoot(name, { blockCookieBanners: true })
    t.equal(differences(pixels, plain), 0)
    t.comment(name, findings.pageTitle)
  })
}

t.test('option cookie_banner_action: rejects, accepts, or only hides', async (t) => {
  const said = async (name: string, cookieBannerAction: 'opt_out' | 'opt_in' | 'hide') => {
    const { pixels, findings } = await shoot(name, { blockCookieBanners: true, cookieBannerAction })
    t.equal(differences(pixels, plain), 0, `${name} ${cookieBannerAction}`)
    return findings.pageTitle
  }
  const names = ['OneTrust', 'Sourcepoint', 'Didomi', 'vanilla-cookieconsent']
  for (const name of choose(names, (_, index) => index === 0 || index === 3)) {
    t.equal(await said(name, 'opt_out'), 'refused')
    t.equal(await said(name, 'opt_in'), 'accepted')
  }
  t.equal(await said('OneTrust', 'hide'), 'asked nothing')
})

// proves: block_cookie_banners
t.test('block_cookie_banners changes nothing on a page that has none', async (t) => {
  t.equal(differences((await shoot('plain', { blockCookieBanners: true })).pixels, plain), 0)
})

/** A pixel that the bars cover. */
const pixelOf = ({ pixels }: Awaited<ReturnType<typeof stage.shoot>>, at: string) => pixels.at(900, at.includes('header') ? 200 : 600)

for (const name of Object.keys(BANNERS)) {
  const at = pathOf(name)
  // proves: block_cookie_banners, cookie_banner_action
  t.test(`block_cookie_banners handles a banner without a rule: ${name}`, async (t) => {
    if (isFullLength) t.strictSame(pixelOf(await stage.shoot(at), at), RED, 'the control')
    const choices = [
      ['opt_out', 'refused'],
      ['opt_in', 'accepted'],
    ] as const
    for (const [cookieBannerAction, word] of choose(choices, ([action]) => action === 'opt_out')) {
      const shot = await stage.shoot(at, { blockCookieBanners: true, cookieBannerAction })
      t.strictSame([pixelOf(shot, at), shot.findings.pageTitle], [WHITE, word])
    }
    const hidden = await stage.shoot(at, { blockCookieBanners: true, cookieBannerAction: 'hide' })
    t.strictSame([pixelOf(hidden, at), hidden.findings.pageTitle], [WHITE, 'A page'])
  })
}

for (const name of Object.keys(OWN)) {
  const at = pathOf(name)
  // proves: block_cookie_banners
  t.test(`block_cookie_banners keeps the page's own element: ${name}`, async (t) => {
    for (const cookieBannerAction of choose(['opt_out', 'opt_in', 'hide'] as const, (action) => action === 'opt_out')) {
      t.strictSame(pixelOf(await stage.shoot(at, { blockCookieBanners: true, cookieBannerAction }), at), BLUE, cookieBannerAction)
    }
  })
}

for (const [path, what] of [
  ['/timer', 'one that comes by a timer'],
  ['/chain', 'one that comes after a timer, an answer, a frame and another timer'],
  ['/polling', 'one of a page that asks for something all the time'],
  ['/hung', 'one of a page that waits for an answer that never comes'],
] as const) {
  // proves: block_cookie_banners
  t.test(`block_cookie_banners handles a late banner: ${what}`, async (t) => {
    const { findings } = await stage.shoot(path, { blockCookieBanners: true })
    t.equal(findings.pageTitle, 'refused')
  })
}

t.test('block_cookie_banners follows a reload after the choice', async (t) => {
  const { findings } = await stage.shoot('/reload', { blockCookieBanners: true })
  t.equal(findings.pageTitle, 'said=refused')
  t.equal(stage.seen.filter((request) => request.path === '/reload').length, 2)
})

t.test('timers of a page continue after the banner step, while later options wait', async (t) => {
  for (const options of [{ waitForFunction: "document.title.startsWith('late')" }, { delay: 3_500 }, { stabilityTimeout: 4_000 }]) {
    const { findings } = await stage.shoot('/later', { blockCookieBanners: true, ...options })
    t.equal(findings.pageTitle, 'late: true', JSON.stringify(options))
  }
})
