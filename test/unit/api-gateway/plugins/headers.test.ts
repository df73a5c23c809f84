import Fastify, { type InjectOptions } from 'fastify'
import t from 'tap'
import type { Span } from '../../../../crds/client/span-exporter.ts'
import { Annotation } from '../../../../crds/src/identifiers/names.ts'
import { aGateway, aScreenshot, SCREENSHOT_ID } from '../fakes.ts'

// Headers that plugins add to responses and read from requests: CORS, methods, entity tags, the address of the client, and traces.

const origin = 'https://app.example'
const preflight = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
const options = (url: string, headers: Record<string, string> = preflight): InjectOptions => ({ method: 'OPTIONS', url, headers })

t.test('pages of listed origins can call the gateway and read its responses, refusals too', async (t) => {
  const { app, headers } = aGateway({ corsOrigins: [origin] })
  const read = await app.inject({ url: '/v1/screenshots', headers: { ...headers, origin } })
  t.match(read.headers, { 'access-control-allow-origin': origin, 'access-control-expose-headers': /\bX-Request-Id\b/, vary: 'Origin' })
  const refused = await app.inject({ url: '/v1/screenshots', headers: { origin } })
  t.match(refused, { statusCode: 401, headers: { 'access-control-allow-origin': origin } })
  const asked = await app.inject(options('/v1/screenshots'))
  t.equal(asked.statusCode, 204, 'the preflight needs no key')
  t.match(asked.headers, {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': /POST/,
    'access-control-allow-headers': /\bAuthorization\b/,
    'access-control-max-age': '600',
    ...{ vary: 'Origin', allow: /\bPOST\b/ },
  })
})

t.test('the gateway responds to paths and methods the same with and without CORS', async (t) => {
  const gateways = [aGateway({ corsOrigins: [origin] }), aGateway({ corsOrigins: ['*'] }), aGateway()]
  const requests: InjectOptions[] = [
    ...['/v1/screenshots', '/v1/screenshots/scr_1', '/v1/none'].map((url) => options(url)),
    { method: 'GET', url: '/v1/none' },
    { method: 'PUT', url: '/v1/screenshots' },
  ]
  for (const request of requests) {
    const responses = await Promise.all(gateways.map(({ app }) => app.inject(request)))
    const [listed, open, none] = responses.map(({ statusCode, headers }) => ({ statusCode, allow: headers.allow }))
    t.strictSame([listed, open], [none, none], `${request.method} ${request.url}`)
  }
})

t.test('the gateway tells pages of other origins nothing', async (t) => {
  const { app, headers } = aGateway({ corsOrigins: [origin] })
  for (const other of ['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null']) {
    const response = await app.inject({ url: '/v1/screenshots', headers: { ...headers, origin: other } })
    t.equal(response.headers['access-control-allow-origin'], undefined, other)
    const asked = await app.inject(options('/v1/screenshots', { ...preflight, origin: other }))
    t.equal(asked.headers['access-control-allow-methods'], undefined, other)
  }
})

t.test('the gateway tells no page anything when no origin is listed, but for the status', async (t) => {
  const { app, headers } = aGateway()
  const response = await app.inject(options('/v1/screenshots'))
  t.strictSame([response.statusCode, response.headers['access-control-allow-origin']], [204, undefined])
  const originOf = async (url: string, more = {}) =>
    (await app.inject({ url, headers: { origin, ...more } })).headers['access-control-allow-origin']
  for (const url of ['/v1/usage/current', '/v1/screenshots']) t.equal(await originOf(url, headers), undefined)
  t.equal(await originOf('/v1/status'), '*')
})

t.test('the gateway can be opened to every page', async (t) => {
  const { app, headers } = aGateway({ corsOrigins: ['*'] })
  const response = await app.inject({ url: '/v1/screenshots', headers: { ...headers, origin } })
  t.strictSame([response.headers['access-control-allow-origin'], response.headers.vary], ['*', undefined])
})

// A proxy that compresses a response removes its entity tag (Envoy) or makes it weak (nginx). It must leave responses with no-transform as they are.
t.test('proxies must not change records with an entity tag, and may compress lists and public documents', async (t) => {
  const { call, screenshots } = aGateway()
  screenshots.put(aScreenshot({ phase: 'Completed' }))
  const path = `/screenshots/${SCREENSHOT_ID}`
  const cacheControl = 'private, no-cache, no-transform'
  const record = await call('GET', path)
  t.match(record, { status: 200, headers: { etag: /^"/, 'cache-control': cacheControl } })
  const etag = String(record.headers.etag)
  t.match(await call('GET', path, undefined, { 'if-none-match': etag }), { status: 304, headers: { etag, 'cache-control': cacheControl } })
  t.match(await call('GET', '/screenshots'), { status: 200, headers: { etag: undefined, 'cache-control': 'private, no-cache' } })
  t.match(await call('GET', '/openapi.json'), { status: 200, headers: { etag: /^"/, 'cache-control': 'public, no-cache' } })
})

const methods: [url: string, allow: string][] = [
  ['/v1/screenshots', 'GET, HEAD, OPTIONS, POST'],
  ['/v1/screenshots/batch', 'OPTIONS, POST'],
  ['/v1/screenshots/scr_1', 'DELETE, GET, HEAD, OPTIONS'],
  ['/api/v1/keys/key_1?x=1', 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT'],
  ['/files/users/a/b.png', 'GET, HEAD, OPTIONS'],
  ['/docs', 'GET, HEAD, OPTIONS'],
]
for (const [url, allow] of methods) {
  t.test(`OPTIONS and 405 list the methods of ${url} without a key`, async (t) => {
    const { app } = aGateway()
    t.match(await app.inject(options(url, {})), { statusCode: 204, headers: { allow }, body: '' })
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const) {
      if (allow.includes(method)) continue
      const response = await app.inject({ method, url, ...(method === 'GET' || method === 'HEAD' ? {} : { payload: '{' }) })
      t.strictSame([response.statusCode, response.headers.allow], [405, allow], method)
      if (method !== 'HEAD') t.equal(response.json().error.code, 'METHOD_NOT_ALLOWED')
    }
  })
}

t.test('every GET route accepts HEAD', async (t) => {
  const { app, headers } = aGateway()
  for (const url of ['/v1/screenshots', '/v1/keys', '/v1/webhooks', '/v1/usage/current', '/v1/status', '/v1/openapi.json']) {
    const get = await app.inject({ url, headers })
    const head = await app.inject({ method: 'HEAD', url, headers })
    t.strictSame([head.statusCode, head.headers['content-type'], head.body], [get.statusCode, get.headers['content-type'], ''], url)
  }
})

t.test('a path without a route gets 404 with every method, which names method and path, and the API reference', async (t) => {
  const { app } = aGateway()
  const long = `/${'x'.repeat(500)}`
  for (const [method, url, shown] of [
    ['GET', '/foo', '/foo'],
    ['POST', '/v1/nothing', '/v1/nothing'],
    ['OPTIONS', '/v1/nothing', '/v1/nothing'],
    ['DELETE', '/v1/a%20b?key=secret', '/v1/a%20b'],
    ['GET', long, long.slice(0, 200)],
  ] as const) {
    const response = await app.inject({ method, url })
    t.equal(response.statusCode, 404)
    t.equal(response.json().error.message, `No route matches ${method} ${shown}. See /docs for the API reference.`)
  }
})

t.test('a path with an id that is too long gets 404 and not 500', async (t) => {
  const { call } = aGateway()
  for (const collection of ['screenshots', 'keys', 'webhooks', 'batches', 'schedules'])
    t.match((await call('GET', `/${collection}/${'x'.repeat(101)}`)).body, { success: false, error: { code: 'NOT_FOUND' } })
})

const [PROXY, CLIENT] = ['10.1.2.3', '198.51.100.7']
const ONE_NETWORK = ['10.1.0.0/16']
const addresses: [why: string, trusted: string[], remote: string, forwarded: string | undefined, found: string][] = [
  ['the address that a trusted proxy has seen', ONE_NETWORK, PROXY, CLIENT, CLIENT],
  ['the same over a dual-stack socket', ONE_NETWORK, `::ffff:${PROXY}`, CLIENT, CLIENT],
  ['an address of IPv6', ['fd00::/8'], 'fd00::3', '2001:db8::7', '2001:db8::7'],
  ['the address before two proxies', [...ONE_NETWORK, '192.0.2.0/24'], PROXY, `${CLIENT}, 192.0.2.9`, CLIENT],
  ['what the proxy appended to an address that the client chose', ONE_NETWORK, PROXY, `203.0.113.1, ${CLIENT}`, CLIENT],
  ['the address of a client that goes past the proxy', ONE_NETWORK, CLIENT, '203.0.113.1', CLIENT],
  ['the connection, because no proxy is trusted by default', [], PROXY, '203.0.113.1', PROXY],
  ['the connection, without the header', ONE_NETWORK, PROXY, undefined, PROXY],
  ['the connection, if the header has no address', ONE_NETWORK, PROXY, 'unknown', PROXY],
]
for (const [why, trustedProxies, remoteAddress, forwarded, found] of addresses) {
  t.test(`the log and the span of a request have ${why}`, async (t) => {
    const lines: string[] = []
    const { log } = Fastify({ logger: { level: 'debug', stream: { write: (line: string) => void lines.push(line) } } })
    const spans: Span[] = []
    const { app } = aGateway({ trustedProxies, log, spans: { add: (span) => spans.push(span) } })
    await app.inject({ url: '/v1/status', remoteAddress, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } })
    await app.close()
    const line = lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request completed')
    t.strictSame([line?.clientAddress, spans[0]?.attributes?.['client.address']], [found, found])
  })
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const given = `00-${TRACE}-${SPAN}-01`

/** The traceparent of a Screenshot that a request creates, and the spans that the gateway records. */
async function trace(traceparent?: string, deps: { spans?: undefined; traceRatio?: number } = {}) {
  const spans: Span[] = []
  const { call, screenshots } = aGateway({ spans: { add: (span) => spans.push(span) }, ...deps })
  await call('POST', '/screenshots', { url: 'https://example.com/' }, traceparent === undefined ? {} : { traceparent })
  const [shot] = screenshots.objects.values()
  return { noted: shot?.metadata.annotations?.[Annotation.traceparent], spans, call }
}

t.test('a client’s trace is handed on as it came when nobody collects spans here', async (t) => {
  const noSpans = { spans: undefined }
  t.equal((await trace(given, noSpans)).noted, given)
  t.equal((await trace(undefined, noSpans)).noted, undefined)
  t.equal((await trace('nonsense', noSpans)).noted, undefined)
})

t.test('a request is recorded under the client’s span, by its route, and what follows is under its own', async (t) => {
  const { noted, spans, call } = await trace(given)
  const span = { traceId: TRACE, parentSpanId: SPAN, kind: 'server', error: undefined }
  t.match(spans, [{ ...span, name: 'POST /v1/screenshots' }])
  t.equal(noted, `00-${TRACE}-${spans[0]?.spanId}-01`)
  await call('GET', '/screenshots/scr_1?secret', undefined, { traceparent: given })
  t.match(spans[1], { ...span, name: 'GET /v1/screenshots/:id' })
  t.notMatch(JSON.stringify(spans), /secret/)
})

t.test('a trace begins for the part of requests that have none, and none is kept that the client does not keep', async (t) => {
  const begun = await trace(undefined, { traceRatio: 1 })
  t.match(begun.noted, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  t.equal(begun.spans.length, 1)
  const unsampled = `00-${TRACE}-${SPAN}-00`
  for (const { noted, spans, expected } of [
    { ...(await trace(undefined, { traceRatio: 0 })), expected: undefined },
    { ...(await trace(unsampled, { traceRatio: 1 })), expected: unsampled },
  ])
    t.strictSame([noted, spans.length], [expected, 0])
})
