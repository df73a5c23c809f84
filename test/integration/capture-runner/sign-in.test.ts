import type { IncomingMessage, RequestListener } from 'node:http'
import type { Cookie, PrivateOptions } from '@tintype/crds/options/private'
import t, { type Test } from 'tap'
import { assertEvery, assertSome } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { openStage } from '../options/options.ts'
import { type PageServer, type Pages, servePages } from './stage/page-server.ts'

// Cookies, headers and credentials with a real browser and two origins: the page's own, and a foreign one that must never receive them.

const stage = await openStage(t, {})

const TOKEN = 'Bearer s3cret'
const signed: PrivateOptions = { authorization: TOKEN, headers: { 'X-Pass': 's3cret' } }

/** Requests of each site, as `GET /path token pass`. */
interface Sites {
  own: PageServer
  foreign: PageServer
  seen: string[]
  foreignSeen: string[]
}

const facts = ({ url, headers }: IncomingMessage): string =>
  [url, headers.authorization === TOKEN ? 'token' : '-', headers['x-pass'] === 's3cret' ? 'pass' : '-'].join(' ')
const html = (body: string) => `<!doctype html><body>${body}`

/** Two sites that record requests. Each page may refer to the other. */
async function serveSites(t: Test, make: (sites: Sites) => { own: Pages; foreign?: Pages }): Promise<Sites> {
  const sites = { seen: [] as string[], foreignSeen: [] as string[] } as Sites
  const noting = (pages: Pages, seen: string[]): Pages =>
    new Proxy(pages, {
      get:
        (target, path: string) =>
        (...[request, response]: Parameters<RequestListener>) => {
          seen.push(facts(request))
          const page = target[path]
          if (typeof page === 'function') return page(request, response)
          response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html', 'access-control-allow-origin': '*' })
          response.end(page)
        },
    })
  const pages = { own: {} as Pages, foreign: {} as Pages }
  sites.own = await servePages(noting(pages.own, sites.seen))
  sites.foreign = await servePages(noting(pages.foreign, sites.foreignSeen))
  const made = make(sites)
  Object.assign(pages.own, made.own)
  Object.assign(pages.foreign, made.foreign)
  t.teardown(() => Promise.all([sites.own.close(), sites.foreign.close()]))
  return sites
}
const redirect =
  (to: string): RequestListener =>
  (_, response) =>
    void response.writeHead(302, { location: to }).end()
const shoot = (sites: Sites, path: string, privateOptions: PrivateOptions) => stage.takeAt(sites.own.url(path), {}, { privateOptions })
const without = (seen: readonly string[]): string[] => seen.filter((line) => !line.startsWith('/favicon'))

// proves: headers, authorization
t.test('headers are sent with the page and its requests to its own origin', async (t) => {
  const sites = await serveSites(t, () => ({
    own: { '/': html('<img src="/a.png"><iframe src="/inner"></iframe>'), '/inner': html('<img src="/b.png">') },
  }))
  await shoot(sites, '/', signed)
  t.strictSame(without(sites.seen).sort(), ['/ token pass', '/a.png token pass', '/b.png token pass', '/inner token pass'])
})

t.test('headers do not follow a redirect to another origin, but a redirect back has them', async (t) => {
  const sites = await serveSites(t, ({ own, foreign }) => ({
    own: { '/': redirect(foreign.url('/away')), '/back': html('<img src="/c.png">') },
    foreign: { '/away': redirect(own.url('/back')) },
  }))
  await shoot(sites, '/', signed)
  t.strictSame(without(sites.seen), ['/ token pass', '/back token pass', '/c.png token pass'])
  t.strictSame(without(sites.foreignSeen), ['/away - -'])
})

t.test('a page of another origin cannot use the headers for requests to the first one', async (t) => {
  const sites = await serveSites(t, ({ own, foreign }) => ({
    own: { '/': redirect(foreign.url('/trap')), '/secret': html('x'), '/framed': html('<img src="/d.png">') },
    foreign: {
      '/trap': html(
        `<img src="${own.url('/stolen.png')}"><iframe src="${own.url('/framed')}"></iframe><script>fetch('${own.url('/secret')}').catch(() => {})</script>`,
      ),
    },
  }))
  await shoot(sites, '/', signed)
  t.match(
    without(sites.seen)
      .filter((line) => line !== '/ token pass')
      .sort(),
    ['/d.png - -', '/framed - -', '/secret - -', '/stolen.png - -'],
  )
})

t.test('headers are sent with a worker’s requests, bypassing a service worker', async (t) => {
  const script =
    (text: string): RequestListener =>
    (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/javascript' }).end(text)
  // The worker asks before there is a service worker, because one that the service worker has claimed sends its requests through it.
  const sites = await serveSites(t, () => ({
    own: {
      '/': html(
        `<script>var ended = []
        const register = () => navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready)
        new Worker('/worker.js').onmessage = () => {
          ended.push('worker')
          register().then(() => fetch('/after')).then(() => ended.push('page'))
        }</script>`,
      ),
      '/worker.js': script("fetch('/from-worker').then(() => postMessage('ended'))"),
      '/service.js': script(
        "addEventListener('activate', (e) => e.waitUntil(clients.claim())); addEventListener('fetch', (e) => e.respondWith(fetch(e.request)))",
      ),
    },
  }))
  await stage.takeAt(sites.own.url('/'), { waitForFunction: 'ended.length === 2' }, { privateOptions: signed })
  t.ok(sites.seen.includes('/from-worker token pass'))
  t.ok(sites.seen.includes('/after token pass'))
})

t.test('headers replace the browser’s own, but not an Authorization header set by the page’s script', async (t) => {
  const received: unknown[] = []
  const sites = await serveSites(t, () => ({
    own: {
      '/': html("<script>fetch('/api', { headers: { authorization: 'Bearer mine' } })</script>"),
      '/api': ({ headers }, response) => {
        received.push(headers.authorization, headers['user-agent'])
        response.end()
      },
    },
  }))
  await shoot(sites, '/', { authorization: TOKEN, headers: { 'user-agent': 'curl/9' } })
  t.strictSame(received, ['Bearer mine', 'curl/9'])
})

t.test('an intercepted request is otherwise unchanged', async (t) => {
  const received: { plain: object[]; signed: object[] } = { plain: [], signed: [] }
  let kind: keyof typeof received = 'plain'
  const names = ['referer', 'origin', 'cookie', 'accept', 'accept-encoding', 'content-type', 'user-agent', 'sec-fetch-site']
  const note: RequestListener = ({ method, headers, rawHeaders }, response) => {
    received[kind].push({ method, count: rawHeaders.length, ...Object.fromEntries(names.map((name) => [name, headers[name]])) })
    response.writeHead(200, { 'content-type': 'text/html' }).end(html('posted'))
  }
  const sites = await serveSites(t, () => ({
    own: {
      '/': (_, response) =>
        void response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=1' }).end(
          html(`<img src="/image.png"><form method=post action="/posted"><input name=a value=b></form>
            <script>addEventListener('load', () => document.forms[0].submit())</script>`),
        ),
      '/image.png': note,
      '/posted': note,
    },
  }))
  await shoot(sites, '/', {})
  kind = 'signed'
  await shoot(sites, '/', { headers: { accept: '*/*;q=0.5' } })
  t.equal(received.plain.length, 2)
  const withoutAccept = (facts: object[]) => facts.map((fact) => ({ ...fact, accept: undefined }))
  t.strictSame(withoutAccept(received.signed), withoutAccept(received.plain))
  t.match(received.signed, [{ accept: '*/*;q=0.5' }, { accept: '*/*;q=0.5', method: 'POST' }])
})

t.test('a redirect loop also ends for intercepted requests', async (t) => {
  const sites = await serveSites(t, () => ({ own: { '/': redirect('/again'), '/again': redirect('/') } }))
  const error = await stage.failAt(sites.own.url('/'), {}, { privateOptions: signed })
  t.equal(error.code, 'TOO_MANY_REDIRECTS')
})

/** Requires user `u` and password `p`; counts the attempts. */
const guarded = (tries: string[], body = html('<title>in</title>')) =>
  (({ headers }, response) => {
    tries.push(headers.authorization ?? '-')
    const isIn = headers.authorization === `Basic ${Buffer.from('u:p').toString('base64')}`
    response.writeHead(isIn ? 200 : 401, { 'content-type': 'text/html', ...(isIn ? {} : { 'www-authenticate': 'Basic realm="x"' }) })
    response.end(isIn ? body : html('<title>out</title>'))
  }) as RequestListener

// proves: basic_auth_username, basic_auth_password
t.test('credentials are sent after a 401 of the page’s own origin', async (t) => {
  const tries: string[] = []
  const sites = await serveSites(t, () => ({ own: { '/': guarded(tries) } }))
  const { findings } = await shoot(sites, '/', { basicAuthUsername: 'u', basicAuthPassword: 'p' })
  t.match(findings, { pageTitle: 'in', httpStatus: 200 })
  t.equal(tries[0], '-', 'they are not sent without a challenge')
})

t.test('wrong credentials are tried once, and the page with status 401 is captured', async (t) => {
  const tries: string[] = []
  const sites = await serveSites(t, () => ({ own: { '/': guarded(tries) } }))
  const { findings } = await shoot(sites, '/', { basicAuthUsername: 'u', basicAuthPassword: 'wrong' })
  t.match(findings, { pageTitle: 'out', httpStatus: 401 })
  t.equal(tries.filter((line) => line !== '-').length, 1)
})

// proves: cookies
t.test('cookies are sent to the page’s host, by their attributes', async (t) => {
  const received: unknown[] = []
  const note = (({ headers }, response) => {
    received.push(headers.cookie ?? '')
    response.writeHead(200, { 'content-type': 'text/html' }).end(html('<script>document.title = document.cookie</script>'))
  }) as RequestListener
  const sites = await serveSites(t, () => ({ own: { '/': note, '/admin/': note } }))
  const cookies = [
    { name: 'a', value: '1' },
    { name: 'b', value: '2', httpOnly: true },
    { name: 'c', value: '3', path: '/admin' },
    { name: 'd', value: '4', domain: 'elsewhere.example' },
    { name: 'e', value: '5', expires: 1 },
  ]
  const { findings } = await shoot(sites, '/', { cookies })
  await shoot(sites, '/admin/', { cookies })
  t.strictSame(received, ['a=1; b=2', 'c=3; a=1; b=2'])
  t.equal(findings.pageTitle, 'a=1', 'scripts cannot read b')
})

// Each cookie with what the warning says of it; undefined: there must be none.
const KEPT = 'the browser did not keep cookies'
const COOKIES: [cookie: Omit<Cookie, 'value'>, warning?: string][] = [
  [{ name: 'plain' }],
  [{ name: 'elsewhere', path: '/admin//' }],
  [{ name: 'spaced', path: '/a b/%C3%A9' }],
  [{ name: 'own', domain: 'Shop.Example.TEST', sameSite: 'Strict' }],
  [{ name: 'parent', domain: '.example.test', httpOnly: true }],
  [{ name: 'later', expires: 4_102_444_800 }],
  [{ name: 'framed', domain: 'foreign.example.test' }],
  [{ name: '__Host-a', secure: true }, 'cookies were not sent, .* request to their hosts. Check domain and secure'],
  [{ name: 'bare', domain: 'example.test' }, 'cookies were not sent, .* request to their hosts'],
  [{ name: 'suffix', domain: '.com' }, 'cookies were not sent, .* request to their hosts'],
  [{ name: 'other', domain: 'other.example' }, 'cookies were not sent, .* request to their hosts'],
  [{ name: 'foreign', domain: 'foreign.test' }, 'cookies were not sent with requests to another site .* same_site None'],
  [{ name: 'old', expires: 1 }, `${KEPT} that have expired`],
  [{ name: 'begun', expires: 0 }, `${KEPT} that have expired`],
  [{ name: '__Http-a', secure: true }, `${KEPT} that break its rules`],
]
t.test('a warning names each cookie that has no effect, and only those, without their values', async (t) => {
  const received: unknown[] = []
  const sites = await serveSites(t, ({ own }) => ({
    own: {
      '/': (request, response) => {
        received.push(request.headers.cookie)
        const { port } = new URL(own.url('/'))
        const frames = ['foreign.example.test', 'foreign.test'].map((host) => `<iframe src="http://${host}:${port}/framed"></iframe>`)
        response.writeHead(200, { 'content-type': 'text/html' }).end(html(frames.join('')))
      },
      '/framed': (request, response) => {
        received.push(request.headers.cookie)
        response.writeHead(200, { 'content-type': 'text/html' }).end('x')
      },
    },
  }))
  const url = sites.own.url('/').replace('127.0.0.1', 'shop.example.test')
  const cookies = COOKIES.map(([cookie]) => ({ ...cookie, value: 's3cret' }))
  const { warnings } = (await stage.takeAt(url, {}, { privateOptions: { cookies } })).findings
  for (const [index, [{ name }, warning]] of COOKIES.entries()) {
    const found = warnings.filter((text) => text.includes(`cookies[${index}] (${name})`))
    if (warning === undefined) t.strictSame(found, [], name)
    else t.match(found, [new RegExp(`^${warning}.*: `)], name)
  }
  t.notMatch(warnings, /s3cret/)
  t.strictSame(
    received.map((text) => String(text).replaceAll('=s3cret', '')).sort(),
    ['parent; framed', 'plain; own; parent; later', 'undefined'].sort(),
  )
})

t.test('cookies for a page to which another redirects, and for its own scripts, add no warning', async (t) => {
  const sites = await serveSites(t, ({ own }) => ({
    own: {
      '/': redirect(own.url('/in').replace('127.0.0.1', 'account.example.test')),
      '/in': html('<script>document.cookie = "sso=; max-age=0"; document.title = document.cookie</script>Text'),
    },
  }))
  const cookies = [{ name: 'sso', value: 'b', domain: 'account.example.test' }]
  const { warnings, pageTitle } = (await stage.takeAt(sites.own.url('/'), {}, { privateOptions: { cookies } })).findings
  t.strictSame([warnings, pageTitle], [[], ''], 'it was sent, although the page has removed it')
  const read = { html: html('<script>document.title = document.cookie</script>Text') }
  const markup = await stage.takeAt('about:blank', read, { privateOptions: { cookies: [{ name: 'a', value: 'b' }] } })
  t.strictSame([markup.findings.warnings, markup.findings.pageTitle], [[], 'a=b'])
})

t.test('interception ends with its capture: the next one of the account sends no headers', async (t) => {
  const sites = await serveSites(t, () => ({ own: { '/': html('<img src="/a.png">') } }))
  await shoot(sites, '/', signed)
  await shoot(sites, '/', {})
  t.strictSame(without(sites.seen), ['/ token pass', '/a.png token pass', '/ - -', '/a.png - -'])
})

// Credentials are only for the page’s own origin. Here a page sends requests to a foreign host and to related hosts of its own origin by every
// method of a page, including redirects by its own origin. Every request must arrive, and none may have credentials.

const secretsIn = ({ headers }: IncomingMessage): string[] =>
  [headers.authorization && 'authorization', headers['x-pass'] && 'x-pass', headers.cookie && 'cookie'].filter(
    (name) => name !== undefined && name !== '',
  ) as string[]

interface ReceivedRequest {
  way: string
  method: string
  secrets: string[]
}

/** A server that records the credentials of each request for `/<method>`. It allows any origin, and requires a user name if configured. */
async function serveWays(t: Test, { asksForName = false, pages = {} as Pages } = {}) {
  const received: ReceivedRequest[] = []
  const answer: RequestListener = (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://any')
    const way = pathname.slice(1)
    received.push({ way, method: request.method ?? '', secrets: secretsIn(request) })
    const page = pages[pathname]
    if (typeof page === 'function') return page(request, response)
    const origin = request.headers.origin ?? '*'
    const cors = {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'x-own',
      'access-control-allow-methods': '*',
    }
    const types: Record<string, string> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }
    const challenge = asksForName && request.method !== 'OPTIONS' ? { 'www-authenticate': 'Basic realm="x"' } : {}
    response.writeHead('www-authenticate' in challenge ? 401 : 200, {
      ...cors,
      ...challenge,
      'content-type': types[way.split('.')[1] ?? ''] ?? 'text/html',
    })
    response.end(typeof page === 'string' ? page : '')
  }
  const server = await servePages(new Proxy({}, { get: () => answer }) as Pages)
  t.teardown(() => server.close())
  return { received, port: new URL(server.url('/')).port, pages }
}

/** One line of HTML per method to send a request to a host. */
const WAYS: Record<string, (to: string) => string> = {
  img: (to) => `<img src="${to}">`,
  'sheet.css': (to) => `<link rel="stylesheet" href="${to}">`,
  'import.css': (to) => `<style>@import "${to}";</style>`,
  background: (to) => `<div style="width:9px;height:9px;background:url(${to})"></div>`,
  font: (to) => `<style>@font-face { font-family: f; src: url(${to}) } p { font-family: f }</style>`,
  'script.js': (to) => `<script src="${to}"></script>`,
  'module.js': (to) => `<script type="module" src="${to}"></script>`,
  preload: (to) => `<link rel="preload" as="fetch" href="${to}" crossorigin="use-credentials">`,
  'modulepreload.js': (to) => `<link rel="modulepreload" href="${to}">`,
  prefetch: (to) => `<link rel="prefetch" href="${to}">`,
  frame: (to) => `<iframe src="${to}"></iframe>`,
  'frame-in-srcdoc': (to) => `<iframe srcdoc="<img src='${to}'>"></iframe>`,
  'frame-blank': (to) => `<iframe></iframe><script>frames[frames.length - 1].document.write("<img src='${to}'>")</script>`,
  object: (to) => `<object data="${to}"></object>`,
  embed: (to) => `<embed src="${to}">`,
  video: (to) => `<video src="${to}" autoplay muted></video>`,
  form: (to) =>
    `<iframe name="sink"></iframe><form target="sink" method="post" action="${to}"></form><script>document.forms[document.forms.length - 1].submit()</script>`,
  'fetch-plain': (to) => `<script>fetch('${to}', { mode: 'no-cors', credentials: 'include' }).catch(() => {})</script>`,
  'fetch-preflight': (to) => `<script>fetch('${to}', { credentials: 'include', headers: { 'x-own': '1' } }).catch(() => {})</script>`,
  xhr: (to) => `<script>{ const x = new XMLHttpRequest(); x.withCredentials = true; x.open('PUT', '${to}'); x.send('x') }</script>`,
  beacon: (to) => `<script>navigator.sendBeacon('${to}', 'x')</script>`,
  events: (to) => `<script>new EventSource('${to}', { withCredentials: true })</script>`,
  worker: (to) =>
    `<script>new Worker(URL.createObjectURL(new Blob(["fetch('${to}', { credentials: 'include' }).catch(() => {})"])))</script>`,
  'service-worker': (to) => `<script>navigator.serviceWorker.register('/service.js?to=${encodeURIComponent(to)}')</script>`,
}

/** Requests each method's path, directly and by a redirect of the page's own origin. */
const pageOf = (hosts: readonly string[]): string =>
  `<!doctype html><body><p>Text.</p><script>fetch('/wait').then(() => { document.body.id = 'enough' })</script>${hosts.flatMap((host) => Object.entries(WAYS).map(([way, write]) => write(`${host}/${way}`))).join('\n')}`
const service: RequestListener = (request, response) => {
  const to = new URL(request.url ?? '/', 'http://own').searchParams.get('to') ?? ''
  response.writeHead(200, { 'content-type': 'text/javascript' })
  response.end(`oninstall = (event) => event.waitUntil(fetch('${to}', { credentials: 'include', mode: 'no-cors' }).catch(() => {}))`)
}
const away =
  (port: string): RequestListener =>
  (request, response) =>
    void response.writeHead(307, { location: `http://foreign.example:${port}${request.url}`, 'access-control-allow-origin': '*' }).end()

/** Not all methods follow redirects. */
const MOST_WAYS = 15
const waysOf = (received: readonly ReceivedRequest[]): Set<string> => new Set(received.map(({ way }) => way))

/** A response that waits until enough requests have arrived elsewhere. */
const until =
  (isEnough: () => boolean): RequestListener =>
  (_, response) =>
    void eventually('enough has arrived', async () => isEnough(), 20_000)
      .catch(() => {})
      .then(() => response.end())

const SIGNED: Record<string, PrivateOptions> = {
  'authorization, headers and cookies': { ...signed, cookies: [{ name: 'session', value: 's3cret' }] },
  'basic auth': { basicAuthUsername: 'u', basicAuthPassword: 'p' },
}

const ALL_SECRETS = ['authorization', 'cookie', 'x-pass']

for (const [name, privateOptions] of Object.entries(SIGNED)) {
  t.test(`${name} are sent to no other host by any method of a page`, async (t) => {
    const foreign = await serveWays(t, { asksForName: name === 'basic auth' })
    const own = await serveWays(t)
    own.pages['/'] = pageOf([`http://foreign.example:${foreign.port}`])
    own.pages['/wait'] = until(() => waysOf(foreign.received).size === Object.keys(WAYS).length)
    own.pages['/service.js'] = service
    await stage.takeAt(`http://127.0.0.1:${own.port}/`, { waitUntil: ['domcontentloaded'], waitForSelector: '#enough' }, { privateOptions })
    const received = waysOf(foreign.received)
    assertEvery(t, Object.keys(WAYS), (way) => received.has(way), 'each request arrives')
    assertSome(t, foreign.received, ({ method }) => method === 'OPTIONS', 'preflights too')
    assertEvery(t, foreign.received, ({ secrets }) => secrets.length === 0, 'without credentials')
    if (name !== 'basic auth') t.strictSame(own.received[0]?.secrets.toSorted(), ALL_SECRETS, 'the control: its own origin gets them')
  })

  t.test(`${name} follow no redirect to another host by any method of a page`, async (t) => {
    const foreign = await serveWays(t, { asksForName: name === 'basic auth' })
    const own = await serveWays(t)
    for (const way of Object.keys(WAYS)) own.pages[`/${way}`] = away(foreign.port)
    own.pages['/'] = pageOf([''])
    own.pages['/wait'] = until(() => waysOf(foreign.received).size > MOST_WAYS)
    own.pages['/service.js'] = service
    await stage.takeAt(`http://127.0.0.1:${own.port}/`, { waitUntil: ['domcontentloaded'], waitForSelector: '#enough' }, { privateOptions })
    t.ok(waysOf(foreign.received).size > MOST_WAYS, `${foreign.received.length} arrive`)
    assertEvery(t, foreign.received, ({ secrets }) => secrets.length === 0)
    const image = own.received.find(({ way }) => way === 'img')
    if (name !== 'basic auth') t.strictSame(image?.secrets.toSorted(), ALL_SECRETS, 'the control')
  })
}

t.test('cookies are sent neither to a parent domain, nor to a subdomain, nor to a sibling of the page’s host', async (t) => {
  const site = await serveWays(t)
  const hosts = ['own.example', 'www.a.own.example', 'other.example'].map((host) => `http://${host}:${site.port}/`)
  site.pages['/page'] =
    `<!doctype html><p>Text.</p>${hosts.map((host, index) => `<img src="${host}beside-${index}">`).join('')}<img src="/mine">`
  await stage.takeAt(`http://a.own.example:${site.port}/page`, {}, { privateOptions: { cookies: [{ name: 'session', value: 's3cret' }] } })
  const secretsOf = (way: string) => site.received.find((one) => one.way === way)?.secrets
  t.strictSame(
    [0, 1, 2].map((index) => secretsOf(`beside-${index}`)),
    [[], [], []],
  )
  t.strictSame(secretsOf('mine'), ['cookie'], 'the control')
})
