// Banners without a rule or list entry, detected by their position and text. Other elements above a page must stay.

import path from 'node:path'
import t from 'tap'
import { openLists } from '../../../../capture-runner/src/blocking/lists.ts'
import { ensureLists } from '../../../cluster/images/lists.ts'
import { choose } from '../../../support/length.ts'
import { BLUE, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options.ts'

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

const lists = openLists(path.join(await ensureLists(), 'lists'))
const stage = await openStage(t, Object.fromEntries(all.map(({ at, markup }) => [at, around(markup)])), { lists })

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
