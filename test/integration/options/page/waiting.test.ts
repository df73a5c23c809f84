import type { RequestListener } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { repeatedly } from '../../../../capture-runner/src/capture/capture.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import { drawing, serving } from '../../capture-runner/stage/page-server.ts'
import { GREEN, RED } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page, strict } from '../options.ts'

// Waits and their limits, and conditions under which a capture fails. No test measures time: the page's content shows whether the capture waited.

const turns = (color: string) => `document.body.style.background='${color}'`
const soon = (act: string, milliseconds = 600) => `<p id="p">A line.</p><script>setTimeout(() => { ${act} }, ${milliseconds})</script>`
const SQUARE = drawing('#0f0', 200)
const neverEnds = () => {}

/** Boxes of 100 pixels in rows of ten. Each shows a late image of its own in another way. */
const imageKinds: readonly { style?: string; body?: (url: string) => string; rule?: (id: string, url: string) => string }[] = [
  { body: (url) => `<img src="${url}" style="width:100px;height:100px">` },
  { body: (url) => `<lazy-photo data-url="${url}"></lazy-photo>` },
  { rule: (id, url) => `${id} { background-image: url(${url}) }` },
  { rule: (id, url) => `${id}.on { background: center / cover url("${url}") }` },
  { body: (url) => `<svg width="100" height="100"><image href="${url}" width="100" height="100"/></svg>` },
  { body: (url) => `<picture><source srcset="${url} 1x, /never 3x"><img src="/never" width="100" height="100"></picture>` },
  { body: (url) => `<video poster="${url}" width="100" height="100" style="object-fit:fill"></video>` },
  { rule: (id, url) => `${id}::before { content: ""; position: absolute; inset: 0; background-image: url(${url}) }` },
  { rule: (id, url) => `${id}::after { content: url(${url}); display: block; height: 100px }` },
  { rule: (id, url) => `${id} { background-image: image-set(url(${url}) 1x, url(/never) 2x) }` },
  { body: (url) => `<input type="image" src="${url}" width="100" height="100">` },
  { body: (url) => `<img srcset="${url} 100w, /never 4000w" sizes="100px" width="100" height="100">` },
  { rule: (id, url) => `${id} { border: 50px solid #f00; box-sizing: border-box; border-image: url(${url}) 50 }` },
  { body: (url) => `<iframe srcdoc="<body style='margin:0;background:url(${url})'>" style="border:0;width:100px;height:100px"></iframe>` },
  { body: (url) => `<deep-photo data-url="${url}"></deep-photo>` },
  { body: (url) => `<img src="/moved?to=${url}" width="100" height="100">` },
]
const placeOf = (index: number) => ({ x: (index % 10) * 100, y: Math.floor(index / 10) * 100 })
/** @param offset of the boxes @param when prefix of the image URLs */
const gallery = (when: string, offset: number) => {
  // Images of the document come soon, because the others must be awaited without them.
  const isUsual = (index: number) => imageKinds[index]?.body?.('').match(/^<(img|picture)/)
  const urlOf = (index: number) => (isUsual(index) ? `/square.svg?${when}${index}` : `/held-${when}.svg?${index}`)
  const boxOf = (index: number) => {
    const { x, y } = placeOf(index + offset)
    return `<div id="${when}${index}" class="box" style="left:${x}px;top:${y}px">${imageKinds[index]?.body?.(urlOf(index)) ?? ''}</div>`
  }
  const rules = imageKinds.map(({ rule }, index) => rule?.(`#${when}${index}`, urlOf(index)) ?? '').join(' ')
  return { boxes: imageKinds.map((_, index) => boxOf(index)).join(''), rules }
}
const [early, added] = [gallery('e', 0), gallery('a', 20)]
/** Holds images until this time after the first request for one. */
const held = (milliseconds: number): RequestListener => {
  let release: Promise<void> | undefined
  return async (_, response) => {
    release ??= setTimeout(milliseconds)
    await release
    response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(SQUARE)
  }
}

const stage = await openStage(t, {
  '/appears': page(
    'background:#f00',
    soon(
      `${turns('#0f0')}; document.body.insertAdjacentHTML('beforeend', '<b class="late" hidden>x</b><b class="late" hidden>x</b><b id="seen">x</b>')`,
    ),
  ),
  '/vanishes': page('background:#f00', `<i id="spinner">...</i>${soon(`${turns('#0f0')}; spinner.remove()`)}`),
  '/true-later': page('background:#f00', soon(`${turns('#0f0')}; window.ready = { then: undefined }`)),
  '/strict': strict('<!doctype html><title>Strict</title><h1>Welcome back</h1><p id="p">A line.</p>'),
  '/grows': page(
    'background:#f00',
    `<p>A line.</p><script>let n = 0; const go = setInterval(() => { document.body.append('x'); if (++n === 8) { clearInterval(go); ${turns('#0f0')} } }, 100)</script>`,
  ),
  '/restless': page('background:#f00', '<p>A line.</p><script>setInterval(() => document.body.append("x"), 30)</script>'),
  '/slow-image': page(
    'background:#f00',
    '<p>A line.</p><script>const i = new Image(200, 200); i.src = "/late.svg"; document.body.append(i)</script>',
  ),
  '/late.svg': serving('image/svg+xml', SQUARE, 1_500),
  '/square.svg': held(0),
  '/held-e.svg': held(3500),
  '/held-a.svg': held(3500),
  '/moved': (request, response) => {
    response.writeHead(302, { location: new URL(request.url ?? '', 'http://pages').searchParams.get('to') ?? '' }).end()
  },
  '/images': markup`<style>.box { position: absolute; width: 100px; height: 100px; background: #f00; overflow: hidden } .box * { display: block } ${early.rules} ${added.rules}</style>
     <p style="margin-top:500px">A line.</p>${early.boxes}
     <script>
       const define = (name, inner) => customElements.define(name, class extends HTMLElement {
         connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = inner(this.dataset.url) }
       })
       define('lazy-photo', (url) => '<img loading="lazy" width="100" height="100" src="' + url + '">')
       define('deep-photo', (url) => '<style>i { display: block; height: 100px; background: url(' + url + ') }</style><i></i>')
       const turnOn = () => { for (const box of document.querySelectorAll('.box')) box.classList.add('on') }
       addEventListener('DOMContentLoaded', turnOn)
       addEventListener('load', () => setTimeout(() => { document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(added.boxes)}); turnOn() }, 900))
     </script>`,
  '/tracked': page('background:#0f0', '<p>A line.</p><script>new Image().src = "/never"</script>'),
  '/never-background': page('', '<p style="background: url(/never)">A line.</p>'),
  '/poll': serving('text/plain', 'x', 50),
  '/hangs-open': page(
    'background:#f00',
    `<p>A line.</p><script>fetch('/never'); setTimeout(() => fetch('/poll').then(() => { ${turns('#0f0')} }), 300)</script>`,
  ),
  '/never': neverEnds,
  '/late-request': page(
    'background:#f00',
    `<p>A line.</p><script>setTimeout(() => fetch('/poll').then(() => { ${turns('#0f0')} }), 900)</script>`,
  ),
  '/never-loads': page('background:#0f0', '<p>A line.</p><img src="/never">'),
  '/fine': page('', '<h1>Welcome   back</h1><p class="note">All is well.</p>'),
  '/missing': (_, response) => {
    response.writeHead(404, { 'content-type': 'text/html' })
    response.end('<h1>Not here</h1>')
  },
  '/leads-on': (_, response) => {
    response.writeHead(302, { location: '/fine' })
    response.end()
  },
  '/needs': page('', '<h1>Welcome</h1><img src="/broken.png"><script src="/fine.js"></script>'),
  '/broken.png': (_, response) => {
    response.writeHead(503)
    response.end()
  },
  '/throws': page('', '<h1>Welcome</h1><script>setTimeout(() => { throw new Error("oh no") })</script>'),
  '/challenge': (_, response) => {
    response.writeHead(403, { 'content-type': 'text/html', 'cf-mitigated': 'challenge' })
    response.end('<title>Just a moment...</title><h1>example.com</h1><form id="challenge-form"></form>')
  },
  '/captcha': page('', '<p>Please verify</p><div id="px-captcha"></div>'),
})

t.test('option wait_for_selector, wait_for_selector_state: visible elements, or attached ones', async (t) => {
  t.strictSame((await stage.shoot('/appears', { waitForSelector: '#seen' })).pixels.at(900, 500), GREEN)
  const options = { waitForSelector: '.late', waitForSelectorTimeout: 10_000 }
  t.strictSame((await stage.shoot('/appears', { ...options, waitForSelectorState: 'attached' })).pixels.at(900, 500), GREEN)
  t.match(await stage.fail('/appears', { ...options, waitForSelectorTimeout: 1200 }), { code: 'SELECTOR_NOT_FOUND', message: /no visible/ })
})

t.test('option wait_for_selector_count: waits for that many matches', async (t) => {
  const options = { waitForSelector: '.late, #p', waitForSelectorState: 'attached' as const }
  t.strictSame((await stage.shoot('/appears', { ...options, waitForSelectorCount: 3 })).pixels.at(900, 500), GREEN)
  t.match(await stage.fail('/appears', { ...options, waitForSelectorCount: 4, waitForSelectorTimeout: 1000 }), { message: /fewer than 4/ })
})

t.test('option wait_for_selector_gone: waits until no element matches', async (t) => {
  t.strictSame((await stage.shoot('/vanishes', { waitForSelectorGone: '#spinner' })).pixels.at(900, 500), GREEN)
  t.match(await stage.fail('/strict', { waitForSelectorGone: '#p', waitForSelectorTimeout: 200 }), { code: 'TIMEOUT' })
})

t.test('option wait_for_function: waits until it is true', async (t) => {
  t.strictSame((await stage.shoot('/true-later', { waitForFunction: 'window.ready' })).pixels.at(900, 500), GREEN)
  t.match(await stage.fail('/strict', { waitForFunction: 'nothing.there', waitForSelectorTimeout: 200 }), { code: 'TIMEOUT' })
})

t.test('option wait_for_images: waits longer for images', async (t) => {
  const options = { waitUntil: ['domcontentloaded' as const], waitForFontsTimeout: 100, stabilityTimeout: 0 }
  t.strictSame((await stage.shoot('/slow-image', { ...options, waitForImages: true })).pixels.at(100, 150), GREEN)
  t.strictSame((await stage.shoot('/slow-image', options)).pixels.at(100, 150), RED)
})

// proves: wait_for_images
t.test('images outside of <img>, in components, and added while the capture waited, were missing in the picture', async (t) => {
  const { pixels, findings } = await stage.shoot('/images', {
    waitUntil: ['domcontentloaded'],
    waitForImages: true,
    waitForSelectorTimeout: 60_000,
  })
  t.strictSame(findings.warnings, [])
  for (const [when, offset] of [
    ['early', 0],
    ['added', 20],
  ] as const) {
    for (const [index, { body, rule }] of imageKinds.entries()) {
      const { x, y } = placeOf(index + offset)
      t.strictSame(pixels.at(x + 25, y + 25), GREEN, `${when}: ${(body ?? rule)?.('ID', 'URL')}`)
    }
  }
})

t.test('wait_for_images does not wait for images that nothing shows, and names those that are late', async (t) => {
  const options = { waitUntil: ['domcontentloaded' as const], waitForImages: true, stabilityTimeout: 0 }
  const tracked = await stage.shoot('/tracked', { ...options, waitForSelectorTimeout: 110_000 })
  t.strictSame(tracked.findings.warnings, [])
  const late = await stage.shoot('/never-background', { ...options, waitForSelectorTimeout: 100, waitForFontsTimeout: 100 })
  t.match(late.findings.warnings, [/still loading when the picture was taken: 1 in the picture, such as .*\/never$/])
})

t.test('option network_idle_time: requires a longer idle time', async (t) => {
  const options = { waitUntil: ['networkidle' as const], stabilityTimeout: 0 }
  t.strictSame((await stage.shoot('/late-request', { ...options, networkIdleTime: 3000 })).pixels.at(900, 500), GREEN)
  t.strictSame((await stage.shoot('/late-request', { ...options, networkIdleTime: 100 })).pixels.at(900, 500), RED)
})

t.test('option network_idle_max_connections: tolerates pending requests', async (t) => {
  const options = { waitUntil: ['networkidle' as const], networkIdleMaxConnections: 1, networkIdleTime: 1000 }
  const { findings, pixels } = await stage.shoot('/hangs-open', options)
  t.strictSame(findings.warnings.length, 1)
  t.match(findings.warnings[0], /^the page was still waiting for http:\S+\/never when the picture was taken/)
  t.strictSame(pixels.at(900, 500), GREEN)
})

t.test('option dom_idle_time: waits until elements do not change', async (t) => {
  t.strictSame((await stage.shoot('/grows', { domIdleTime: 500 })).pixels.at(900, 600), GREEN)
  t.match((await stage.shoot('/restless', { domIdleTime: 500, timeout: 1500 })).findings.warnings, [/kept changing/])
})

t.test('option best_attempt: turns timeouts of waits into warnings', async (t) => {
  const { findings, pixels } = await stage.shoot('/never-loads', {
    bestAttempt: true,
    timeout: 1000,
    waitForSelector: '#none',
    waitForFontsTimeout: 0,
  })
  t.match(findings.warnings, [/did not load within 1000 ms/, /no visible element/])
  t.strictSame(pixels.at(900, 500), GREEN)
  t.match(await stage.fail('/never-loads', { timeout: 1000 }), { code: 'TIMEOUT' })
  t.match(await stage.fail('/never', { bestAttempt: true, timeout: 1000 }), { code: 'TIMEOUT' }, 'there is no document')
})

/** Fails twice like a broken connection, then succeeds. */
function thirdTime(code: 'NAVIGATION_FAILED' | 'DNS_FAILED') {
  let attempts = 0
  return async () => {
    if (++attempts < 3) throw new CaptureError(code, 'it failed')
    return { ...(await stage.shoot('/strict')), attempts }
  }
}
const within = () => ({ deadline: Date.now() + 60_000, signal: new AbortController().signal })

t.test('option retries: retries only temporary failures, up to the limit', async (t) => {
  const twice = buildPlan('http://a.example/', { retries: 2, retryDelay: 0 }).options
  t.match((await repeatedly(twice, within(), thirdTime('NAVIGATION_FAILED'))).findings.warnings, ['the capture succeeded at retry 2 of 2'])
  await t.rejects(repeatedly(twice, within(), thirdTime('DNS_FAILED')), { code: 'DNS_FAILED' })
  const once = buildPlan('http://a.example/', { retries: 1, retryDelay: 0 }).options
  await t.rejects(repeatedly(once, within(), thirdTime('NAVIGATION_FAILED')), { code: 'NAVIGATION_FAILED' })
})

t.test('option retry_delay: starts no attempt that cannot end in time', async (t) => {
  const patient = buildPlan('http://a.example/', { retries: 2, retryDelay: 60_000 }).options
  await t.rejects(repeatedly(patient, within(), thirdTime('NAVIGATION_FAILED')), { code: 'NAVIGATION_FAILED' })
})

t.test('option fail_on_status: fails for single statuses and ranges', async (t) => {
  t.match(await stage.fail('/missing', { failOnStatus: ['404'] }), { code: 'HTTP_ERROR', message: /404/ })
  t.match(await stage.fail('/missing', { failOnStatus: ['500-599', '400-403', '404-410'] }), { code: 'HTTP_ERROR' })
  t.equal((await stage.shoot('/missing', { failOnStatus: ['500-511'] })).findings.httpStatus, 404)
})

t.test('option fail_if_content_contains: fails for visible words', async (t) => {
  t.match(await stage.fail('/fine', { failIfContentContains: ['nope', 'welcome BACK'] }), { code: 'CONTENT_RULE', message: /welcome BACK/ })
  t.match(await stage.fail('/strict', { failIfContentContains: ['Welcome'] }), { code: 'CONTENT_RULE' })
})

t.test('option fail_if_content_missing: fails without the words', async (t) => {
  t.match(await stage.fail('/fine', { failIfContentMissing: ['Welcome', 'Basket'] }), { code: 'CONTENT_RULE', message: /Basket/ })
})

t.test('option fail_if_selector_present: fails for matching elements', async (t) => {
  t.match(await stage.fail('/fine', { failIfSelectorPresent: ['.error', '.note'] }), { code: 'CONTENT_RULE', message: /\.note/ })
})

t.test('option fail_if_request_failed: fails if a matching request fails', async (t) => {
  t.match(await stage.fail('/needs', { failIfRequestFailed: ['*/broken.png'] }), { code: 'CONTENT_RULE', message: /broken\.png/ })
  await stage.shoot('/needs', { failIfRequestFailed: ['*/other.png'] })
})

t.test('option fail_on_redirect: fails if the page redirects', async (t) => {
  t.match(await stage.fail('/leads-on', { failOnRedirect: 'always' }), { code: 'CONTENT_RULE' })
  await stage.shoot('/leads-on', { failOnRedirect: 'cross_site' })
})

t.test('option fail_on_page_error: fails for pages whose scripts throw', async (t) => {
  t.match(await stage.fail('/throws', { failOnPageError: true, delay: 50 }), { code: 'SCRIPT_ERROR', message: /oh no/ })
})

t.test('option fail_on_bot_challenge: fails for challenges', async (t) => {
  t.match(await stage.fail('/challenge', { failOnBotChallenge: true }), { code: 'BOT_CHALLENGE' })
  t.match(await stage.fail('/captcha', { failOnBotChallenge: true }), { code: 'BOT_CHALLENGE' })
})

t.test('a page that breaks none of the rules is captured', async (t) => {
  const { findings } = await stage.shoot('/fine', {
    ...{ failIfContentContains: ['h1', 'Goodbye'], failIfContentMissing: ['all is well'], failIfSelectorPresent: ['.error'] },
    ...{ failOnRedirect: 'always', failOnPageError: true, failOnBotChallenge: true, failOnStatus: ['400-599'] },
  })
  t.strictSame([findings.httpStatus, findings.warnings], [200, []])
})
