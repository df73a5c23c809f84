import type { ServerResponse } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { setImmediate as tick } from 'node:timers/promises'
import { Gauge, Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { accessFromToken } from '../../../../crds/client/cluster-access.ts'
import { KubeHttp, type KubeRequest, type RequestRecord } from '../../../../crds/client/kube-http.ts'
import { silentLog } from '../../../../crds/client/log.ts'
import { buildProbeServer } from '../../../../crds/client/probe-server.ts'
import { mergePatch, Resource } from '../../../../crds/client/resource.ts'
import { type Span, SpanExporter } from '../../../../crds/client/span-exporter.ts'
import { FencedError } from '../../../../crds/src/runtime/fence.ts'
import { TooLongError } from '../../../../crds/src/runtime/limited-read.ts'
import { listen } from '../../../support/servers/serve.ts'
import { type Exchange, sendJson, sendStatus, startScriptedServer, until } from './scripted-server.ts'
import { aThing, things } from './things.ts'

t.test('request sends body, token and query, and parses the response', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) => sendJson(response, { made: true }, 201))
  const contentType = 'application/special+json'
  const query = { a: 1, b: undefined, c: 'd e' }
  t.strictSame(await http.request({ method: 'POST', path: '/x', query, body: { n: 1 }, contentType }), { made: true })
  t.match(exchanges, [{ body: { n: 1 }, headers: { authorization: 'Bearer secret', 'content-type': contentType } }])
  t.equal(String(exchanges[0]?.query), 'a=1&c=d+e')
})

t.test('request reuses connections for consecutive calls', async (t) => {
  const { http, connections } = await startScriptedServer(t, ({ response }) => sendJson(response, {}))
  for (let n = 0; n < 50; n++) await http.request({ method: 'GET', path: '/x' })
  // undici may open a second connection while it releases the first one.
  t.ok(connections() <= 2, `${connections()} connections for 50 calls`)
})

const tooMany = (response: ServerResponse, seconds = '0') => sendStatus(response, 429, 'TooManyRequests', { 'retry-after': seconds })

t.test('request retries a read after a 503, a connection reset and a 429', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }, number) => {
    if (number === 1) sendStatus(response, 503, 'ServiceUnavailable')
    else if (number === 2) response.destroy()
    else if (number === 3) tooMany(response)
    else sendJson(response, { at: number })
  })
  t.strictSame(await http.request({ method: 'GET', path: '/x' }), { at: 4 })
  t.equal(exchanges.length, 4)
})

t.test('request retries a create after a 429, which means that it was not executed', async (t) => {
  const answer = ({ response }: Exchange, number: number) => (number === 1 ? tooMany(response) : sendJson(response, {}))
  const { http, exchanges } = await startScriptedServer(t, answer)
  await http.request({ method: 'POST', path: '/x', body: {} })
  t.equal(exchanges.length, 2)
})

const final: { name: string; answer: (response: ServerResponse) => void; request: Partial<KubeRequest>; error: object }[] = [
  {
    name: 'a patch whose outcome is unknown',
    answer: (response) => response.destroy(),
    ...{ request: { method: 'PATCH', body: {} }, error: { status: 0, reason: 'Unreachable' } },
  },
  {
    name: 'after a Retry-After that exceeds its time limit',
    answer: (response) => tooMany(response, '60'),
    ...{ request: { timeoutMilliseconds: 5_000 }, error: { status: 429, retryAfterSeconds: 60 } },
  },
  { name: 'after its time limit', answer: () => {}, request: { timeoutMilliseconds: 50 }, error: { status: 0, reason: 'TimedOut' } },
  { name: 'with repeat never', answer: tooMany, request: { repeat: 'never' }, error: { status: 429 } },
  {
    name: 'a refused patch, whose error has status, reason and message',
    answer: (response) => sendStatus(response, 422, 'Invalid'),
    ...{ request: { method: 'PATCH', body: [] }, error: { status: 422, reason: 'Invalid', message: 'refused: Invalid' } },
  },
  {
    name: 'after an error without a Status, as proxies send it',
    answer: (response) => response.writeHead(404).end('<html>nothing here'),
    ...{ request: {}, error: { status: 404, reason: 'Unknown', message: /<html>nothing here/ } },
  },
]
for (const { name, answer, request, error } of final) {
  t.test(`request does not retry ${name}`, async (t) => {
    const { http, exchanges } = await startScriptedServer(t, ({ response }) => answer(response))
    await t.rejects(http.request({ method: 'GET', path: '/x', ...request }), { name: 'KubeError', ...error })
    t.equal(exchanges.length, 1)
  })
}

t.test('request abandons a silent connection and succeeds on the next', async (t) => {
  const answer = ({ response }: Exchange, number: number) => number > 1 && sendJson(response, { number })
  const { http } = await startScriptedServer(t, answer, { attemptTimeoutMilliseconds: 50 })
  t.strictSame(await http.request({ method: 'GET', path: '/x', timeoutMilliseconds: 10_000 }), { number: 2 })
})

t.test("request rejects with the caller's reason when the caller aborts", async (t) => {
  const { http, exchanges } = await startScriptedServer(t, () => {})
  const caller = new AbortController()
  const call = http.request({ method: 'GET', path: '/x', signal: caller.signal })
  await until(() => exchanges.length === 1, 'the request arrives')
  caller.abort(new Error('changed my mind'))
  await t.rejects(call, { message: 'changed my mind' })
})

/** A client of a server on loopback that speaks no HTTP. */
async function connectTo(t: Test, server: Server, scheme: 'http' | 'https'): Promise<KubeHttp> {
  const http = new KubeHttp(accessFromToken({ server: `${scheme}://127.0.0.1:${await listen(t, server)}` }))
  t.teardown(() => http.close())
  return http
}

t.test('request rejects with Refused if no server listens', async (t) => {
  const server = createServer()
  const http = await connectTo(t, server, 'http')
  await new Promise((resolve) => server.close(resolve))
  await t.rejects(http.request({ method: 'POST', path: '/x', body: {}, repeat: 'never' }), {
    name: 'KubeError',
    status: 0,
    reason: 'Refused',
  })
})

t.test('a create failed when the API server closed the connection during the TLS handshake, before the request was sent', async (t) => {
  const repeated = new AbortController()
  let handshakes = 0
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.destroy())
    handshakes++
    if (handshakes === 2) repeated.abort(new Error('there is a second handshake'))
  })
  const http = await connectTo(t, server, 'https')
  const message = 'there is a second handshake'
  await t.rejects(http.request({ method: 'POST', path: '/x', body: {}, signal: repeated.signal }), { message })
})

t.test('request reads the credentials again after a 401, once', async (t) => {
  const looks: boolean[] = []
  const { url } = await startScriptedServer(t, ({ response, headers }) => {
    if (headers.authorization === 'Bearer new') sendJson(response, { ok: true })
    else sendStatus(response, 401, 'Unauthorized')
  })
  const access = (fresh: string) => ({
    server: url,
    namespace: 'default',
    credentials: async ({ refresh = false } = {}) => {
      looks.push(refresh)
      return { headers: { authorization: `Bearer ${refresh ? fresh : 'old'}` }, tls }
    },
  })
  const tls = {}
  const rotated = new KubeHttp(access('new'))
  const wrong = new KubeHttp(access('old'))
  t.teardown(() => Promise.all([rotated.close(), wrong.close()]))
  t.strictSame(await rotated.request({ method: 'POST', path: '/x', body: {} }), { ok: true })
  await t.rejects(wrong.request({ method: 'GET', path: '/x' }), { name: 'KubeError', status: 401 })
  t.strictSame(looks, [false, true, false, true])
})

t.test('request reports each attempt with the fields of the metrics', async (t) => {
  const records: RequestRecord[] = []
  const answer = ({ response }: Exchange, number: number) => (number === 1 ? response.destroy() : sendJson(response, {}))
  const { http } = await startScriptedServer(t, answer, { onRequest: (record) => records.push(record) })
  await http.request({ method: 'GET', path: '/x', verb: 'list', resource: 'things' })
  const labels = { method: 'GET', verb: 'list', resource: 'things', host: http.host, durationSeconds: Number }
  t.match(records, [
    { ...labels, code: '<error>' },
    { ...labels, code: '200' },
  ])
})

t.test('request reports the size of a response, and refuses one that exceeds its limit', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) => response.end('[1,2]'))
  const sizes: number[] = []
  const read = (maxBytes: number) => http.request({ method: 'GET', path: '/x', maxBytes, onBytes: (bytes) => sizes.push(bytes) })
  t.strictSame(await read(5), [1, 2])
  await t.rejects(read(4), TooLongError)
  t.strictSame(sizes, [5])
  t.equal(exchanges.length, 2, 'no retry')
})

interface Probes {
  registry?: Registry
  problems?: string[]
  reasons?: string[]
}

/** Starts a server. Returns a function that sends a request line and returns the status and the body. */
async function start(t: Test, { registry = new Registry(), problems = [], reasons = [] }: Probes = {}) {
  const port = await listen(t, buildProbeServer({ registry, findProblems: () => problems, findUnready: () => reasons }))
  return async (target: string): Promise<{ status: number; body: string }> => {
    const socket = connect(port, '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\nHost: probes\r\nConnection: close\r\n\r\n`)
    const text = Buffer.concat(await socket.toArray()).toString()
    return { status: Number(text.split(' ')[1]), body: text.split('\r\n\r\n')[1] ?? '' }
  }
}

t.test('a probe server reports problems, and metrics', async (t) => {
  const registry = new Registry()
  new Gauge({ name: 'queue_depth', help: 'Queue.', registers: [registry] }).set(7)
  const healthy = await start(t, { registry })
  t.strictSame(await healthy('/healthz?verbose'), { status: 200, body: 'ok\n' })
  t.strictSame(await healthy('/readyz'), { status: 200, body: 'ok\n' })
  t.match(await healthy('/metrics'), { status: 200, body: /queue_depth 7/ })
  t.match(await healthy('/other'), { status: 404 })
  const troubled = await start(t, { problems: ['a worker is stuck'], reasons: ['starting', 'no keys'] })
  t.strictSame(await troubled('/healthz'), { status: 503, body: 'a worker is stuck\n' })
  t.strictSame(await troubled('/readyz'), { status: 503, body: 'starting\nno keys\n' })
})

t.test('a request for no valid URL does not end a program', async (t) => {
  const call = await start(t)
  for (const target of ['//', '//[', 'http://[', '///%', '*']) t.equal((await call(target)).status, 404, target)
  t.equal((await call('/healthz')).status, 200)
})

t.test('a metric that cannot be read does not end a program', async (t) => {
  const registry = new Registry()
  const collect = () => {
    throw new Error('no cache')
  }
  new Gauge({ name: 'cache_objects', help: 'Objects.', registers: [registry], collect })
  t.equal((await (await start(t, { registry }))('/metrics')).status, 500)
})

/** A client that may write as long as it has its lease. */
const fencedResource = (http: KubeHttp, lease: { isHeld: boolean }) => {
  const fenced = http.fenced(() => lease.isHeld)
  return new Resource(fenced, things)
}

t.test('a writer that has lost its lease sends no write to the API server, of whichever verb, and still reads', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) => sendJson(response, aThing('one', 2)))
  const lease = { isHeld: true }
  const resource = fencedResource(http, lease)
  const writes = {
    create: () => resource.create(aThing('one', 1)),
    replace: () => resource.replace(aThing('one', 1)),
    'replace status': () => resource.replaceStatus(aThing('one', 1)),
    patch: () => resource.patch('one', mergePatch({ spec: {} })),
    'patch status': () => resource.patch('one', mergePatch({ status: {} }), { subresource: 'status' }),
    delete: () => resource.delete('one', { uid: 'uid-one' }),
  }
  for (const write of Object.values(writes)) await write()
  t.equal(exchanges.length, Object.keys(writes).length, 'control: the leader writes')
  lease.isHeld = false
  for (const [verb, write] of Object.entries(writes)) await t.rejects(async () => void (await write()), FencedError, verb)
  t.equal(exchanges.length, Object.keys(writes).length, 'nothing arrived')
  await resource.get('one')
  await new Resource(http, things).replace(aThing('one', 1))
  t.equal(exchanges.length, Object.keys(writes).length + 2, 'reads and other writers, such as the election, continue')
})

t.test('a write that is repeated after an error is not sent again once the lease is lost', async (t) => {
  const lease = { isHeld: true }
  const { http, exchanges } = await startScriptedServer(t, ({ response }) => {
    lease.isHeld = false
    sendStatus(response, 503, 'ServiceUnavailable')
  })
  await t.rejects(fencedResource(http, lease).replace(aThing('one', 1)), FencedError)
  t.equal(exchanges.length, 1)
})

t.test('a write that waits for a connection is not sent once the lease is lost', async (t) => {
  const { promise: release, resolve } = Promise.withResolvers<void>()
  const lease = { isHeld: true }
  const answer = ({ response }: Exchange) => release.then(() => sendJson(response, aThing('one', 2)))
  const { http, exchanges } = await startScriptedServer(t, answer, { connections: 1 })
  const resource = fencedResource(http, lease)
  const sent = resource.replace(aThing('one', 1))
  await until(() => exchanges.length === 1, 'the first write arrives')
  const waiting = t.rejects(resource.replace(aThing('two', 1)), FencedError)
  // The second write gets as far as the queue of the connection.
  await tick()
  lease.isHeld = false
  resolve()
  await Promise.all([sent, waiting])
  t.equal(exchanges.length, 1)
})

// A minimal collector: it stores the OTLP JSON that is posted to it.

interface Export {
  resourceSpans: { resource: { attributes: object[] }; scopeSpans: { spans: Record<string, unknown>[] }[] }[]
}

/** A collector and an exporter that sends to it. The first `refusals` requests get a 503. */
async function startExporter(t: Test, refusals = 0) {
  const received: Export[] = []
  const counts = { refused: 0 }
  const answer = ({ body, response }: Exchange) => {
    if (counts.refused < refusals) return response.writeHead(503).end(String(++counts.refused))
    received.push(body as Export)
    return response.end('{}')
  }
  const { url, exchanges } = await startScriptedServer(t, answer)
  const settings = { endpoint: `${url}/`, headers: { 'x-key': 'k' }, resource: { 'service.name': 'test' } }
  const exporter = new SpanExporter({ ...settings, log: silentLog, intervalMilliseconds: 10 })
  const sent = () => received.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans[0]?.spans ?? []))
  return { exporter, exchanges, received, counts, sent }
}

const traceId = '0af7651916cd43dd8448eb211c80319c'
const idOf = (number: number): string => number.toString(16).padStart(16, '0')
const aSpan = (number: number): Span => ({
  ...{ traceId, spanId: idOf(number), name: 'capture', kind: 'internal', error: 'DNS_FAILED' },
  ...{ startMilliseconds: 1_763_726_400_000.25, endMilliseconds: 1_763_726_400_500 },
  attributes: { pod: 'default-1', attempt: 1, part: 0.5, cached: false, absent: undefined },
})

t.test('SpanExporter sends spans as OTLP JSON, with the collector’s headers', async (t) => {
  const { exporter, exchanges, received, sent } = await startExporter(t)
  exporter.add(aSpan(1))
  await until(() => received.length > 0, 'the spans have arrived')
  await exporter.stop()
  t.match(exchanges, [{ method: 'POST', path: '/v1/traces', headers: { 'x-key': 'k' } }])
  t.strictSame(received[0]?.resourceSpans[0]?.resource.attributes, [{ key: 'service.name', value: { stringValue: 'test' } }])
  t.strictSame(sent()[0], {
    ...{ traceId, spanId: '0000000000000001', name: 'capture', kind: 1 },
    startTimeUnixNano: '1763726400000250000',
    endTimeUnixNano: '1763726400500000000',
    attributes: [
      { key: 'pod', value: { stringValue: 'default-1' } },
      { key: 'attempt', value: { intValue: '1' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'cached', value: { boolValue: false } },
    ],
    status: { code: 2, message: 'DNS_FAILED' },
  })
})

t.test('SpanExporter sends waiting spans when it stops', async (t) => {
  const { exporter, sent } = await startExporter(t)
  for (let number = 1; number <= 1_000; number++) exporter.add(aSpan(number))
  await exporter.stop()
  t.equal(sent().length, 1_000)
})

t.test('SpanExporter continues when the collector is available again', async (t) => {
  const { exporter, counts, sent } = await startExporter(t, 1)
  exporter.add(aSpan(1))
  await until(() => counts.refused === 1, 'the collector has refused the span')
  exporter.add(aSpan(2))
  await until(() => sent().some(({ spanId }) => spanId === idOf(2)), 'the next span has arrived')
  await exporter.stop()
})
