import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import t from 'tap'
import { type Pages, servePages } from './stage/page-server.ts'
import { openStudio } from './stage/studio.ts'

// What the client gave for one origin, and a page that turns out to be of another one: another port, another host, or the same origin after a detour.

const studio = await openStudio()
t.teardown(() => studio.close())

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

/** A site at another address of loopback. */
async function serveElsewhere(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.2')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.2:${(server.address() as AddressInfo).port}`
}

/** Pages that refer to each other are added later. */
const pages: Pages = {}
const site = await servePages(pages)
const foreign = await servePages({
  '/': html(''),
  '/asks': asking,
  '/back': redirect(site.url('/landing')),
  '/by-script': go(site.url('/landing')),
})
const elsewhere = await serveElsewhere((_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(html('')))
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
  (await studio.shoot(site.url(path), options, { privateOptions })).findings.warnings.filter((text) => /origin|redirect/.test(text))

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
