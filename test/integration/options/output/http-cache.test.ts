import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import sharp from 'sharp'
import t from 'tap'
import { capture } from '../../../../capture-runner/src/capture/capture.ts'
import { eventually } from '../../../support/eventually.ts'
import { anOrder, partsOf } from '../../capture-runner/stage/orders.ts'
import type { Pages } from '../../capture-runner/stage/page-server.ts'
import { type How, policyWith } from '../../capture-runner/stage/studio.ts'
import { openStage, type Shot } from '../options.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const FONT = readFileSync('/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf')
const PICTURE = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#c04000' } })
  .png()
  .toBuffer()

/** A resource that may be shared, unless its headers forbid it. */
const resource =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': type, 'cache-control': IMMUTABLE, ...headers }).end(body)
const js = (body = '', headers: Record<string, string> = {}): RequestListener => resource('text/javascript', body, headers)
const html = (body: string, headers: Record<string, string> = {}): RequestListener =>
  resource('text/html; charset=utf-8', `<!doctype html><body><p>Text.</p><script src="/control.js"></script>${body}`, headers)
/** Text without a charset in its headers; the page declares UTF-8. */
const UMLAUTS = `${'var x;'.repeat(20_000)}\ndocument.body.append('äöü €')`

const WITH_LOCALHOST = policyWith({ allowedHosts: ['localhost'] })
/** The same site with another name, so another origin. */
const elsewhere = (path: string): string => `http://localhost:${new URL(stage.site.url('/')).port}${path}`
/** Writes the result of an image to the title. */
const watched = (url: string): string => `<img src="${url}" onload="document.title = 'shown'" onerror="document.title = 'refused'">`

const pages: Pages = {
  '/': '<!doctype html><body style="background:#0f0"><p>Text.</p><script src="/shared.js"></script>',
  '/shared.js': js('var shared'),
  '/store': (request, response) => void request.resume().once('end', () => response.end()),
  '/control.js': js(),
  '/page': (request, response) =>
    html(`<link rel="stylesheet" href="/style.css"><script src="/umlauts.js"></script><script type="module" src="/module.js"></script>
      <img src="/picture.png"><img src="${elsewhere('/picture.png')}"><script crossorigin src="${elsewhere('/cors.js')}"></script><p class="far">Far away`)(
      request,
      response,
    ),
  '/style.css': (request, response) =>
    resource(
      'text/css',
      `@font-face { font-family: Far; src: url(${elsewhere('/font.ttf')}) } .far { font: 30px Far } body { background: #def url(/picture.png) }`,
    )(request, response),
  '/umlauts.js': js(gzipSync(UMLAUTS) as unknown as string, { 'content-encoding': 'gzip', vary: 'Accept-Encoding' }),
  '/module.js': js(`import '/imported.js'; await document.fonts.ready
    document.title = [...document.fonts].map(({ status }) => status).join() + typeof Corsed`),
  '/imported.js': js(),
  '/picture.png': resource('image/png', PICTURE),
  '/cors.js': ({ headers }, response) =>
    void response
      .writeHead(200, {
        'content-type': 'text/javascript',
        'cache-control': IMMUTABLE,
        'access-control-allow-origin': headers.origin ?? '',
        vary: 'Origin',
      })
      .end('var Corsed = 1'),
  '/font.ttf': resource('font/ttf', FONT, { 'access-control-allow-origin': '*' }),

  '/unshared': html(`<script src="/cookie.js"></script><script src="/private.js"></script><script src="/no-store.js"></script>
    <script src="/stale.js"></script><script src="/silent.js"></script><script src="/vary.js"></script><script src="/moved.js"></script><img src="/missing.png">
    <script src="/cut-off.js"></script><script src="/large.js"></script><script>new Worker('/worker.js'); fetch('/data.json')</script><iframe src="/frame"></iframe>`),
  '/cookie.js': js('', { 'set-cookie': 'a=b; Path=/nowhere' }),
  '/private.js': js('', { 'cache-control': 'private, max-age=600' }),
  '/no-store.js': js('', { 'cache-control': 'no-store' }),
  '/stale.js': js('', { 'cache-control': 'max-age=600', age: '601' }),
  '/silent.js': (_, response) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end(),
  '/vary.js': js('', { vary: 'Cookie' }),
  '/moved.js': (_, response) => void response.writeHead(302, { location: '/target.js', 'cache-control': IMMUTABLE }).end(),
  '/target.js': js(),
  '/missing.png': (_, response) => void response.writeHead(404, { 'cache-control': IMMUTABLE }).end(),
  '/cut-off.js': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript', 'cache-control': IMMUTABLE })
    response.write('var half = 1', () => response.destroy())
  },
  '/large.js': js(`//${'x'.repeat(5 * 2 ** 20)}`),
  '/worker.js': js(`importScripts('/imported-by-worker.js')`),
  '/imported-by-worker.js': js(),
  '/data.json': resource('application/json', '{}'),
  '/frame': resource('text/html', 'A frame.'),

  '/with-cookie': (request, response) =>
    html(`<img src="/picture.png"><img src="${elsewhere('/far.png')}">`, { 'set-cookie': 'session=1' })(request, response),
  '/far.png': resource('image/png', PICTURE),
  '/with-blocked': html('<script src="/blocked.js"></script><img src="/picture.png">'),
  '/blocked.js': js(`document.title = 'not blocked'`),
  '/own': html(watched('/guarded.png')),
  '/embeds': (request, response) => html(watched(elsewhere('/guarded.png')))(request, response),
  '/guarded.png': resource('image/png', PICTURE, { 'cross-origin-resource-policy': 'same-origin' }),
  '/lax': (request, response) => html(watched(elsewhere('/picture.png')))(request, response),
  '/strict': (request, response) =>
    html(watched(elsewhere('/picture.png')), { 'cross-origin-embedder-policy': 'require-corp' })(request, response),
}
const stage = await openStage(t, pages)

const SHARED: CaptureOptions = { httpCache: 'batch', viewportWidth: 500, viewportHeight: 400 }
const how = (batchId: string, more: How = {}): How => ({ batchId, policy: WITH_LOCALHOST, ...more })

/** A capture and its requests to the site. */
async function watch(url: string, options: CaptureOptions, given: How): Promise<{ shot: Shot; asked: string[] }> {
  stage.seen.length = 0
  const shot = await stage.shootAt(url, options, given)
  return { shot, asked: stage.seen.map(({ path }) => path).sort() }
}

/** Captures a page until one capture does not request these, because storing runs in parallel and may end after the capture. */
async function watchShared(url: string, options: CaptureOptions, given: How, shared: readonly string[] = ['/control.js']) {
  for (let attempt = 0; attempt < 10; attempt++) {
    const watched = await watch(url, options, given)
    if (attempt > 0 && !watched.asked.some((path) => shared.includes(path))) return watched
  }
  throw new Error(`${shared.join()} of ${url} are asked for each time`)
}

const PARTS = ['/control.js', '/cors.js', '/font.ttf', '/imported.js', '/module.js', '/picture.png', '/style.css', '/umlauts.js']
const kinds: { name: string; options: CaptureOptions }[] = [
  { name: 'a page', options: {} },
  { name: 'a full page with a key pressed', options: { fullPage: true, pressKey: 'End' } },
]

t.test('option http_cache: batch requests only the document the second time, with the same screenshot', async (t) => {
  const url = stage.site.url('/page')
  for (const { name, options } of kinds) {
    const off = await watch(url, { ...SHARED, ...options, httpCache: 'off' }, how(name))
    const first = await watch(url, { ...SHARED, ...options }, how(name))
    const { shot, asked } = await watchShared(url, { ...SHARED, ...options }, how(name), PARTS)
    t.strictSame(asked, ['/page'], name)
    t.strictSame([...new Set(off.asked)], [...PARTS, '/page'].sort(), 'without the option, all are requested')
    t.strictSame(first.asked, off.asked, 'as in the first capture')
    t.ok(shot.picture.equals(off.shot.picture), 'as without the option')
    t.ok(first.shot.picture.equals(off.shot.picture), 'the first one too')
    t.equal(shot.findings.pageTitle, 'loadednumber', 'the font and the script of another origin work')
    t.strictSame(shot.findings.warnings, [])
  }
})

t.test('http_cache requests again what must not be shared', async (t) => {
  const { asked } = await watchShared(stage.site.url('/unshared'), { ...SHARED, delay: 300 }, how('unshared'))
  t.strictSame(
    [...new Set(asked)],
    [
      ...['/unshared', '/cookie.js', '/private.js', '/no-store.js', '/stale.js', '/silent.js', '/vary.js', '/moved.js', '/target.js'],
      ...['/missing.png', '/cut-off.js', '/large.js', '/worker.js', '/imported-by-worker.js', '/data.json', '/frame'],
    ].sort(),
  )
})

t.test('http_cache requests again with cookies, and shares requests without them', async (t) => {
  const { asked } = await watchShared(stage.site.url('/with-cookie'), SHARED, how('cookies'), ['/far.png'])
  t.strictSame(asked, ['/control.js', '/picture.png', '/with-cookie'])
  t.equal(stage.lastSeen('/picture.png').headers.cookie, 'session=1')
})

t.test('http_cache always requests the page’s own origin with credentials, and shares the rest', async (t) => {
  for (const privateOptions of [
    { authorization: 'Bearer x' },
    { headers: { Cookie: 'a=b' } },
    { basicAuthUsername: 'a', basicAuthPassword: 'b' },
  ]) {
    const given = how('signed-in', { privateOptions })
    const { asked } = await watchShared(stage.site.url('/lax'), SHARED, given, ['/picture.png'])
    t.strictSame(asked, ['/control.js', '/lax'], Object.keys(privateOptions).join())
  }
})

t.test('http_cache shares responses to requests with the client’s own headers', async (t) => {
  const given = how('headers', { privateOptions: { headers: { 'X-A': '1' } } })
  await watch(stage.site.url('/lax'), SHARED, given)
  t.equal(stage.lastSeen('/control.js').headers['x-a'], '1')
  const { asked } = await watchShared(stage.site.url('/lax'), SHARED, given, ['/control.js', '/picture.png'])
  t.strictSame(asked, ['/lax'])
})

t.test('http_cache does not serve blocked requests', async (t) => {
  const options: CaptureOptions = { ...SHARED, blockRequests: ['blocked.js'], metadataBlockedRequests: true }
  const { shot, asked } = await watchShared(stage.site.url('/with-blocked'), options, how('blocked'), ['/control.js', '/picture.png'])
  t.strictSame(asked, ['/with-blocked'])
  t.not(shot.findings.pageTitle, 'not blocked')
  t.equal(shot.findings.page.blockedRequests, 1)
})

t.test('http_cache serves no page of another origin, so Cross-Origin-Resource-Policy still applies', async (t) => {
  const own = await watchShared(elsewhere('/own'), SHARED, how('guarded'), ['/control.js', '/guarded.png'])
  t.equal(own.shot.findings.pageTitle, 'shown')
  const { shot, asked } = await watch(stage.site.url('/embeds'), SHARED, how('guarded'))
  t.equal(shot.findings.pageTitle, 'refused')
  t.strictSame(asked, ['/control.js', '/embeds', '/guarded.png'], 'each was requested')
})

t.test('http_cache does not serve a page with Cross-Origin-Embedder-Policy', async (t) => {
  const lax = await watchShared(stage.site.url('/lax'), SHARED, how('strict'), ['/control.js', '/picture.png'])
  t.equal(lax.shot.findings.pageTitle, 'shown')
  const { shot } = await watch(stage.site.url('/strict'), SHARED, how('strict'))
  t.equal(shot.findings.pageTitle, 'refused')
})

t.test('http_cache marks cached responses in HAR files', async (t) => {
  const options: CaptureOptions = { ...SHARED, saveHar: true }
  const url = stage.site.url('/page')
  const entriesOf = ({ findings }: Shot) => {
    const { log } = JSON.parse(findings.files.get('har')?.toString() ?? '{}')
    return log.entries.map(({ request, response, _fromCache }: HarEntry) => ({
      path: new URL(request.url).pathname,
      bytes: response.bodySize,
      status: response.status,
      from: _fromCache,
    }))
  }
  const first = await watch(url, options, how('har'))
  const umlauts = entriesOf(first.shot).find(({ path }: { path: string }) => path === '/umlauts.js')
  t.match(umlauts, { status: 200, from: undefined })
  t.ok(umlauts.bytes > 0 && umlauts.bytes < UMLAUTS.length, 'as it was sent, compressed')
  const second = await watchShared(url, options, how('har'), PARTS)
  for (const entry of entriesOf(second.shot)) {
    if (entry.path === '/page') t.match(entry, { status: 200, from: undefined })
    else t.match(entry, { status: 200, from: 'batch', bytes: 0 }, entry.path)
  }
})

interface HarEntry {
  request: { url: string }
  response: { status: number; bodySize: number }
  _fromCache?: string
}

// Orders of batches, with a storage that accepts everything.
const parts = partsOf(stage)

/** The page's requests during one capture, and the runner's report. */
async function carryOut(change: Partial<CaptureOrder>) {
  stage.seen.length = 0
  const upload = { url: stage.site.url('/store'), headers: {}, maxBytes: 1_000_000 }
  const order = anOrder({ url: stage.site.url('/'), options: { viewportWidth: 300, viewportHeight: 200 }, upload, ...change })
  const { outcome } = await capture(order, parts, new AbortController().signal)
  return {
    phase: outcome.phase,
    warnings: outcome.result.warnings ?? [],
    asked: stage.seen.filter(({ method }) => method === 'GET').map(({ path }) => path),
  }
}

t.test('orders of one batch and account share responses', async (t) => {
  const completed = { phase: 'Completed', warnings: [] }
  const all = ['/', '/shared.js']
  const before = stage.httpCache.bytes
  t.strictSame(await carryOut({ batchId: 'batch_1' }), { ...completed, asked: all })
  // The response is stored in parallel to the capture.
  await eventually('it is stored', async () => stage.httpCache.bytes > before)
  t.strictSame(await carryOut({ batchId: 'batch_1' }), { ...completed, asked: ['/'] })
  t.strictSame(await carryOut({ batchId: 'batch_2' }), { ...completed, asked: all })
  t.strictSame(await carryOut({ batchId: 'batch_1', accountName: 'another' }), { ...completed, asked: all })
})
