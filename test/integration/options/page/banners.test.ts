// Consent banners: gone from every picture, and the page as it would be without them. Five libraries from npm, five platforms after their elements.

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { openLists } from '../../../../capture-runner/src/blocking/lists.ts'
import { ensureLists } from '../../../cluster/images/lists.ts'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import type { Pixels } from '../../capture-runner/stage/pixels.ts'
import { openStage } from '../options.ts'
import { BANNER_PAGES, bannerSite } from './banner-pages.ts'

const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
t.teardown(() => names.close())
const lists = openLists(path.join(await ensureLists(), 'lists'))
const stage = await openStage(t, bannerSite(), { lists, guard: { dnsServers: [names.address] } })
const { port } = new URL(stage.site.url('/'))

/** Pictures are kept for a look at them when this names a directory. */
const gallery = process.env.TINTYPE_TEST_GALLERY

async function shoot(name: string, options: Parameters<typeof stage.shoot>[1] = {}) {
  const shot = await stage.shootAt(`http://news.example:${port}/${name}`, { viewportWidth: 1200, viewportHeight: 800, ...options })
  if (gallery) {
    await mkdir(gallery, { recursive: true })
    await writeFile(
      path.join(gallery, `banner-${name}-${options.cookieBannerAction ?? (options.blockCookieBanners ? 'blocked' : 'bare')}.png`),
      shot.picture,
    )
  }
  return shot
}

/** Pixels, of one in nine, in which two pictures differ. */
function differences(one: Pixels, other: Pixels): number {
  let count = 0
  for (let y = 0; y < one.height; y += 3) {
    for (let x = 0; x < one.width; x += 3) if (String(one.at(x, y)) !== String(other.at(x, y))) count += 1
  }
  return count
}

const plain = (await shoot('plain')).pixels

for (const name of Object.keys(BANNER_PAGES)) {
  // proves: block_cookie_banners
  t.test(`block_cookie_banners leaves nothing of the banner of ${name}, and the page as it is`, async (t) => {
    // The control: the banner is there.
    t.ok(differences((await shoot(name, { delay: 1_500 })).pixels, plain) > 100)
    const { pixels, findings } = await shoot(name, { blockCookieBanners: true })
    t.equal(differences(pixels, plain), 0)
    t.comment(name, findings.pageTitle)
  })
}

t.test('option cookie_banner_action: refuses, agrees, or only hides', async (t) => {
  const said = async (name: string, cookieBannerAction: 'opt_out' | 'opt_in' | 'hide') => {
    const { pixels, findings } = await shoot(name, { blockCookieBanners: true, cookieBannerAction })
    t.equal(differences(pixels, plain), 0, `${name} ${cookieBannerAction}`)
    return findings.pageTitle
  }
  for (const name of ['OneTrust', 'Sourcepoint', 'Didomi', 'vanilla-cookieconsent']) {
    t.equal(await said(name, 'opt_out'), 'refused')
    t.equal(await said(name, 'opt_in'), 'accepted')
  }
  t.equal(await said('OneTrust', 'hide'), 'asked nothing')
})

// proves: block_cookie_banners
t.test('block_cookie_banners changes nothing on a page that has none', async (t) => {
  t.equal(differences((await shoot('plain', { blockCookieBanners: true })).pixels, plain), 0)
})
