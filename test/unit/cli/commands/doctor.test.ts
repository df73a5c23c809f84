import { createServer as createTcpServer } from 'node:net'
import t from 'tap'
import { explainConnection } from '../../../../api-gateway/cli/src/common/errors.ts'
import { listen } from '../../../support/servers/serve.ts'
import { aService, failing, pageOf, type Route, runCli } from '../fake-world.ts'

// `tintype doctor` against services that fail in one way each.

const health = (status: string) => ({ status, response_time_ms: 3 })
const aStatus = ({ version = '1.0.0', database = 'operational', storage = 'operational' } = {}) => {
  const components = { database: health(database), storage: health(storage), api: { status: 'operational' } }
  return { status: 'operational', version, timestamp: '2026-11-24T12:00:00.000Z', uptime_seconds: 1, response_time_ms: 1, components }
}
const usage = {
  ...{ count: 5, limit: 100, percentage: 5, remaining: 95, reset_at: '2026-12-01T00:00:00.000Z' },
  ...{ plan: 'free', rate_limit_per_minute: 40 },
}
const [STATUS, USAGE, LIST, CREATE] = ['GET /status', 'GET /usage/current', 'GET /screenshots', 'POST /screenshots'] as const
/** The routes of a service in which everything works. Each is tried, and nothing is created. */
const WORKING: Record<string, Route> = {
  [STATUS]: aStatus(),
  [USAGE]: { data: usage },
  [LIST]: pageOf(),
  [CREATE]: failing(400, 'VALIDATION_ERROR'),
}

t.test('doctor finds nothing wrong with a service that works', async (t) => {
  const { run } = await aService(t, WORKING)
  const { code, stdout } = await run('doctor')
  t.equal(code, 0, stdout)
  const checks = stdout.trim().split('\n')
  t.strictSame(
    checks.map((line) => line.slice(0, 20).trim()),
    ['url', 'connection', 'version', 'database', 'storage', 'key', 'quota', 'read', 'write'].map((check) => `ok       ${check}`),
  )
  const json = (await run('doctor --json')).stdout.trim().split('\n')
  for (const line of json) t.match(JSON.parse(line), { check: String, status: 'ok', message: String })
})

const text =
  (status: number, body: string): Route =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end(body)
const noScope = failing(403, 'INSUFFICIENT_SCOPE')
const redirect: Route = (_, response) => response.writeHead(301, { location: 'https://tintype.example.com/' }).end()

const cases: [name: string, route: string, response: Route, code: number, check: string, message: RegExp | string][] = [
  ['a web server that is no Tintype', STATUS, text(404, '<h1>'), 1, 'connection', 'is no Tintype: GET /api/v1/status returns HTTP 404'],
  ['a web page with the status 200', STATUS, text(200, '<h1>'), 1, 'connection', 'is no Tintype: GET /api/v1/status returns no JSON'],
  ['another JSON API', STATUS, { ok: true }, 1, 'connection', 'is no Tintype'],
  ['a proxy without a gateway', STATUS, text(502, 'Bad gateway'), 1, 'connection', /a proxy .* cannot reach the gateway \(HTTP 502\)/],
  ['a redirect', STATUS, redirect, 1, 'connection', 'redirects to https://tintype.example.com/. Set the URL'],
  ['a cut connection', STATUS, (_, response) => response.destroy(), 1, 'connection', 'ended the connection without an HTTP response'],
  ['a newer major version', STATUS, aStatus({ version: '2.1.0' }), 1, 'version', 'Update this program'],
  ['an older major version', STATUS, aStatus({ version: '0.9.0' }), 1, 'version', 'API 0.9.0'],
  ['a newer minor version', STATUS, aStatus({ version: '1.99.0' }), 0, 'version', 'newer'],
  ['a database outage', STATUS, aStatus({ database: 'outage' }), 1, 'database', 'Kubernetes API'],
  ['a storage outage', STATUS, aStatus({ storage: 'outage' }), 1, 'storage', 'bucket'],
  ['slow storage', STATUS, aStatus({ storage: 'degraded' }), 0, 'storage', 'slow'],
  ['a wrong or expired key', USAGE, failing(401, 'INVALID_API_KEY'), 1, 'key', 'unknown, inactive, expired or deleted'],
  ['a suspended account', USAGE, failing(403, 'ACCOUNT_SUSPENDED'), 1, 'key', 'suspended'],
  ['a key that may not read the usage', USAGE, noScope, 0, 'quota', 'usage:read'],
  ['a key that may not read screenshots', LIST, noScope, 1, 'read', 'screenshots:read'],
  ['a key that may not create screenshots', CREATE, noScope, 1, 'write', 'screenshots:write'],
  ['a spent quota', USAGE, { data: { ...usage, remaining: 0 } }, 1, 'quota', 'all 100 units'],
]
for (const [name, route, response, code, check, message] of cases) {
  t.test(`doctor names ${name}`, async (t) => {
    const { run } = await aService(t, { ...WORKING, [route]: response })
    const found = await run('doctor')
    const line = found.stdout.split('\n').find((line) => new RegExp(`^${code === 0 ? 'warning' : 'problem'} +${check} `).test(line))
    t.match(line, message, found.stdout)
    t.equal(found.code, code, found.stdout)
  })
}

const doctorAt = async (url: string, more: Record<string, string> = { TINTYPE_API_KEY: 'key' }) =>
  (await runCli(['doctor'], { environment: { TINTYPE_URL: url, ...more } })).stdout

t.test('doctor names a wrong URL, a missing key and a key with spaces', async (t) => {
  t.match(await doctorAt('tintype.example.com'), /problem +url +"tintype\.example\.com" \(TINTYPE_URL\) is no http or https URL/)
  t.match((await runCli(['doctor'])).stdout, /problem +url +the URL of the service is not set/)
  const { url } = await aService(t, WORKING)
  t.match(await doctorAt(url, {}), /problem +key +the API key is not set/)
  t.match(await doctorAt(url, { TINTYPE_API_KEY: 'a key' }), /problem +key .*contains spaces/)
})

t.test('doctor names a port that does not speak TLS, one that does not speak HTTP, one that is closed, and an unknown name', async (t) => {
  const { url, stop } = await aService(t, WORKING)
  const noTls = /problem +connection .* does not speak TLS\. Use a URL that begins with http:\/\//
  t.match(await doctorAt(url.replace('http:', 'https:')), noTls)
  stop()
  t.match(await doctorAt(url), /problem +connection nothing accepts connections at 127\.0\.0\.1:/)
  t.match(await doctorAt('https://tintype.invalid'), /problem +connection the name tintype\.invalid does not resolve/)
  const other = createTcpServer((socket) => socket.on('data', () => socket.end('\x15\x03\x01\x00\x02\x02\x50')))
  t.match(await doctorAt(`http://127.0.0.1:${await listen(t, other)}`), /problem +connection .*without an HTTP response.*https:\/\//)
})

t.test('explainConnection tells errors of certificates apart', async (t) => {
  const server = new URL('https://tintype.example.com')
  const explain = (code: string) => explainConnection(Object.assign(new Error('failed'), { code }), server)
  t.match(explain('CERT_HAS_EXPIRED'), /has expired\. Renew it/)
  t.match(explain('ERR_TLS_CERT_ALTNAME_INVALID'), /is not for tintype\.example\.com/)
  for (const code of ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
    t.match(explain(code), /is not trusted .*NODE_EXTRA_CA_CERTS/)
  t.match(explain('ETIMEDOUT'), /does not respond/)
  t.match(explainConnection(new Error('strange'), server), /failed: strange/)
})
