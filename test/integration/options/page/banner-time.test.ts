// Consent banners are handled on the page's virtual clock, which runs ahead of real time. Late banners must be handled, and the page must continue.

import path from 'node:path'
import t from 'tap'
import { openLists } from '../../../../capture-runner/src/blocking/lists.ts'
import { ensureLists } from '../../../cluster/images/lists.ts'
import { openStage, page } from '../options.ts'

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
    '/later': page(
      '',
      `<p>A page.</p><script>
       let turns = 0; setInterval(() => { turns++ }, 100)
       setTimeout(() => { document.title = 'late: ' + (turns > 20) }, 3000)
       </script>`,
    ),
  },
  { lists },
)

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
