import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import t from 'tap'
import { markup, openStage, page } from '../options/options.ts'
import { type Pages, servePages } from './stage/page-server.ts'
import { GREEN, RED, WHITE } from './stage/pixels.ts'

// Pages that lead to others: new tabs, refreshes and redirects. The browser blocks tabs, so the target of an action of the client is shown in place of the
// page, or a warning says that it is not.

/** A page of another site. */
const other = createServer((_, response) => void response.end(page('background:#0f0', 'x'))).listen(0, '127.0.0.2')
await once(other, 'listening')
t.teardown(() => other.close())
const elsewhere = `http://127.0.0.2:${(other.address() as AddressInfo).port}`

const opens = (script: string) => `<button id="b" onclick="${script}">x</button>`
const leaving = (content: string) =>
  page('background:#f00', '<p>You are being taken elsewhere.</p>', `<meta http-equiv="refresh" content="${content}">`)

const stage = await openStage(t, {
  '/report': page('background:#0f0', 'x'),
  '/save.csv': (_, response) => void response.writeHead(200, { 'content-type': 'text/csv', 'content-disposition': 'attachment' }).end('1'),
  '/slow.json': (_, response) => void setTimeout(() => response.end('{}'), 50),
  '/link': page('', '<a id="b" href="/report" target="_blank">x</a>'),
  '/nested': page('', '<a href="/report" target="report" rel="noopener noreferrer"><b id="b">x</b></a>'),
  '/base': page('', '<a id="b" href="report">x</a>', '<base target="_blank">'),
  '/shadow': markup`<p id="host"></p><script>host.attachShadow({ mode: 'open' }).innerHTML = '<a id="b" href="/report" target="_blank">x</a>'</script>`,
  '/script': page('', opens("window.open('/report', 'report', 'width=900')")),
  '/modified': page(
    '',
    opens("Object.assign(document.createElement('a'), { href: '/report' }).dispatchEvent(new MouseEvent('click', { ctrlKey: true }))"),
  ),
  '/blob': page('', opens("window.open(window.URL.createObjectURL(new Blob(['<body style=background:lime>x'], { type: 'text/html' })))")),
  '/get': page('', '<form action="/report" target="_blank"><input name="q" value="1"><button id="b">x</button></form>'),
  '/requested': page('', opens("fetch('/slow.json').then((r) => r.json()).then(() => window.open('/report'))")),
  '/focused': page('', '<a href="/report" target="_blank" id="b">x</a><script>b.focus()</script>'),
  '/foreign-link': page('', `<a id="b" href="${elsewhere}/" target="_blank">x</a>`),
  '/post': page('', '<form action="/report" method="post" target="_blank"><button id="b">x</button></form>'),
  '/foreign-script': page('', opens(`window.open('${elsewhere}/')`)),
  '/empty': page('', opens("window.open('').document.write('x')")),
  '/file': page('', '<a id="b" href="/save.csv" target="_blank">x</a>'),
  '/two': page('', opens("window.open('/report'); location.href = '/landing'")),
  '/landing': page('', 'x'),
  '/never': () => {},
  '/several': page('', '<a class="b" href="/report" target="_blank">x</a><a class="b" href="/landing" target="_blank">y</a>'),
  '/unasked': page(
    '',
    // The image keeps the page loading until the timer has run, so both popups are older than any action.
    `${opens("document.title = 'pressed'")}<img id="held" src="/never"><script>
      window.open('/report'); setTimeout(() => { window.open('/report'); held.src = 'data:,' }, 50)</script>`,
  ),
  '/fallback': page('', opens("if (!window.open('/report')) location.href = '/report'")),
  '/meta': leaving('1; url=/there'),
  '/twice': leaving('1; url=/meta'),
  '/header': (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'text/html', refresh: '1; url=/there' })
      .end(page('background:#f00', '<p>On the way.</p>')),
  '/later': leaving('30; url=/there'),
  '/itself': leaving('2'),
  '/taken-back': page(
    'background:#0f0',
    '<p>Stays.</p><script>addEventListener("load", () => setTimeout(() => stop(), 100))</script>',
    '<meta http-equiv="refresh" content="2; url=/meta">',
  ),
  '/there': page('background:#0f0', '<p>There.</p>'),
  '/handler': page('', '<a id="b" href="javascript:void(0)" target="_blank" onclick="document.title = 1">x</a>'),
})
const noted = ({ warnings }: { warnings: string[] }) => warnings.filter((text) => text.includes('tab'))

const shown: Record<string, CaptureOptions> = {
  '/link': { click: '#b' },
  '/link#without-scripts': { click: '#b', javascriptEnabled: false },
  '/nested': { click: '#b' },
  '/base': { click: '#b' },
  '/shadow': { click: '#b' },
  '/script': { click: '#b' },
  '/modified': { click: '#b' },
  '/blob': { click: '#b' },
  '/get': { click: '#b' },
  '/requested': { click: '#b' },
  '/focused': { pressKey: 'Enter' },
  '/foreign-link': { click: '#b' },
  '/landing': { scripts: "window.open('/report')" },
}
t.test('a tab that an action of the client opens is shown in place of the page', async (t) => {
  for (const [path, options] of Object.entries(shown)) {
    const { pixels, findings } = await stage.shoot(path, options)
    t.strictSame([pixels.at(600, 400), noted(findings)], [GREEN, []], path)
  }
  t.equal(stage.lastSeen('/report?q=1').headers.referer, stage.site.url('/get'))
})

const named: Record<string, [options: CaptureOptions, warning: RegExp]> = {
  '/post': [{ click: '#b' }, /^click opened a new tab, which the picture does not show: .+\/report\. It gets a form by POST/],
  '/foreign-script': [{ click: '#b' }, /127\.0\.0\.2:\d+\/\. A script opened it, and it is of another site/],
  '/empty': [{ click: '#b' }, /about:blank\. It has no URL/],
  '/file': [{ click: '#b' }, /save\.csv\. It returned no page/],
  '/two': [{ click: '#b' }, /report\. The page went to another URL/],
  '/several': [{ clickAll: '.b' }, /^click_all opened a new tab.+report\. Use click/],
}
t.test('a tab that is not shown is named in a warning', async (t) => {
  for (const [path, [options, warning]] of Object.entries(named)) {
    const { pixels, findings } = await stage.shoot(path, options)
    t.strictSame(pixels.at(600, 400), WHITE, path)
    t.match(noted(findings), [warning], path)
  }
})

t.test('a popup that no action opens stays blocked without a warning', async (t) => {
  for (const options of [{}, { scripts: 'document.title = 1' }, { hover: '#b' }]) {
    const { pixels, findings } = await stage.shoot('/unasked', options)
    t.strictSame([pixels.at(600, 400), noted(findings)], [WHITE, []], JSON.stringify(options))
  }
  for (const path of ['/fallback', '/handler']) t.strictSame(noted((await stage.shoot(path, { click: '#b' })).findings), [], path)
})

for (const options of [{}, { locale: 'de-DE' }]) {
  t.test(`after a refresh within a short time, the new page is captured ${JSON.stringify(options)}`, async (t) => {
    for (const path of ['/meta', '/twice', '/header']) {
      const { pixels, findings } = await stage.shoot(path, options)
      t.strictSame(pixels.at(900, 500), GREEN, path)
      t.match(findings.finalUrl, /\/there$/)
    }
  })
}

t.test('a page is captured itself if it refreshes to itself, after a long time, or cancels the refresh', async (t) => {
  for (const path of ['/later', '/itself']) t.strictSame((await stage.shoot(path)).pixels.at(900, 500), RED, path)
  t.strictSame((await stage.shoot('/taken-back')).pixels.at(900, 500), GREEN)
})

// What the client gave for one origin, and a page that turns out to be of another one: another port, another host, or the same origin after a detour.

const redirect =
  (to: string): RequestListener =>
  (_, response) =>
    void response.writeHead(302, { location: to }).end()
const html = (body: string) => `<!doctype html><body><p>A page.</p>${body}`
const refresh = (to: string) => html(`<meta http-equiv="refresh" content="0; url=${to}">`)
const go = (to: string, wait = 0) => html(`<script>setTimeout(() => location.replace('${to}'), ${wait})</script>`)
const asking: RequestListener = ({ headers }, response) => {
  const isIn = headers.authorization === `Basic ${Buffer.from('u:p').toString('base64')}`
  response.writeHead(isIn ? 200 : 401, { 'content-type': 'text/html', ...(isIn ? {} : { 'www-authenticate': 'Basic realm="x"' }) })
  response.end(html('<a id="away">Away</a>'))
}
const askingThen =
  (to: string): RequestListener =>
  (request, response) =>
    request.headers.authorization ? redirect(to)(request, response) : asking(request, response)

/** Pages that refer to each other are added later. */
const pages: Pages = {}
const site = await servePages(pages)
const foreign = await servePages({
  '/': html(''),
  '/asks': asking,
  '/back': redirect(site.url('/landing')),
  '/by-script': go(site.url('/landing')),
})
Object.assign(pages, {
  '/': redirect(foreign.url('/')),
  '/host': redirect(`${elsewhere}/`),
  '/meta': refresh(foreign.url('/')),
  '/script': go(foreign.url('/')),
  '/late': go(foreign.url('/'), 400),
  '/asks': redirect(foreign.url('/asks')),
  '/asks-here': askingThen(foreign.url('/')),
  '/path': redirect('/landing'),
  '/back': redirect(foreign.url('/back')),
  '/by-script': redirect(foreign.url('/by-script')),
  '/landing': html(`<a id="away" href="${foreign.url('/')}">Away</a>`),
})
t.teardown(() => Promise.all([foreign.close(), site.close()]))

const here = new URL(site.url('/')).origin
const there = new URL(foreign.url('/')).origin
const warningsOf = async (path: string, privateOptions: PrivateOptions, options: CaptureOptions = {}) =>
  (await stage.shootAt(site.url(path), options, { privateOptions })).findings.warnings.filter((text) => /origin|redirect/.test(text))

const entries: PrivateOptions = { localStorage: { token: 'abc' } }
const password: PrivateOptions = { basicAuthUsername: 'u', basicAuthPassword: 'p' }
const signed: PrivateOptions = { headers: { 'x-pass': '1' } }
const cookies: PrivateOptions = { cookies: [{ name: 'session', value: '1' }] }

const lost: Record<string, [path: string, given: PrivateOptions, names: string, to?: string, options?: CaptureOptions]> = {
  'local_storage after a redirect': ['/', entries, 'local_storage'],
  'local_storage after a meta refresh': ['/meta', entries, 'local_storage'],
  'local_storage after a script': ['/script', entries, 'local_storage'],
  'local_storage after a late script': ['/late', entries, 'local_storage'],
  'local_storage, although the client clicks': ['/', entries, 'local_storage', there, { click: 'p' }],
  'headers and an authorization': ['/', { ...signed, authorization: 'Bearer 1' }, 'headers, authorization'],
  'a password that the other origin asks for': ['/asks', password, 'basic_auth_username'],
  'a cookie of another host': ['/host', cookies, 'cookies', elsewhere],
}
t.test('a redirect to another origin is named in a warning', async (t) => {
  for (const [name, [path, given, names, to = there, options]] of Object.entries(lost)) {
    const sentence = `the page redirected from ${here} to ${to}, which did not get ${names}. If it may have that, set url to a page of ${to}`
    t.strictSame(await warningsOf(path, given, options), [sentence], name)
  }
})

t.test('a page that another origin has opened gets no headers, and a warning names them', async (t) => {
  t.match(await warningsOf('/by-script', { ...signed, ...entries }), [
    /came back to .+, and did not get headers\. Set url to the final URL$/,
  ])
})

const used: Record<string, [path: string, given: PrivateOptions, options?: CaptureOptions]> = {
  'another path': ['/path', { ...entries, ...signed, ...cookies }],
  'a redirect that comes back': ['/back', { ...entries, ...signed, ...cookies }],
  'a password that the first origin asks for': ['/asks-here', password],
  'a password that nobody asks for': ['/', password],
  'headers for all origins': ['/', signed, { headersScope: 'all' }],
  'headers for the site': ['/', signed, { headersScope: 'same_site' }],
  'a cookie of the same host': ['/', cookies],
  'a cookie for the host of the redirect': ['/host', { cookies: [{ name: 'session', value: '1', domain: '127.0.0.2' }] }],
  'a click on a link to another origin': ['/landing', { ...entries, ...signed }, { click: '#away' }],
}
t.test('what the page got, or left behind at the wish of the client, is in no warning', async (t) => {
  for (const [name, [path, given, options]] of Object.entries(used)) t.strictSame(await warningsOf(path, given, options), [], name)
})
