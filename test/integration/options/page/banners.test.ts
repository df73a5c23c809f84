import path from 'node:path'
import t from 'tap'
import { openLists } from '../../../../capture-runner/src/blocking/lists.ts'
import { ensureLists } from '../../../cluster/images/lists.ts'
import { choose } from '../../../support/length.ts'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import { BLUE, type Pixels, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page } from '../options.ts'
import { BANNER_PAGES, bannerSite } from './banner-pages.ts'

// Consent banners are removed from the screenshot, and the page looks as without them: those of libraries and platforms, banners without a rule or list
// entry, which are detected by their position and text, and late ones, although the page's virtual clock runs ahead of real time.

const BAR = 'position:fixed;left:0;right:0;bottom:0;height:300px;z-index:9'
const RED_BAR = `${BAR};background:#f00`
const BLUE_BAR = `${BAR};background:#00f`
const around = (body: string): string => page('', `<h1>News</h1><p>A line.</p>${body}`)
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

const entries = (pages: Readonly<Record<string, string>>) =>
  Object.entries(pages).map(([name, markup]) => ({ name, at: `/${name.replaceAll(' ', '-')}`, markup }))
const all = [...entries(BANNERS), ...entries(OWN)]

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

const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
t.teardown(() => names.close())
const lists = openLists(path.join(await ensureLists(), 'lists'))
const stage = await openStage(
  t,
  {
    ...bannerSite(),
    ...Object.fromEntries(all.map(({ at, markup }) => [at, around(markup)])),
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
  },
  { lists, guard: { dnsServers: [names.address] } },
)
const { port } = new URL(stage.site.url('/'))

const shoot = (name: string, options: Parameters<typeof stage.shoot>[1] = {}) =>
  stage.shootAt(`http://news.example:${port}/${name}`, { viewportWidth: 1200, viewportHeight: 800, ...options })

/** Number of different pixels in a sample of one in nine. */
function differences(one: Pixels, other: Pixels): number {
  let count = 0
  for (let y = 0; y < one.height; y += 3) {
    for (let x = 0; x < one.width; x += 3) if (String(one.at(x, y)) !== String(other.at(x, y))) count += 1
  }
  return count
}

const plain = (await shoot('plain')).pixels

// `npm test` takes one library in four, and the platforms that the next test does not answer.
const PLATFORMS = ['Cookiebot', 'Usercentrics']

for (const name of choose(Object.keys(BANNER_PAGES), (name, index) => index % 4 === 1 || PLATFORMS.includes(name))) {
  // proves: block_cookie_banners
  t.test(`block_cookie_banners removes the banner of ${name} and leaves the page unchanged`, async (t) => {
    // The control: the banner is visible.
    t.ok(differences((await shoot(name, { delay: 1_500 })).pixels, plain) > 100)
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
const pixelOf = ({ pixels }: Awaited<ReturnType<typeof stage.shoot>>, at: string) => pixels.at(900, at.includes('header') ? 200 : 1000)

for (const { name, at } of entries(BANNERS)) {
  // proves: block_cookie_banners, cookie_banner_action
  t.test(`block_cookie_banners handles a banner without a rule: ${name}`, async (t) => {
    t.strictSame(pixelOf(await stage.shoot(at), at), RED, 'the control')
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

for (const { name, at } of entries(OWN)) {
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
