import t, { type Test } from 'tap'
import { capture } from '../../../capture-runner/src/capture/capture.ts'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import type { CaptureOrder } from '../../../crds/src/dispatch/dispatch.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { assertEvery } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { openStage } from '../options/options.ts'
import { type Handler, startForbiddenSite } from './stage/forbidden-site.ts'
import { anOrder, partsOf } from './stage/orders.ts'
import { servePages } from './stage/page-server.ts'
import { type How, policyWith } from './stage/studio.ts'

// Ways to show or to reach a host that the capture policy of a key does not allow, with a real browser. Each way ends at `/to/<way>` of a host that is
// refused first and allowed then, so that no test passes because its way leads nowhere.

const ALLOWED = ['allowed.test', 'other.test']
const EVIL = 'evil.test'
/** Of the same site as an allowed host. Speculation rules render its pages before they are opened. */
const NEAR = 'near.allowed.test'
const KEY = 'key_01jdc0g8m0abcdefghjkmnpqrs'

const pages: Record<string, string | Handler> = {}
const site = await startForbiddenSite(t, [...ALLOWED, EVIL, NEAR], pages)
const stage = await openStage(
  t,
  {},
  { usual: { viewportWidth: 300, viewportHeight: 200, stabilityTimeout: 0 }, extraArguments: [site.trustFlag] },
)

const at = (path: string, host = 'allowed.test') => `https://${host}:${site.port}${path}`
const evil = (way: string) => at(`/to/${way}`, EVIL)
const page = (body: string) => `<!doctype html><title>page</title><body style="background:#0f0">${body}`
const running = (code: string) => page(`<script>${code}</script>`)
const serving =
  (headers: Record<string, string>, body = ''): Handler =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body)
const redirecting =
  (status: number, to: string): Handler =>
  (_, response) =>
    void response.writeHead(status, { location: to, 'access-control-allow-origin': '*' }).end()
/** Ways that arrived at a host. */
const waysTo = (host: string): string[] =>
  site.arrived.filter((request) => request.startsWith(`${host} /to/`)).map((request) => request.slice(`${host} /to/`.length))

/** Captures a page of an allowed host. Returns its warnings, or its error. */
async function take(path: string, { options = {}, ...how }: How & { options?: CaptureOptions }) {
  site.arrived.length = 0
  return stage.takeAt(path.includes(':') ? path : at(path), options, how).then(
    ({ findings }) => ({ warnings: findings.warnings, code: undefined, message: '' }),
    ({ code, message }: { code: string; message: string }) => ({ warnings: [], code, message }),
  )
}

type Field = 'allowedHosts' | 'allowedRequestHosts'
const SNAKE = { allowedHosts: 'allowed_hosts', allowedRequestHosts: 'allowed_request_hosts' }
const limitedTo = (field: Field, hosts: string[]) => ({ capturePolicy: { keyId: KEY, [field]: hosts } })

/** Refuses all ways of a page with a warning, and then allows them. */
async function assertWarned(t: Test, path: string, field: Field, ways: readonly string[], how: How & { options?: CaptureOptions } = {}) {
  const refused = await take(path, { ...how, ...limitedTo(field, ALLOWED) })
  t.equal(refused.code, undefined, refused.message)
  t.strictSame(
    waysTo(EVIL).filter((way) => ways.includes(way)),
    [],
    'nothing arrives',
  )
  t.match(refused.warnings[0], new RegExp(`^the capture policy of ${KEY} refused .*\\b${EVIL}\\. .*\\b${SNAKE[field]}\\b`))
  const allowed = await take(path, { ...how, ...limitedTo(field, [...ALLOWED, EVIL]) })
  t.strictSame(
    allowed.warnings.filter((warning) => warning.includes(KEY)),
    [],
  )
  const arrived = waysTo(EVIL)
  assertEvery(t, ways, (way) => arrived.includes(way), 'the control')
}

/** Refuses the page, and then allows it. */
async function assertFailed(t: Test, path: string, field: Field, how: How & { options?: CaptureOptions } = {}, host = EVIL) {
  const refused = await take(path, { ...how, ...limitedTo(field, ALLOWED) })
  t.match(refused, {
    code: 'URL_NOT_ALLOWED',
    message: new RegExp(`^the capture policy of ${KEY} does not allow ${host}\\. Add it to ${SNAKE[field]}`),
  })
  if (host === EVIL) t.strictSame(waysTo(host), [], 'nothing arrives')
  t.strictSame(site.arrived.filter((request) => request === site.arrived[0]).length, Math.min(1, site.arrived.length), 'without a retry')
  const allowed = await take(path, { ...how, ...limitedTo(field, [...ALLOWED, host]) })
  t.equal(allowed.code, undefined, allowed.message)
  t.not(waysTo(host).length, 0, 'the control')
}

const FRAMES = [
  ...[
    'iframe',
    'redirect',
    'srcdoc',
    'srcdoc-refresh',
    'data',
    'blob',
    'javascript',
    'post',
    'object',
    'embed',
    'blank',
    'written',
    'late',
  ],
  ...['foreign-frame', 'foreign-blank', 'foreign-left', 'swapped'],
]
Object.assign(pages, {
  '/frames': page(`
    <iframe src="${evil('iframe')}"></iframe><iframe src="/go/redirect"></iframe>
    <iframe srcdoc="<iframe src='${evil('srcdoc')}'></iframe>"></iframe>
    <iframe srcdoc="<meta http-equiv=refresh content='0;url=${evil('srcdoc-refresh')}'>"></iframe>
    <iframe src="data:text/html,<iframe src='${evil('data')}'></iframe>"></iframe>
    <iframe name="posted"></iframe><form target="posted" method="post" action="${evil('post')}"></form>
    <object type="text/html" data="${evil('object')}"></object><embed type="text/html" src="${evil('embed')}">
    <iframe src="${at('/foreign', 'other.test')}"></iframe><iframe id="swapped" src="${at('/plain', 'other.test')}"></iframe>
    <script>
    const add = (src = 'about:blank') => document.body.appendChild(Object.assign(document.createElement('iframe'), { src }))
    document.forms[0].submit()
    add().contentWindow.location = '${evil('blank')}'
    const { contentDocument } = add()
    contentDocument.write('<iframe src="${evil('written')}"></iframe>')
    contentDocument.close()
    add(URL.createObjectURL(new Blob(['<iframe src="${evil('blob')}"></iframe>'], { type: 'text/html' })))
    add('javascript:location="${evil('javascript')}"')
    setTimeout(() => add('${evil('late')}'), 200)
    swapped.onload = () => { swapped.onload = null; swapped.src = '${evil('swapped')}' }
    </script>`),
  '/go/redirect': redirecting(302, evil('redirect')),
  '/foreign': page(`<iframe src="${evil('foreign-frame')}"></iframe><iframe id="inner"></iframe><script>
    inner.contentWindow.location = '${evil('foreign-blank')}'
    setTimeout(() => { location = '${evil('foreign-left')}' }, 300)</script>`),
})

t.test('no frame shows a host outside allowed_hosts', (t) =>
  assertWarned(t, '/frames', 'allowedHosts', FRAMES, { options: { delay: 1_000 } }),
)

const REQUESTS = [
  ...[
    'iframe',
    'img',
    'img-redirect',
    'css',
    'import',
    'font',
    'script',
    'module',
    'preload',
    'prefetch',
    'fetch',
    'fetch-redirect',
    'xhr',
    'beacon',
  ],
  ...['eventsource', 'websocket', 'worker', 'import-scripts', 'service-worker', 'video', 'track', 'csp-report', 'ping', 'svg'],
]
const asBlob = (code: string) => `URL.createObjectURL(new Blob([${JSON.stringify(code)}], { type: 'text/javascript' }))`
const fetching = (way: string) => `fetch('${evil(way)}', { mode: 'no-cors' }).catch(() => {})`
Object.assign(pages, {
  '/requests': serving(
    { 'content-security-policy-report-only': `img-src 'none'; report-uri ${evil('csp-report')}` },
    page(`<style>@import '${evil('import')}'; @font-face { font-family: f; src: url('${evil('font')}') } p { font-family: f }</style><p>text</p>
    <link rel="stylesheet" href="${evil('css')}"><link rel="prefetch" href="${evil('prefetch')}"><link rel="preload" as="image" href="${evil('preload')}">
    <link rel="preconnect" href="${evil('')}"><link rel="dns-prefetch" href="${evil('')}"><link rel="icon" href="${evil('icon')}">
    <img src="${evil('img')}"><img src="/go/img"><svg><image href="${evil('svg')}"></image></svg><iframe src="${evil('iframe')}"></iframe>
    <video muted autoplay src="${evil('video')}"></video><video crossorigin src="${at('/none')}"><track default src="${evil('track')}"></video>
    <a ping="${evil('ping')}" href="#here">link</a>
    <script>navigator.serviceWorker.register('/worker.js')</script><script src="${evil('script')}"></script><script type="module" src="${evil('module')}"></script>
    <script>
    //# sourceMappingURL=${evil('source-map')}
    document.querySelector('track').track.mode = 'showing'
    document.querySelector('a').click()
    ${fetching('fetch')}; fetch('/go/fetch').catch(() => {})
    const request = new XMLHttpRequest(); request.open('GET', '${evil('xhr')}'); request.send()
    navigator.sendBeacon('${evil('beacon')}')
    new EventSource('${evil('eventsource')}').onerror = ({ target }) => target.close()
    new WebSocket('${evil('websocket').replace('https', 'wss')}')
    new Worker(${asBlob(fetching('worker'))})
    new Worker(${asBlob(`importScripts('${evil('import-scripts')}')`)})
    new RTCPeerConnection({ iceServers: [{ urls: 'stun:${EVIL}:${site.port}' }] }).createDataChannel('x')
    </script>`),
  ),
  '/worker.js': serving({ 'content-type': 'text/javascript' }, `oninstall = (event) => event.waitUntil(${fetching('service-worker')})`),
  '/go/img': redirecting(302, evil('img-redirect')),
  '/go/fetch': redirecting(307, evil('fetch-redirect')),
})

t.test('a page reaches no host outside allowed_request_hosts', async (t) => {
  await assertWarned(t, '/requests', 'allowedRequestHosts', REQUESTS, { options: { delay: 1_000 } })
})

t.test('allowed_hosts leaves other requests than documents alone', async (t) => {
  await take('/requests', { ...limitedTo('allowedHosts', ALLOWED), options: { delay: 500 } })
  const arrived = waysTo(EVIL)
  t.notOk(arrived.includes('iframe'))
  assertEvery(t, ['img', 'css', 'script', 'fetch', 'worker', 'websocket'], (way) => arrived.includes(way))
})

/** Pages that lead to another one, and the options with which they do. */
const NAVIGATIONS: [name: string, page: string | Handler, options?: CaptureOptions][] = [
  ...[301, 303, 307].map((status): [string, Handler] => [`a redirect with ${status}`, redirecting(status, evil('page'))]),
  ['a second redirect', redirecting(302, at('/go/page', 'other.test'))],
  ['a meta refresh', page(`<meta http-equiv="refresh" content="0;url=${evil('page')}">`)],
  ['a refresh header', serving({ refresh: `0;url=${evil('page')}` }, page('leaving'))],
  ['location', running(`location = '${evil('page')}'`)],
  ['location.replace after a while', running(`setTimeout(() => location.replace('${evil('page')}'), 300)`), { delay: 1_000 }],
  ['the Navigation API', running(`navigation.navigate('${evil('page')}')`)],
  ['a form', page(`<form method="post" action="${evil('page')}"></form><script>document.forms[0].submit()</script>`)],
  ['a frame', page(`<iframe srcdoc="<script>top.location = '${evil('page')}'</script>"></iframe>`)],
  [
    'going back',
    running(`history.pushState(0, '', '#a'); history.back(); onpopstate = () => { location = '${evil('page')}' }`),
    { delay: 500 },
  ],
  ['a link', page(`<a href="${evil('page')}">link</a>`), { click: 'a' }],
  ['a link with a target', page(`<a target="_blank" href="${evil('page')}">link</a>`), { click: 'a' }],
  ['a script of the client', page('here'), { scripts: `location = '${evil('page')}'` }],
  ['user info', running(`location = '${evil('page').replace('https://', 'https://allowed.test@')}'`)],
  ['a trailing dot', running(`location = '${evil('page')}'.replace('${EVIL}', '${EVIL}.')`)],
  ['upper case', running(`location = '${evil('page')}'.replace('${EVIL}', '${EVIL.toUpperCase()}')`)],
]
pages['/go/page'] = redirecting(302, evil('page'))

for (const [index, [name, content, options = {}]] of NAVIGATIONS.entries()) {
  const path = `/navigation-${index}`
  pages[path] = content
  const isDotted = name === 'a trailing dot'
  t.test(`${name} does not lead out of allowed_hosts`, async (t) => {
    const refused = await take(path, { ...limitedTo('allowedHosts', ALLOWED), options: { retries: 2, ...options } })
    t.match(refused, { code: 'URL_NOT_ALLOWED', message: new RegExp(`^the capture policy of ${KEY} does not allow ${EVIL}\\.`) })
    t.strictSame(waysTo(EVIL), [], 'nothing arrives')
    t.equal(site.arrived.filter((request) => request.endsWith(path)).length, 1, 'without a retry')
    // The guard refuses names with a trailing dot.
    if (isDotted) return
    const allowed = await take(path, { ...limitedTo('allowedHosts', [...ALLOWED, EVIL]), options })
    t.equal(allowed.code, undefined, allowed.message)
    t.strictSame(waysTo(EVIL), ['page'], 'the control')
  })
}

/** Pages that speculation rules fetch or render before they are opened. */
const opening = (rules: object, to: string) =>
  page(`<script type="speculationrules">${JSON.stringify(rules)}</script><script>setTimeout(() => { location = '${to}' }, 600)</script>`)
const speculation = (url: string) => [{ source: 'list', urls: [url], eagerness: 'immediate' }]
const near = at('/to/page', NEAR)
Object.assign(pages, {
  '/prefetched': opening({ prefetch: speculation(near) }, near),
  '/prerendered': opening({ prerender: speculation(near) }, near),
  '/own-prerendered': opening({ prerender: speculation('/framing') }, '/framing'),
  '/framing': page(`<iframe src="${evil('prerendered-frame')}"></iframe>`),
  '/to/page': serving({ 'supports-loading-mode': 'credentialed-prerender' }, page('inside')),
  '/go/near': redirecting(302, near),
})

t.test('a page outside allowed_hosts that was fetched or rendered before it is opened fails the capture', async (t) => {
  for (const path of ['/prefetched', '/prerendered']) await assertFailed(t, path, 'allowedHosts', { options: { delay: 1_500 } }, NEAR)
  await assertWarned(t, '/own-prerendered', 'allowedHosts', ['prerendered-frame'], { options: { delay: 1_500 } })
})

t.test('a page outside allowed_request_hosts fails the capture', async (t) => {
  await assertFailed(t, evil('page'), 'allowedRequestHosts')
  await assertFailed(t, '/go/page', 'allowedRequestHosts')
  await assertFailed(t, `https://127.0.0.1:${site.port}/to/page`, 'allowedRequestHosts', {}, '127.0.0.1')
})

t.test('own markup has no base URL outside allowed_hosts, and needs none', async (t) => {
  const options = { html: page(`<iframe src="${evil('markup')}"></iframe>`) }
  await assertWarned(t, 'about:html', 'allowedHosts', ['markup'], { options })
  const based = await take('about:html', { ...limitedTo('allowedHosts', ALLOWED), options: { ...options, htmlBaseUrl: at('/', EVIL) } })
  t.match(based, { code: 'URL_NOT_ALLOWED' })
})

t.test('files and code of the client reach no host outside allowed_request_hosts', async (t) => {
  pages['/here'] = page('here')
  const options: CaptureOptions = {
    styleUrls: [evil('style-url')],
    initScript: fetching('init-script'),
    waitForFunction: `(window.asked ??= ${fetching('wait-for-function')}, true)`,
    format: 'pdf',
  }
  await assertWarned(t, '/here', 'allowedRequestHosts', ['style-url', 'init-script', 'wait-for-function'], { options })
  const failed = await take('/here', { ...limitedTo('allowedRequestHosts', ALLOWED), options: { scriptUrls: [evil('script-url')] } })
  t.match(failed, { code: 'SCRIPT_ERROR', message: new RegExp(`${KEY} refused requests of ${EVIL}\\.`) })
  t.strictSame(waysTo(EVIL), [])
})

t.test('requests do not reach a refused host over a connection to an allowed one', async (t) => {
  // Both are names of one address and certificate, so the browser could share an HTTP/2 connection.
  pages['/reused'] = page(`<script>fetch('/to/own').then(() => ${fetching('reused')})</script>`)
  await assertWarned(t, '/reused', 'allowedRequestHosts', ['reused'], { options: { delay: 300 } })
})

t.test('a host that the policy of a key allows stays refused if its address is private', async (t) => {
  const policy = policyWith({ allowedCidrs: [] })
  const { code } = await take('/here', { ...limitedTo('allowedRequestHosts', ALLOWED), policy })
  t.equal(code, 'BLOCKED_ADDRESS')
})

// Orders as the operator sends them, with a storage that accepts everything.

const order = (change: Partial<CaptureOrder>) =>
  anOrder({ url: at('/here'), upload: { url: storage.url('/store'), headers: {}, maxBytes: 1_000_000 }, ...change })
const storage = await servePages({ '/store': (request, response) => void request.resume().on('end', () => response.end()) })
t.teardown(storage.close)
const run = async (change: Partial<CaptureOrder>) => {
  site.arrived.length = 0
  storage.requests.length = 0
  const options = { viewportWidth: 300, viewportHeight: 200, stabilityTimeout: 0, ...change.options }
  const { outcome } = await capture(order({ ...change, options }), { ...partsOf(stage), guard }, new AbortController().signal)
  return outcome
}
const guard = createGuard({ ownAddresses: [] })

t.test('a refused page is not loaded again, and nothing is stored', async (t) => {
  const { phase, result } = await run({ url: at('/go/page'), options: { retries: 3 }, ...limitedTo('allowedHosts', ALLOWED) })
  t.match({ phase, error: result.error }, { phase: 'Failed', error: { code: 'URL_NOT_ALLOWED' } })
  t.strictSame(site.arrived, ['allowed.test /go/page'])
  t.strictSame(storage.requests, [])
})

t.test('proxy and storage of the client count as requests', async (t) => {
  for (const [name, change] of [
    ['proxy', { options: { proxy: `http://127.0.0.1:${site.port}` } }],
    [
      'storage',
      {
        options: { storageBucket: 'pictures', storageEndpoint: `https://127.0.0.1:${site.port}` },
        privateOptions: { storageAccessKeyId: 'a', storageSecretAccessKey: 'b' },
      },
    ],
  ] as [string, Partial<CaptureOrder>][]) {
    const { result } = await run({ ...change, ...limitedTo('allowedRequestHosts', ALLOWED) })
    t.match(
      result.error,
      { code: 'URL_NOT_ALLOWED', message: new RegExp(`${KEY} does not allow 127\\.0\\.0\\.1\\. Add it to allowed_request_hosts`) },
      name,
    )
    t.notOk(
      site.arrived.some((request) => request.startsWith('127.0.0.1 ')),
      name,
    )
    t.strictSame(storage.requests, [], name)
  }
})

t.test('a batch does not give a limited capture the responses of another one', async (t) => {
  pages['/batch'] = page(`<script src="${evil('shared')}"></script>`)
  pages['/to/shared'] = serving({ 'content-type': 'text/javascript', 'cache-control': 'max-age=600' }, 'document.title = "evil"')
  const batch = { url: at('/batch'), batchId: 'batch_1' }
  const before = stage.httpCache.bytes
  t.match((await run(batch)).result, { pageTitle: 'evil' })
  await eventually('it is stored', async () => stage.httpCache.bytes > before)
  const { result } = await run({ ...batch, ...limitedTo('allowedRequestHosts', ALLOWED) })
  t.match(result, { pageTitle: 'page', warnings: [new RegExp(KEY)] })
})
