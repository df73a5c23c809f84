import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import t from 'tap'
import { explainConnection } from '../../../../api-gateway/cli/src/common/connection.ts'
import { type Handler, runCli, sendError, sendJson, serve } from '../fake-world.ts'

// `tintype doctor` against services that fail in one way each.

const health = (status: string) => ({ status, response_time_ms: 3 })
const aStatus = (fields: { version?: string; database?: string; storage?: string } = {}) => {
  const { version = '1.0.0', database = 'operational', storage = 'operational' } = fields
  const components = { database: health(database), storage: health(storage), api: { status: 'operational' } }
  return { status: 'operational', version, timestamp: '2026-11-24T12:00:00.000Z', uptime_seconds: 1, response_time_ms: 1, components }
}
const usage = {
  count: 5,
  limit: 100,
  percentage: 5,
  remaining: 95,
  reset_at: '2026-12-01T00:00:00.000Z',
  plan: 'free',
  rate_limit_per_minute: 40,
}

type Route = 'status' | 'usage' | 'list' | 'create'
/** A service in which everything works, except for the given routes. */
const aService =
  (routes: Partial<Record<Route, Handler>> = {}): Handler =>
  (request, response) => {
    const { method, url = '' } = request
    const route = url.startsWith('/api/v1/status')
      ? 'status'
      : url.startsWith('/api/v1/usage')
        ? 'usage'
        : method === 'POST'
          ? 'create'
          : 'list'
    const own = routes[route]
    if (own) return own(request, response)
    if (route === 'status') return sendJson(response, aStatus())
    if (route === 'usage') return sendJson(response, { success: true, data: usage })
    if (route === 'list') return sendJson(response, { success: true, data: [], pagination: { has_more: false, next_cursor: null } })
    return sendError(response, 400, 'VALIDATION_ERROR')
  }

async function diagnose(handler: Handler): Promise<{ code: number; report: string }> {
  const { url, stop } = await serve(handler)
  const { code, stdout } = await runCli(['doctor'], { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } })
  stop()
  return { code, report: stdout }
}

t.test('doctor finds nothing wrong with a service that works', async (t) => {
  const { code, report } = await diagnose(aService())
  t.equal(code, 0, report)
  t.strictSame(
    report
      .trim()
      .split('\n')
      .map((line) => line.slice(0, 20).trim()),
    ['url', 'connection', 'version', 'database', 'storage', 'key', 'quota', 'read', 'write'].map((check) => `ok       ${check}`),
  )
})

const failure =
  (status: number, code: string): Handler =>
  (_, response) =>
    sendError(response, status, code)
const text =
  (status: number, body: string): Handler =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'text/html' })
    response.end(body)
  }

const cases: [name: string, handler: Handler, code: number, line: RegExp][] = [
  [
    'a web server that is no Tintype',
    text(404, '<h1>Not found</h1>'),
    1,
    /problem +connection .* is no Tintype: GET \/api\/v1\/status returns HTTP 404/,
  ],
  [
    'a web page with the status 200',
    text(200, '<h1>Welcome</h1>'),
    1,
    /problem +connection .* is no Tintype: GET \/api\/v1\/status returns no JSON/,
  ],
  ['another JSON API', (_, response) => sendJson(response, { ok: true }), 1, /problem +connection .* is no Tintype/],
  ['a proxy without a gateway', text(502, 'Bad gateway'), 1, /problem +connection a proxy .* cannot reach the gateway \(HTTP 502\)/],
  [
    'a redirect',
    (_, response) => {
      response.writeHead(301, { location: 'https://tintype.example.com/' })
      response.end()
    },
    1,
    /problem +connection .*redirects to https:\/\/tintype\.example\.com\/\. Set the URL/,
  ],
  [
    'a connection that is cut',
    (request) => request.socket.destroy(),
    1,
    /problem +connection .* ended the connection without an HTTP response/,
  ],
  [
    'a newer major version',
    aService({ status: (_, response) => sendJson(response, aStatus({ version: '2.1.0' })) }),
    1,
    /problem +version .*Update this program/,
  ],
  [
    'an older major version',
    aService({ status: (_, response) => sendJson(response, aStatus({ version: '0.9.0' })) }),
    1,
    /problem +version .*API 0\.9\.0/,
  ],
  [
    'a newer minor version',
    aService({ status: (_, response) => sendJson(response, aStatus({ version: '1.99.0' })) }),
    0,
    /warning +version .*newer/,
  ],
  [
    'a database outage',
    aService({ status: (_, response) => sendJson(response, aStatus({ database: 'outage' })) }),
    1,
    /problem +database .*Kubernetes API/,
  ],
  [
    'a storage outage',
    aService({ status: (_, response) => sendJson(response, aStatus({ storage: 'outage' })) }),
    1,
    /problem +storage .*bucket/,
  ],
  [
    'slow storage',
    aService({ status: (_, response) => sendJson(response, aStatus({ storage: 'degraded' })) }),
    0,
    /warning +storage .*slow/,
  ],
  [
    'a wrong or expired key',
    aService({ usage: failure(401, 'INVALID_API_KEY') }),
    1,
    /problem +key .*unknown, inactive, expired or deleted/,
  ],
  ['a suspended account', aService({ usage: failure(403, 'ACCOUNT_SUSPENDED') }), 1, /problem +key .*suspended/],
  ['a key that may not read the usage', aService({ usage: failure(403, 'INSUFFICIENT_SCOPE') }), 0, /warning +quota .*usage:read/],
  ['a key that may not read screenshots', aService({ list: failure(403, 'INSUFFICIENT_SCOPE') }), 1, /problem +read .*screenshots:read/],
  [
    'a key that may not create screenshots',
    aService({ create: failure(403, 'INSUFFICIENT_SCOPE') }),
    1,
    /problem +write .*screenshots:write/,
  ],
  [
    'a spent quota',
    aService({ usage: (_, response) => sendJson(response, { success: true, data: { ...usage, remaining: 0 } }) }),
    1,
    /problem +quota .*all 100 units/,
  ],
]
for (const [name, handler, code, line] of cases) {
  t.test(`doctor names ${name}`, async (t) => {
    const found = await diagnose(handler)
    t.match(found.report, line)
    t.equal(found.code, code, found.report)
  })
}

const doctorAt = async (url: string, more: Record<string, string> = { TINTYPE_API_KEY: 'key' }) =>
  (await runCli(['doctor'], { environment: { TINTYPE_URL: url, ...more } })).stdout

t.test('doctor names a wrong URL, a missing key and a key with spaces', async (t) => {
  t.match(await doctorAt('tintype.example.com'), /problem +url +"tintype\.example\.com" \(TINTYPE_URL\) is no http or https URL/)
  t.match((await runCli(['doctor'])).stdout, /problem +url +the URL of the service is not set/)
  const { url, stop } = await serve(aService())
  t.teardown(stop)
  t.match(await doctorAt(url, {}), /problem +key +the API key is not set/)
  t.match(await doctorAt(url, { TINTYPE_API_KEY: 'a key' }), /problem +key .*contains spaces/)
})

t.test('doctor names a refused connection and a name that does not resolve', async (t) => {
  const { url, stop } = await serve(aService())
  stop()
  t.match(await doctorAt(url), /problem +connection nothing accepts connections at 127\.0\.0\.1:/)
  t.match(await doctorAt('https://tintype.invalid'), /problem +connection the name tintype\.invalid does not resolve/)
})

t.test('doctor names a port that does not speak TLS, and one that does not speak HTTP', async (t) => {
  const { url, stop } = await serve(aService())
  t.teardown(stop)
  t.match(
    await doctorAt(url.replace('http:', 'https:')),
    /problem +connection .* does not speak TLS\. Use a URL that begins with http:\/\//,
  )
  const other = createTcpServer((socket) => socket.on('data', () => socket.end('\x15\x03\x01\x00\x02\x02\x50')))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void other.close())
  const { port } = other.address() as AddressInfo
  t.match(await doctorAt(`http://127.0.0.1:${port}`), /problem +connection .*without an HTTP response.*https:\/\//)
})

t.test('explainConnection tells errors of certificates apart', async (t) => {
  const server = new URL('https://tintype.example.com')
  const explain = (code: string) => explainConnection(Object.assign(new Error('failed'), { code }), server)
  t.match(explain('CERT_HAS_EXPIRED'), /has expired\. Renew it/)
  t.match(explain('ERR_TLS_CERT_ALTNAME_INVALID'), /is not for tintype\.example\.com/)
  for (const code of ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE']) {
    t.match(explain(code), /is not trusted .*NODE_EXTRA_CA_CERTS/)
  }
  t.match(explain('ETIMEDOUT'), /does not respond/)
  t.match(explainConnection(new Error('strange'), server), /failed: strange/)
})

t.test('doctor --json prints each finding as a line of JSON', async (t) => {
  const { url, stop } = await serve(aService())
  t.teardown(stop)
  const { stdout } = await runCli(['doctor', '--json'], { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } })
  for (const line of stdout.trim().split('\n')) t.match(JSON.parse(line), { check: String, status: 'ok', message: String })
})
