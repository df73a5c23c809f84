// Banners in shadow roots, as of many web components.

import t from 'tap'
import { BLUE, GREEN, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options.ts'

const BAR = 'position:fixed;left:0;right:0;bottom:0;height:300px;background:#f00;z-index:9'
const TEXT = 'We use cookies. <button>Fine</button>'
const NAVIGATION = '<nav style="position:fixed;top:0;left:0;right:0;height:40px;background:#0f0"><a href="/">Home</a></nav>'
/** An element whose shadow root has this markup. */
const shadow = (name: string, markup: string, mode = 'open'): string =>
  `<${name}><template shadowrootmode="${mode}">${markup}</template></${name}>`
const closed = (name: string, markup: string): string => shadow(name, markup, 'closed')
const around = (banner: string): string => page('', `<h1>News</h1>${NAVIGATION}${banner}`)

const stage = await openStage(t, {
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
})

for (const path of ['/inside', '/host', '/deep', '/split']) {
  t.test(`banners in shadow roots are hidden, and the page's own bar stays: ${path}`, async (t) => {
    t.strictSame((await stage.shoot(path)).pixels.at(900, 1000), RED, 'the control')
    const { pixels } = await stage.shoot(path, { blockBannersByHeuristics: true })
    t.strictSame([pixels.at(900, 1000), pixels.at(900, 20)], [WHITE, GREEN])
  })
}

for (const path of ['/closed-inside', '/closed-host', '/closed-deep', '/closed-split', '/closed-script']) {
  t.test(`banners in closed shadow roots are hidden, and the page's own bar stays: ${path}`, async (t) => {
    t.strictSame((await stage.shoot(path)).pixels.at(900, 1000), RED, 'the control')
    const { pixels } = await stage.shoot(path, { blockBannersByHeuristics: true })
    t.strictSame([pixels.at(900, 1000), pixels.at(900, 20)], [WHITE, GREEN])
  })
}

t.test('block_banners_by_heuristics keeps a bar of the page in a closed shadow root', async (t) => {
  t.strictSame((await stage.shoot('/closed-own', { blockBannersByHeuristics: true })).pixels.at(900, 1000), BLUE)
})

t.test('block_banners_by_heuristics keeps a bar of the page in a shadow root', async (t) => {
  t.strictSame((await stage.shoot('/own', { blockBannersByHeuristics: true })).pixels.at(900, 1000), BLUE)
})
