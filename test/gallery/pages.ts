import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import path from 'node:path'

// Pages that demonstrate every option: a typical shop, and small pages for other features.

const PRICES = [
  ['Rope, 20 m', '24.50'],
  ['Anchor, 8 kg', '210.00'],
  ['Lantern', '39.90'],
  ['Fender', '18.00'],
]

const cards = PRICES.map(
  ([name, price], index) =>
    `<div class="card"><img class="photo" src="/photo/${index + 1}.svg" width="200" height="130"><b>${name}</b> € ${price}</div>`,
)
const later = Array.from({ length: 6 }, (_, index) => `<img loading="lazy" src="/photo/${index + 1}.svg?lazy" width="300" height="195">`)

/** A page with a fixed header, animations, menus, late content and overlays. */
const shop = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Harbour Supply</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="/photo/1.svg"><meta property="og:title" content="Harbour Supply">
<style>
  :root { --ink: #14213d; --paper: #fdfcf8; --line: #d8d3c4; --accent: #b8452e }
  @media (prefers-color-scheme: dark) { :root { --ink: #f1ead8; --paper: #10151f; --line: #39425a; --accent: #ff9b71 } }
  @media (prefers-contrast: more) { :root { --ink: #000; --paper: #fff; --line: #000; --accent: #a00 } body { font-weight: 600 } }
  @media (color-gamut: p3) { .gamut::after { content: ' (wide gamut)' } }
  @media print { header { position: static } .newsletter, #chat { display: none } }
  body { margin: 0; font: 16px/1.5 Arial, sans-serif; color: var(--ink); background: var(--paper) }
  header { position: sticky; top: 0; display: flex; gap: 24px; align-items: center; padding: 12px 32px; background: var(--paper); border-bottom: 2px solid var(--line); z-index: 2 }
  #menu { position: relative } #menu ul { display: none; position: absolute; margin: 0; padding: 12px 28px; background: var(--paper); border: 1px solid var(--line); white-space: nowrap }
  #menu:hover ul { display: block }
  main { padding: 24px 32px } .row { display: flex; gap: 18px; flex-wrap: wrap }
  .card { border: 1px solid var(--line); border-radius: 8px; padding: 10px; width: 200px } .photo { display: block }
  .avatar { width: 36px; height: 36px; border-radius: 50%; background: var(--accent); margin-left: auto }
  .wheel { width: 60px; height: 60px; border: 8px dashed var(--accent); border-radius: 50%; animation: turn 2s linear infinite }
  @keyframes turn { to { rotate: 1turn } } @media (prefers-reduced-motion) { .wheel { animation: none; border-style: solid } }
  .screen { height: 100vh; background: linear-gradient(var(--line), transparent); display: grid; place-items: center; margin-top: 24px }
  table { border-collapse: collapse } td { border: 1px solid var(--line); padding: 6px 18px }
  .newsletter { position: fixed; right: 24px; bottom: 100px; width: 260px; padding: 16px; background: var(--accent); color: #fff; border-radius: 8px }
  #chat { position: fixed; right: 24px; bottom: 24px; width: 56px; height: 56px; border-radius: 50%; background: #2a9d8f }
</style></head><body>
<header><b>Harbour Supply</b><span id="menu">Menu ▾<ul><li>Ropes<li>Anchors<li>Lights</ul></span><span class="gamut">Open today</span><i id="badge"></i><div class="avatar"></div></header>
<main><h1>Everything that floats</h1><button id="accept" onclick="this.textContent='Accepted'">Accept</button>
<div class="row">${cards.join('')}<div class="wheel"></div><video autoplay muted width="160" height="100"></video></div>
<h2>Water level</h2><svg id="chart" width="620" height="180" viewBox="0 0 620 180"><rect width="620" height="180" fill="#e8f1f2"/>
<polyline fill="none" stroke="#b8452e" stroke-width="4" points="0,130 80,90 160,110 240,60 320,80 400,30 480,70 560,40 620,55"/></svg>
<details><summary>Delivery</summary>By boat, within three days.</details><details><summary>Returns</summary>Within a month, dry.</details>
<section class="screen"><p>As high as the window</p></section>
<h2 id="prices">Prices</h2><table>${PRICES.map((row) => `<tr><td>${row.join('<td>€ ')}`).join('')}</table>
<h2>More</h2><div class="row">${later.join('')}</div><div id="shadow"></div></main>
<div class="newsletter">Our newsletter! <u>Close: Esc</u></div><div id="chat"></div>
<script>
  if (window.isPreview) badge.textContent = 'preview'
  addEventListener('keydown', ({ key }) => { if (key === 'Escape') document.querySelector('.newsletter')?.remove() })
  shadow.attachShadow({ mode: 'open' }).innerHTML = '<style>.newsletter{position:fixed;left:24px;bottom:24px;padding:16px;background:#6a4c93;color:#fff}</style><div class="newsletter">A newsletter in a shadow</div>'
  const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 100 }), paint = canvas.getContext('2d')
  let frame = 0
  const draw = () => { paint.fillStyle = 'hsl(' + frame++ * 3 + ' 60% 50%)'; paint.fillRect(0, 0, 160, 100); paint.fillStyle = '#fff'; paint.font = '40px Arial'; paint.fillText(frame, 50, 65); requestAnimationFrame(draw) }
  draw()
  document.querySelector('video').srcObject = canvas.captureStream()
</script></body></html>`

/** A page that shows what it can detect about its visitor, in the page and on the server. */
const you = (request: IncomingMessage): string => `<!doctype html><html><head><meta charset="utf-8"><title>You</title>
<style>body{margin:24px;font:15px/1.5 Arial} td{padding:3px 12px;border-bottom:1px solid #ddd;word-break:break-all} td:first-child{white-space:nowrap;font-weight:bold}</style></head><body><h1>What this page knows of you</h1><table></table>
<script type="module">
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions()
  const place = await new Promise((tell) => navigator.geolocation.getCurrentPosition(({ coords: c }) => tell([c.latitude, c.longitude, '±' + c.accuracy + ' m'].join(' ')), () => tell('refused')))
  const seen = ${JSON.stringify(seenHeaders(request))}
  const facts = { ...seen, 'navigator.userAgent': navigator.userAgent, 'navigator.platform': navigator.platform, languages: navigator.languages, timeZone, locale, time: new Date().toString().slice(0, 24),
    number: (1234567.891).toLocaleString(), place, touchPoints: navigator.maxTouchPoints, 'local storage': JSON.stringify({ ...localStorage }), cookie: document.cookie, referrer: document.referrer }
  for (const [name, value] of Object.entries(facts)) document.querySelector('table').insertRow().append(...[name, String(value)].map((text) => Object.assign(document.createElement('td'), { textContent: text })))
</script></body></html>`

const SHOWN = ['user-agent', 'accept-language', 'sec-ch-ua-platform', 'referer', 'authorization', 'x-preview']
const seenHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(SHOWN.map((name) => [`header ${name}`, String(headers[name] ?? '')]))

const document = (body: string, head = ''): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8">${head}</head><body style="margin:24px;font:18px/1.5 Arial">${body}</body></html>`

const TEXT = '<h1>News of the harbour</h1><p>The ferry leaves at noon; the lighthouse is open.</p><img src="/photo/3.svg" width="400">'

const ASKING = document(
  `${TEXT}<link rel="stylesheet" href="/modules/vanilla-cookieconsent/dist/cookieconsent.css"><script src="/modules/vanilla-cookieconsent/dist/cookieconsent.umd.js"></script><script>
  CookieConsent.run({ categories: { necessary: { enabled: true, readOnly: true }, analytics: {} }, hideFromBots: false,
    onFirstConsent: ({ cookie }) => document.querySelector('h1').append(cookie.categories.includes('analytics') ? ' — consent given' : ' — consent refused'),
    language: { default: 'en', translations: { en: { consentModal: { title: 'We use cookies', description: 'May we?', acceptAllBtn: 'Accept all', acceptNecessaryBtn: 'Reject all' }, preferencesModal: { sections: [] } } } } })</script>`,
)

const NAGGING = document(
  `${TEXT}<div role="dialog" style="position:fixed;left:0;right:0;bottom:0;padding:40px;background:#333;color:#fff;z-index:99">We value your privacy: this site uses cookies. <button onclick="this.parentNode.remove()">OK</button></div>`,
)

const CHATTING = document(
  `${TEXT}<div id="intercom-container" style="position:fixed;right:20px;bottom:20px;width:220px;height:140px;background:#1f8ded;color:#fff">Can we help you?</div>
  <div class="fb-like" style="width:120px;height:30px;background:#1877f2;color:#fff">Like us</div><div class="newsletter-slice" style="position:fixed;top:0;left:0;right:0;background:#ccc">Get our app</div>
  <img src="http://other.example:PORT/photo/5.svg" width="200" alt="another site’s picture">`,
)

const PHOTO_COLORS = ['#264653', '#2a9d8f', '#e9c46a', '#f4a261', '#e76f51', '#6a4c93']
const photo = (number: number): string => {
  const color = PHOTO_COLORS[(number - 1) % PHOTO_COLORS.length]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 130"><rect width="200" height="130" fill="${color}"/><circle cx="${30 + number * 22}" cy="40" r="22" fill="#fff8"/><path d="M0 130 60 60 100 100 140 50 200 130z" fill="#0005"/></svg>`
}

const texts: Readonly<Record<string, string>> = {
  '/shop': shop,
  '/logo':
    '<!doctype html><body style="margin:60px"><div style="width:240px;height:240px;border-radius:50%;background:#b8452e;box-shadow:0 0 60px #14213d"></div>',
  '/wide': document(
    `<h1>A wide table</h1><table border="1" cellpadding="12"><tr>${Array.from({ length: 30 }, (_, index) => `<td>Column ${index + 1}`).join('')}</table>`,
  ),
  '/panel': `<!doctype html><body style="margin:0;height:100vh;overflow:hidden;display:flex;font:18px Arial"><nav style="width:180px;background:#264653;color:#fff;padding:20px">Menu</nav><div style="overflow:auto;flex:1;padding:20px">${Array.from({ length: 40 }, (_, index) => `<p>Paragraph ${index + 1} of a panel that scrolls by itself.`).join('')}</div>`,
  '/asking': ASKING,
  '/nagging': NAGGING,
  '/chatting': CHATTING,
  '/spinner': document(
    '<h1>Loading …</h1><div class="spinner" style="width:80px;height:80px;background:#e76f51"></div><script>setTimeout(() => { document.body.innerHTML = "<h1>Loaded</h1>" }, 1500)</script>',
  ),
  '/blank': '<!doctype html><title>Nothing</title><body>',
  '/broken': document('<h1>This page has an error</h1><script src="/missing.js"></script><script>throw new Error("broken")</script>'),
}

const assets: Readonly<Record<string, [type: string, text: string]>> = {
  '/prepare.js': ['text/javascript', "document.querySelector('h1').textContent = 'Set by a script of another file'"],
  '/night.css': ['text/css', ':root { --ink: #dfe !important; --paper: #013 !important }'],
}

/** Serves the pages; passes other requests to `otherwise`. */
export const galleryPages =
  (otherwise: RequestListener): RequestListener =>
  (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://gallery')
    const text = texts[pathname]
    const send = (type: string, body: string | Buffer, headers: Record<string, string> = {}) => sendAs(response, type, body, headers)
    if (text !== undefined) return send('text/html; charset=utf-8', text.replaceAll('PORT', String(request.socket.localPort)))
    if (pathname === '/you') return answerYou(request, response)
    if (pathname === '/guarded')
      return send(
        'text/html; charset=utf-8',
        document(`${TEXT}<script>document.querySelector('h1').textContent = 'Set by the page’s own script'</script>`),
        { 'content-security-policy': "script-src 'none'" },
      )
    if (pathname.startsWith('/photo/')) return send('image/svg+xml', photo(Number(/\d/.exec(pathname)?.[0] ?? 1)))
    if (pathname.startsWith('/modules/vanilla-cookieconsent/')) return sendModule(response, pathname)
    const asset = assets[pathname]
    if (asset) return send(...asset)
    otherwise(request, response)
  }

function answerYou(request: IncomingMessage, response: ServerResponse): void {
  const isWrong = request.headers.authorization?.startsWith('Basic ') && !request.headers.authorization.endsWith(btoa('ada:lovelace'))
  if (isWrong) response.writeHead(401, { 'www-authenticate': 'Basic' }).end('Wrong password')
  else sendAs(response, 'text/html; charset=utf-8', you(request), {})
}

function sendAs(response: ServerResponse, type: string, body: string | Buffer, headers: Record<string, string>): void {
  response.writeHead(200, { 'content-type': type, ...headers }).end(body)
}

function sendModule(response: ServerResponse, pathname: string): void {
  const file = path.join(import.meta.dirname, '../../node_modules', path.posix.normalize(pathname.slice('/modules'.length)))
  sendAs(response, file.endsWith('.css') ? 'text/css' : 'text/javascript', readFileSync(file), {})
}
