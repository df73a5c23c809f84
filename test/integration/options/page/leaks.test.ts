// Credentials are only for the page’s own origin. Here a page sends requests to a foreign host and to related hosts of its own origin by every
// method of a page, including redirects by its own origin. Every request must arrive, and none may have credentials.

import type { IncomingMessage, RequestListener } from 'node:http'
import type { PrivateOptions } from '@tintype/crds/options/private'
import t, { type Test } from 'tap'
import { eventually } from '../../../support/eventually.ts'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import { type Pages, servePages } from '../../capture-runner/stage/page-server.ts'
import { openStudio } from '../../capture-runner/stage/studio.ts'

/** Loopback is an origin that may have service workers; names are hosts with separate cookies. */
const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
const studio = await openStudio({ guard: { dnsServers: [names.address] } })
t.teardown(async () => {
  await studio.close()
  await names.close()
})

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
async function listen(t: Test, { asksForName = false, pages = {} as Pages } = {}) {
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
  'authorization, headers and cookies': {
    authorization: 'Bearer s3cret',
    headers: { 'X-Pass': 's3cret' },
    cookies: [{ name: 'session', value: 's3cret' }],
  },
  'basic auth': { basicAuthUsername: 'u', basicAuthPassword: 'p' },
}

for (const [name, privateOptions] of Object.entries(SIGNED)) {
  t.test(`${name} are sent to no other host by any method of a page`, async (t) => {
    const foreign = await listen(t, { asksForName: name === 'basic auth' })
    const own = await listen(t)
    own.pages['/'] = pageOf([`http://foreign.example:${foreign.port}`])
    own.pages['/wait'] = until(() => waysOf(foreign.received).size === Object.keys(WAYS).length)
    own.pages['/service.js'] = service
    await studio.shoot(`http://127.0.0.1:${own.port}/`, { waitUntil: ['domcontentloaded'], waitForSelector: '#enough' }, { privateOptions })
    const received = waysOf(foreign.received)
    t.strictSame(
      Object.keys(WAYS).filter((way) => !received.has(way)),
      [],
      'each request arrives',
    )
    t.ok(
      foreign.received.some(({ method }) => method === 'OPTIONS'),
      'preflights too',
    )
    t.strictSame(
      foreign.received.filter(({ secrets }) => secrets.length > 0),
      [],
      'without credentials',
    )
    if (name !== 'basic auth')
      t.strictSame(own.received[0]?.secrets.toSorted(), ['authorization', 'cookie', 'x-pass'], 'the control: its own origin gets them')
  })

  t.test(`${name} follow no redirect to another host by any method of a page`, async (t) => {
    const foreign = await listen(t, { asksForName: name === 'basic auth' })
    const own = await listen(t)
    for (const way of Object.keys(WAYS)) own.pages[`/${way}`] = away(foreign.port)
    own.pages['/'] = pageOf([''])
    own.pages['/wait'] = until(() => waysOf(foreign.received).size > MOST_WAYS)
    own.pages['/service.js'] = service
    await studio.shoot(`http://127.0.0.1:${own.port}/`, { waitUntil: ['domcontentloaded'], waitForSelector: '#enough' }, { privateOptions })
    t.ok(waysOf(foreign.received).size > MOST_WAYS, `${foreign.received.length} arrive`)
    t.strictSame(
      foreign.received.filter(({ secrets }) => secrets.length > 0),
      [],
    )
    if (name !== 'basic auth') {
      const image = own.received.find(({ way }) => way === 'img')
      t.strictSame(image?.secrets.toSorted(), ['authorization', 'cookie', 'x-pass'], 'the control')
    }
  })
}

t.test('cookies are sent neither to a parent domain, nor to a subdomain, nor to a sibling of the page’s host', async (t) => {
  const site = await listen(t)
  const hosts = ['own.example', 'www.a.own.example', 'other.example'].map((host) => `http://${host}:${site.port}/`)
  site.pages['/page'] =
    `<!doctype html><p>Text.</p>${hosts.map((host, index) => `<img src="${host}beside-${index}">`).join('')}<img src="/mine">`
  await studio.shoot(`http://a.own.example:${site.port}/page`, {}, { privateOptions: { cookies: [{ name: 'session', value: 's3cret' }] } })
  const secretsOf = (way: string) => site.received.find((one) => one.way === way)?.secrets
  t.strictSame(
    [0, 1, 2].map((index) => secretsOf(`beside-${index}`)),
    [[], [], []],
  )
  t.strictSame(secretsOf('mine'), ['cookie'], 'the control')
})
