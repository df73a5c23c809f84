// Complaints about screenshots with overlays instead of the page: consent banners and bot challenges.

import path from 'node:path'
import t from 'tap'
import { openLists } from '../../../capture-runner/src/blocking/lists.ts'
import { ensureLists } from '../../cluster/images/lists.ts'
import { GREEN, isNear, RED } from '../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options/options.ts'

const WINDOW = { viewportWidth: 1_000, viewportHeight: 700 }

/**
 * A OneTrust banner over a page that rebuilds itself after the choice, like sites whose videos, maps and fonts need consent. The old content
 * disappears at once, two thousand elements appear after a moment, and the image at the top after another.
 */
const rebuilding = page(
  'background:#eee',
  `<main id="content"><p>Text.</p><div style="height:300px;background:#f00"></div></main>
   <div id="onetrust-consent-sdk"><div class="onetrust-pc-dark-filter" style="position:fixed;inset:0;background:#0008"></div>
   <div id="onetrust-banner-sdk" role="dialog" style="position:fixed;left:0;right:0;bottom:0;height:260px;background:#f00;z-index:99999">We use cookies.
   <button id="onetrust-accept-btn-handler" onclick="end()">Accept all</button> <button id="onetrust-reject-all-handler" onclick="end()">Reject all</button></div></div>
   <script>
   const row = '<p>A paragraph of the page as it is after the question.</p>'
   function end() {
     document.querySelector('#onetrust-consent-sdk').remove()
     content.innerHTML = ''
     setTimeout(() => {
       content.innerHTML = '<img src="/late.svg" width="1000" height="300" style="display:block">' + row.repeat(2000)
       for (let i = 0; i < 20; i++) { content.style.paddingLeft = i % 2 + 'px'; content.getBoundingClientRect() }
       document.body.style.background = '#0f0'
     }, 250)
   }</script>`,
)

/** A challenge like Cloudflare's, which admits visitors with its cookie. */
const CHALLENGE = '<!doctype html><title>Just a moment...</title><h1>example.com</h1><form id="challenge-form"></form>'
const SOLVING = `${CHALLENGE}<script>setTimeout(() => { document.cookie = 'cf_clearance=1'; location.reload() }, 500)</script>`

const lists = openLists(path.join(await ensureLists(), 'lists'))
const stage = await openStage(
  t,
  {
    '/rebuilding': rebuilding,
    '/late.svg': (_, response) => {
      const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="300"><rect width="1000" height="300" fill="#00f"/></svg>'
      setTimeout(() => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(svg), 600)
    },
    '/challenge': (_, response) =>
      void response.writeHead(403, { 'content-type': 'text/html', 'cf-mitigated': 'challenge' }).end(CHALLENGE),
    '/solved': ({ headers }, response) => {
      const isIn = headers.cookie?.includes('cf_clearance=1')
      response.writeHead(isIn ? 200 : 403, { 'content-type': 'text/html', ...(isIn ? {} : { 'cf-mitigated': 'challenge' }) })
      response.end(isIn ? page('background:#0f0', '<p id="content">Welcome.</p>') : SOLVING)
    },
    '/article': page(
      'background:#0f0',
      `<h1>Just a moment with the author</h1><p>${'On captchas, challenges and access denied. '.repeat(60)}</p>`,
    ),
  },
  { lists },
)

t.test(
  'complaint: cookie banners are in the picture: it is removed, and the page that rebuilds itself after the choice is complete',
  async (t) => {
    const before = await stage.shoot('/rebuilding', WINDOW)
    t.ok(isNear(before.pixels.at(500, 690), RED), 'the control: the banner')
    const { pixels, findings } = await stage.shoot('/rebuilding', { ...WINDOW, blockCookieBanners: true })
    t.strictSame(findings.warnings, [])
    t.ok(isNear(pixels.at(990, 690), GREEN), `the new page: ${pixels.at(990, 690)}`)
    t.ok(isNear(pixels.at(500, 150), [0, 0, 255]), `its picture: ${pixels.at(500, 150)}`)
  },
)

t.test('complaint: cookie banners are in the picture: a full page with a banner is captured without a timeout', async (t) => {
  const { pixels, findings } = await stage.shoot('/rebuilding', {
    ...WINDOW,
    blockCookieBanners: true,
    fullPage: true,
    fullPageMaxHeight: 5_000,
  })
  t.equal(pixels.height, 5_000)
  t.ok(isNear(pixels.at(990, 4_990), GREEN))
  t.match(findings.warnings, [/full_page_max_height/])
})

t.test(
  'complaint: bot challenges are captured instead of the page: such a capture fails if configured, and else has the page’s status and title',
  async (t) => {
    t.match(await stage.fail('/challenge', { failOnBotChallenge: true }), {
      code: 'BOT_CHALLENGE',
      message: /challenge instead of the page/,
    })
    const { findings } = await stage.shoot('/challenge')
    t.match(findings, { httpStatus: 403, pageTitle: 'Just a moment...' }, 'otherwise the record shows status and title of the challenge')
    t.ok(
      isNear((await stage.shoot('/article', { ...WINDOW, failOnBotChallenge: true })).pixels.at(990, 690), GREEN),
      'a page about challenges is not one',
    )
  },
)

t.test(
  'complaint: bot challenges are captured instead of the page: the capture waits for a challenge that admits the browser',
  async (t) => {
    const { pixels, findings } = await stage.shoot('/solved', { ...WINDOW, waitForSelector: '#content', failOnBotChallenge: true })
    t.ok(isNear(pixels.at(990, 690), GREEN))
    t.equal(findings.httpStatus, 200)
  },
)

t.test('complaint: bot challenges are captured instead of the page: the browser does not call itself headless', async (t) => {
  await stage.shoot('/article')
  t.notMatch(JSON.stringify(stage.lastSeen('/article').headers), /headless/i)
})
