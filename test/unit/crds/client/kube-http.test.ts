import { type AddressInfo, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { accessFromToken } from '../../../../crds/client/cluster-access.ts'
import type { KubeError } from '../../../../crds/client/kube-error.ts'
import { KubeHttp, type RequestRecord } from '../../../../crds/client/kube-http.ts'
import { sendJson, sendStatus, startScriptedServer, until } from './scripted-server.ts'

t.test('request sends body, token and query, and parses the response', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) => sendJson(response, { made: true }, 201))
  const answer = await http.request({
    method: 'POST',
    path: '/x',
    query: { a: 1, b: undefined, c: 'd e' },
    body: { n: 1 },
    contentType: 'application/special+json',
  })
  t.strictSame(answer, { made: true })
  t.equal(String(exchanges[0]?.query), 'a=1&c=d+e')
  t.strictSame(exchanges[0]?.body, { n: 1 })
  t.equal(exchanges[0]?.headers.authorization, 'Bearer secret')
  t.equal(exchanges[0]?.headers['content-type'], 'application/special+json')
})

t.test('request reuses connections for consecutive calls', async (t) => {
  const { http, connections } = await startScriptedServer(t, ({ response }) => sendJson(response, {}))
  for (let n = 0; n < 50; n++) await http.request({ method: 'GET', path: '/x' })
  // undici may open a second connection while it releases the first one.
  t.ok(connections() <= 2, `${connections()} connections for 50 calls`)
})

t.test('request rejects with status, reason and message of an error response', async (t) => {
  const { http } = await startScriptedServer(t, ({ response }) => sendStatus(response, 422, 'Invalid'))
  await t.rejects(http.request({ method: 'PATCH', path: '/x', body: [] }), {
    name: 'KubeError',
    status: 422,
    reason: 'Invalid',
    message: 'refused: Invalid',
  })
})

t.test('request has a message for an error response without a Status, as proxies send it', async (t) => {
  const { http } = await startScriptedServer(t, ({ response }) => response.writeHead(404).end('<html>nothing here'))
  await t.rejects(http.request({ method: 'GET', path: '/x' }), {
    name: 'KubeError',
    status: 404,
    reason: 'Unknown',
    message: /<html>nothing here/,
  })
})

t.test('request retries a read after a 503, a connection reset and a 429', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }, number) => {
    if (number === 1) sendStatus(response, 503, 'ServiceUnavailable')
    else if (number === 2) response.destroy()
    else if (number === 3) sendStatus(response, 429, 'TooManyRequests', { 'retry-after': '0' })
    else sendJson(response, { at: number })
  })
  t.strictSame(await http.request({ method: 'GET', path: '/x' }), { at: 4 })
  t.equal(exchanges.length, 4)
})

t.test('request does not retry a patch whose outcome is unknown', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) => response.destroy())
  await t.rejects(http.request({ method: 'PATCH', path: '/x', body: {} }), { name: 'KubeError', status: 0, reason: 'Unreachable' })
  t.equal(exchanges.length, 1)
})

t.test('request retries a create after a 429, which means that it was not executed', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }, number) => {
    if (number === 1) sendStatus(response, 429, 'TooManyRequests', { 'retry-after': '0' })
    else sendJson(response, {})
  })
  await http.request({ method: 'POST', path: '/x', body: {} })
  t.equal(exchanges.length, 2)
})

t.test('request rejects if Retry-After exceeds its time limit', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) =>
    sendStatus(response, 429, 'TooManyRequests', { 'retry-after': '60' }),
  )
  await t.rejects(http.request({ method: 'GET', path: '/x', timeoutMilliseconds: 5_000 }), {
    name: 'KubeError',
    status: 429,
    retryAfterSeconds: 60,
  })
  t.equal(exchanges.length, 1)
})

t.test('request does not retry with repeat never', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) =>
    sendStatus(response, 429, 'TooManyRequests', { 'retry-after': '0' }),
  )
  await t.rejects(http.request({ method: 'GET', path: '/x', repeat: 'never' }), { name: 'KubeError', status: 429 })
  t.equal(exchanges.length, 1)
})

t.test('request times out if the server never responds', async (t) => {
  const { http } = await startScriptedServer(t, () => {})
  await t.rejects(http.request({ method: 'GET', path: '/x', timeoutMilliseconds: 50 }), {
    name: 'KubeError',
    status: 0,
    reason: 'TimedOut',
  })
})

t.test('request abandons a silent connection and succeeds on the next', async (t) => {
  const { http } = await startScriptedServer(t, ({ response }, number) => number > 1 && sendJson(response, { number }), {
    attemptTimeoutMilliseconds: 50,
  })
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

t.test('request rejects with Refused if no server listens', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  const http = new KubeHttp(accessFromToken({ server: `http://127.0.0.1:${port}` }))
  t.teardown(() => http.close())
  const refusal: KubeError = await http
    .request<KubeError>({ method: 'POST', path: '/x', body: {}, repeat: 'never' })
    .catch((error) => error)
  t.match(refusal, { status: 0, reason: 'Refused' })
})

t.test('a create failed when the API server closed the connection during the TLS handshake, before the request was sent', async (t) => {
  const repeated = new AbortController()
  let handshakes = 0
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.destroy())
    handshakes++
    if (handshakes === 2) repeated.abort(new Error('there is a second handshake'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const http = new KubeHttp(accessFromToken({ server: `https://127.0.0.1:${port}`, namespace: 'shots', token: 'secret' }))
  t.teardown(() => http.close())
  await t.rejects(http.request({ method: 'POST', path: '/x', body: {}, signal: repeated.signal }), {
    message: 'there is a second handshake',
  })
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
  const answer = ({ response }: Parameters<Parameters<typeof startScriptedServer>[1]>[0], number: number) => {
    if (number === 1) response.destroy()
    else sendJson(response, {})
  }
  const { http } = await startScriptedServer(t, answer, { onRequest: (record) => records.push(record) })
  await http.request({ method: 'GET', path: '/x', verb: 'list', resource: 'things' })
  t.match(records, [
    { method: 'GET', verb: 'list', resource: 'things', code: '<error>', host: http.host, durationSeconds: Number },
    { method: 'GET', verb: 'list', resource: 'things', code: '200' },
  ])
})

t.test('stream yields chunks immediately and ends with the response', async (t) => {
  const { http } = await startScriptedServer(t, ({ response }) => {
    response.write('a\n')
    response.end('b\n')
  })
  t.equal(await text(await http.stream({ path: '/x' })), 'a\nb\n')
})

t.test('stream rejects if the server refuses the watch', async (t) => {
  const { http } = await startScriptedServer(t, ({ response }) => sendStatus(response, 410, 'Expired'))
  await t.rejects(http.stream({ path: '/x' }), { name: 'KubeError', status: 410, reason: 'Expired' })
})
