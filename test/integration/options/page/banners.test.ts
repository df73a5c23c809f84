// Consent banners are removed from the screenshot, and the page looks as without them. Five libraries from npm, five platforms by their elements.

import path from 'node:path'
import t from 'tap'
import { openLists } from '../../../../capture-runner/src/blocking/lists.ts'
import { ensureLists } from '../../../cluster/images/lists.ts'
import { choose } from '../../../support/length.ts'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import type { Pixels } from '../../capture-runner/stage/pixels.ts'
import { openStage } from '../options.ts'
import { BANNER_PAGES, bannerSite } from './banner-pages.ts'

const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
t.teardown(() => names.close())
const lists = openLists(path.join(await ensureLists(), 'lists'))
const stage = await openStage(t, bannerSite(), { lists, guard: { dnsServers: [names.address] } })
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
