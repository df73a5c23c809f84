import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { mock } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { MAX_MARKUP_BODY_BYTES } from '../../../../api-gateway/src/http/body.ts'
import { buildDocument } from '../../../../api-gateway/src/openapi/document.ts'
import { assertEvery } from '../../../support/accepts.ts'
import { eventually } from '../../../support/eventually.ts'
import { aGateway, serveGateway } from '../fakes.ts'

// Bodies that do not end, sent to a gateway that listens.

async function startGateway(t: Test, changes: Parameters<typeof aGateway>[0] = {}) {
  const gateway = aGateway(changes)
  const port = await serveGateway(t, gateway.app)
  const sockets: Socket[] = []
  gateway.app.server.on('connection', (socket: Socket) => sockets.push(socket))
  return { ...gateway, port, bytesOfLast: () => sockets.at(-1)?.bytesRead ?? 0 }
}

interface Unfinished {
  port: number
  method: string
  path: string
  headers?: Record<string, string>
  /** What is sent of the body. */
  start?: string
  /** Content-Length; absent: the body is chunked. */
  declared?: number
}

/** Sends the head of a request and the start of its body. Returns the response, which must arrive although the body never ends. */
async function sendUnfinished({ port, method, path, headers = {}, start = '{"url":', declared }: Unfinished) {
  const socket = connect(port, '127.0.0.1')
  const length: Record<string, string> =
    declared === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(declared) }
  const all = { host: 'localhost', 'content-type': 'application/json', ...length, ...headers }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const body = declared === undefined ? `${start.length.toString(16)}\r\n${start}\r\n` : start
  socket.write(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  const closed = once(socket, 'close').catch(() => undefined)
  const response = async () => {
    await eventually('a response', async () => text.includes('\r\n\r\n'))
    const [head = ''] = text.split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), head, text }
  }
  return { socket, response, closed, hasResponse: () => text !== '' }
}

async function respondTo(request: Unfinished) {
  const { socket, response } = await sendUnfinished(request)
  const received = await response()
  socket.destroy()
  return received
}

const operations = Object.entries(
  buildDocument().paths as Record<string, Record<string, { security?: object[]; requestBody?: object; responses: object }>>,
).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, { security, requestBody, responses }]) => ({
    method: method.toUpperCase(),
    path: template.replaceAll(/\{\w+\}/g, 'x'),
    needsKey: security === undefined || (security.length > 0 && !security.some((entry) => Object.keys(entry).length === 0)),
    hasBody: requestBody !== undefined,
    statuses: Object.keys(responses),
  })),
)
const consoleRoutes = [
  { method: 'POST', path: '/console/session' },
  { method: 'DELETE', path: '/console/session' },
  { method: 'POST', path: '/console/codes' },
]
const withConsole = { console: { page: '', tag: '"a"', assets: new Map() } as never }

t.test('a body without an API key is read: every route that needs a key responds with 401 before the body ends', async (t) => {
  const { port, bodyBudget } = await startGateway(t, withConsole)
  t.ok(operations.length > 30, `${operations.length} operations`)
  const withKey = operations.filter(({ needsKey }) => needsKey)
  t.ok(withKey.length > 30, `${withKey.length} with a key`)
  await Promise.all(
    [...withKey, ...consoleRoutes].map(async ({ method, path }) => {
      t.equal((await respondTo({ port, method, path })).status, 401, `${method} ${path}`)
    }),
  )
  await Promise.all(
    operations
      .filter(({ needsKey }) => !needsKey)
      .map(async ({ method, path }) => t.ok((await respondTo({ port, method, path })).status < 500, `${method} ${path}`)),
  )
  t.equal(bodyBudget.bytes, 0)
})

t.test('an endless body with an API key ends at the limits of its route, and one that no route needs is not read', async (t) => {
  const { port, headers, bodyBudget } = await startGateway(t, withConsole)
  const attack = async (method: string, path: string, start: string, more: Record<string, string> = {}) =>
    (await respondTo({ port, method, path, start, headers: { ...headers, ...more } })).status
  for (const { method, path, hasBody } of operations) {
    const status = await attack(method, path, '['.repeat(40))
    t.ok(hasBody ? status === 400 : status < 500, `${method} ${path}: ${status}`)
  }
  const own = { 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }
  t.equal(await attack('POST', '/console/session', ' '.repeat(4_097), own), 413)
  t.equal(await attack('POST', '/v1/webhooks', ' '.repeat(2 ** 20 + 1)), 413)
  await eventually('nothing is held', async () => bodyBudget.bytes === 0)
})

/** Almost all of the largest body. */
const LARGE = ' '.repeat(MAX_MARKUP_BODY_BYTES - 2 ** 20)

t.test('bodies in flight have no limit: beyond the share of an account, a body gets 503', async (t) => {
  const { port, headers, bodyBudget } = await startGateway(t)
  const request = { port, method: 'POST', path: '/v1/screenshots', headers, declared: MAX_MARKUP_BODY_BYTES }
  const first = await sendUnfinished({ ...request, start: LARGE.slice(0, 8 * 2 ** 20) })
  await eventually('the first body is held', async () => bodyBudget.bytes >= 8 * 2 ** 20)
  const refused = await respondTo({ ...request, declared: 7 * 2 ** 20, start: LARGE.slice(0, 6.5 * 2 ** 20) })
  t.equal(refused.status, 503)
  t.match(refused.head, /retry-after: 2/i)
  t.match(refused.text, /SERVICE_UNAVAILABLE/)
  first.socket.destroy()
  await eventually('it is released when the client is gone', async () => bodyBudget.bytes === 0)
})

t.test(
  'announced bodies that are not sent block sign-in and large bodies of others: they hold nothing, and end after two seconds',
  async (t) => {
    const { port, headers, bodyBudget } = await startGateway(t, withConsole)
    const own = { 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }
    const signIn = { port, method: 'POST', path: '/console/session', headers: own }
    const start = `{"api_key":"${' '.repeat(4_000)}`
    const silent = await Promise.all(Array.from({ length: 150 }, () => sendUnfinished({ ...signIn, start: '', declared: 4_096 })))
    const held = await Promise.all(Array.from({ length: 300 }, () => sendUnfinished({ ...signIn, start, declared: 4_096 })))
    const large = await Promise.all(
      [1, 2, 3].map(() => sendUnfinished({ ...signIn, path: '/v1/screenshots', headers, start: '{', declared: MAX_MARKUP_BODY_BYTES })),
    )
    await eventually('the slowest have ended', async () => held.filter(({ hasResponse }) => hasResponse()).length >= 300 - 256)
    t.ok(bodyBudget.bytes <= 2 ** 20 + 3 * 4_096)
    const body = JSON.stringify({ api_key: headers.authorization?.replace('Bearer ', '') })
    t.equal((await respondTo({ ...signIn, start: body, declared: body.length })).status, 200)
    const html = `{"options":{"html":"${'x'.repeat(2_000_000)}"}}`
    t.equal((await respondTo({ ...signIn, path: '/v1/screenshots', headers, start: html, declared: html.length })).status, 202)
    for (const { response } of silent) t.equal((await response()).status, 408)
    t.match((await held.at(-1)?.response())?.text, /without an API key must arrive within 2 seconds/)
    await eventually('only those with a key are held', async () => bodyBudget.bytes === 3 * 4_096)
    assertEvery(t, large, ({ hasResponse }) => !hasResponse(), 'a body with a key has more time')
    for (const { socket } of [...silent, ...held, ...large]) socket.destroy()
    await eventually('nothing is held', async () => bodyBudget.bytes === 0)
  },
)

t.test('a byte every nine seconds holds a body open: it gets 408 after ten, and the connection ends', async (t) => {
  const { port, headers, bodyBudget, bytesOfLast } = await startGateway(t)
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const request = { port, method: 'POST', path: '/v1/screenshots', headers }
  const slow = await sendUnfinished({ ...request, declared: 1_000_000 })
  await eventually('the body is held', async () => bodyBudget.bytes > 0)
  mock.timers.tick(9_000)
  slow.socket.write('"')
  t.notOk(slow.hasResponse())
  mock.timers.tick(1_000)
  const { status, head, text } = await slow.response()
  t.equal(status, 408)
  t.match(head, /connection: close/i)
  t.match(text, /"code":"REQUEST_TIMEOUT"/)
  await slow.closed
  t.equal(bodyBudget.bytes, 0)

  const steady = await sendUnfinished({ ...request, declared: 1_000_000, start: ' '.repeat(50_000) })
  await eventually('the body is held', async () => bodyBudget.bytes >= 50_000)
  for (let n = 0; n < 3; n++) {
    await eventually('the bytes of this window arrive', async () => bytesOfLast() > 50_000 * (n + 1))
    mock.timers.tick(10_000)
    steady.socket.write(' '.repeat(50_000))
  }
  t.notOk(steady.hasResponse(), 'a slow body that keeps the rate goes on')
  steady.socket.destroy()
})

t.test('a request that waits for its picture keeps its HTML in memory: it holds no body', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const gateway = aGateway()
  const bodies: WeakRef<object>[] = []
  gateway.app.addHook('preHandler', async ({ body }) => {
    bodies.push(new WeakRef(body as object), new WeakRef((body as { options: object }).options))
  })
  const { app, headers, bodyBudget, screenshots, draining } = gateway
  const payload = { options: { html: '<p>large</p>'.repeat(10_000), markdown: undefined }, async: false }
  const response = app.inject({ method: 'POST', url: '/v1/screenshots', headers: { ...headers, 'idempotency-key': 'a' }, payload })
  await eventually('it waits', async () => screenshots.objects.size === 1 && bodyBudget.bytes === 0)
  await eventually('the body is collected', async () => {
    collect()
    return bodies.every((body) => body.deref() === undefined)
  })
  t.equal(bodies.length, 2)
  draining.abort()
  t.equal((await response).statusCode, 202)
})

t.test('a request with too large headers has no request id, and its status is not documented', async (t) => {
  const { port } = await startGateway(t)
  const { status, head, text } = await respondTo({ port, method: 'GET', path: `/v1/screenshots?cursor=${'x'.repeat(20_000)}` })
  t.equal(status, 431)
  const { error } = JSON.parse(text.split('\r\n\r\n')[1] ?? '')
  t.match(error, { code: 'HEADERS_TOO_LARGE', message: /larger than 16 KiB/, request_id: /^[0-9a-f-]{36}$/ })
  t.match(head, `X-Request-Id: ${error.request_id}`)
  assertEvery(t, operations, ({ statuses }) => statuses.includes('431'), 'every operation has it')
})

t.test('data that is not HTTP gets the envelope of errors', async (t) => {
  const { port } = await startGateway(t)
  const socket = connect(port, '127.0.0.1')
  socket.end('NONSENSE\r\n\r\n')
  const [head = '', body = ''] = Buffer.concat(await socket.toArray())
    .toString()
    .split('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 400 /)
  t.match(JSON.parse(body), { success: false, error: { code: 'VALIDATION_ERROR' } })
})

t.test('a client that sends too large a body saw a reset: it always receives the response', async (t) => {
  const { port, headers } = await startGateway(t)
  const request = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: `{"url":"${'x'.repeat(MAX_MARKUP_BODY_BYTES)}"}`,
  }
  for (let n = 0; n < 10; n++) t.equal((await fetch(`http://127.0.0.1:${port}/v1/screenshots`, request)).status, 413)
})
