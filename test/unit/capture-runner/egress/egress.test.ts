import t from 'tap'
import { classifyFailure } from '../../../../capture-runner/src/egress/classify-failure.ts'
import { EgressError } from '../../../../capture-runner/src/egress/egress-error.ts'
import { endToEnd, withHost } from '../../../../capture-runner/src/egress/forward.ts'
import { describeRefusals, type Refusal } from '../../../../capture-runner/src/egress/refusal.ts'
import { MAX_LOG_ENTRIES, OpenRequestLog } from '../../../../capture-runner/src/egress/request-log.ts'

const logOf = (host: string, port: number, error?: Error): OpenRequestLog => {
  const log = new OpenRequestLog(() => 0)
  const entry = log.open(host, port)
  if (error) log.fail(entry, error)
  else log.allow(entry, '93.184.215.14')
  return log
}

t.test('classifyFailure prefers the request log to the browser’s error', async (t) => {
  const failed = (code: 'DNS_FAILED' | 'NAVIGATION_FAILED', systemCode: string) => new EgressError(code, 'to 10.1.2.3', { systemCode })
  const publicMessage = 'a.example resolves to a closed address'
  const cases: readonly (readonly [error: Error, code: string, message: string])[] = [
    [new EgressError('BLOCKED_ADDRESS', 'a.example: 10.0.0.1 is private', { publicMessage }), 'BLOCKED_ADDRESS', publicMessage],
    [new EgressError('BLOCKED_ADDRESS', '10.0.0.1 is closed'), 'BLOCKED_ADDRESS', 'a.example is not open to captures'],
    [failed('DNS_FAILED', 'ENOTFOUND'), 'DNS_FAILED', 'a.example does not resolve (ENOTFOUND)'],
    [failed('DNS_FAILED', 'ETIMEOUT'), 'DNS_FAILED', 'a.example could not be resolved (ETIMEOUT)'],
    [new EgressError('PROXY_FAILED', 'x'), 'PROXY_FAILED', 'the proxy did not connect to a.example:443'],
    [failed('NAVIGATION_FAILED', 'ECONNREFUSED'), 'NAVIGATION_FAILED', 'a.example:443 refused the connection (ECONNREFUSED)'],
    [new Error('odd'), 'NAVIGATION_FAILED', 'a.example:443 ended the connection'],
  ]
  for (const [error, code, message] of cases) {
    const found = classifyFailure(logOf('a.example', 443, error), 'https://A.example/page', 'net::ERR_TUNNEL_CONNECTION_FAILED')
    t.strictSame(found, { code, message })
  }
})

t.test('classifyFailure uses the browser’s error when the connection was made', async (t) => {
  const cases: [string | undefined, string][] = [
    ['net::ERR_CERT_DATE_INVALID', 'TLS_ERROR'],
    ['ERR_CERT_AUTHORITY_INVALID', 'TLS_ERROR'],
    ['net::ERR_SSL_PROTOCOL_ERROR', 'TLS_ERROR'],
    ['net::ERR_BAD_SSL_CLIENT_AUTH_CERT', 'TLS_ERROR'],
    ['net::ERR_TOO_MANY_REDIRECTS', 'TOO_MANY_REDIRECTS'],
    ['net::ERR_EMPTY_RESPONSE', 'NAVIGATION_FAILED'],
    ['net::ERR_TIMED_OUT', 'TIMEOUT'],
    ['net::ERR_NAME_NOT_RESOLVED', 'DNS_FAILED'],
    [undefined, 'NAVIGATION_FAILED'],
  ]
  for (const [netError, code] of cases) {
    const found = classifyFailure(logOf('a.example', 443), 'https://a.example/', netError)
    t.equal(found.code, code, `${netError}`)
    t.match(found.message, netError ? netError.replace('net::', '') : 'a.example could not be loaded')
  }
})

t.test('classifyFailure considers only the last attempt of the failing host and port', async (t) => {
  const log = logOf('tracker.example', 443, new EgressError('BLOCKED_ADDRESS', 'no'))
  log.fail(log.open('a.example', 80), new EgressError('BLOCKED_ADDRESS', 'no'))
  log.fail(log.open('a.example', 443), new EgressError('DNS_FAILED', 'no'))
  log.allow(log.open('a.example', 443), '1.1.1.1')
  t.equal(classifyFailure(log, 'https://a.example/', 'net::ERR_CERT_DATE_INVALID').code, 'TLS_ERROR')
  t.equal(classifyFailure(log, 'http://a.example/', 'net::ERR_EMPTY_RESPONSE').code, 'BLOCKED_ADDRESS')
})

t.test('classifyFailure reports the byte limit before any connection error', async (t) => {
  const log = logOf('a.example', 80, Object.assign(new Error('x'), { code: 'ECONNRESET' }))
  log.isExhausted = true
  t.equal(classifyFailure(log, 'http://a.example/', 'net::ERR_CONTENT_LENGTH_MISMATCH').code, 'RESOURCE_LIMIT')
})

t.test('classifyFailure reports how an established connection ended', async (t) => {
  const messageOf = (netError: string) => classifyFailure(new OpenRequestLog(() => 0), 'http://a.example/', netError).message
  t.equal(messageOf('net::ERR_CONNECTION_RESET'), 'a.example reset the connection (ERR_CONNECTION_RESET)')
  t.equal(messageOf('net::ERR_EMPTY_RESPONSE'), 'a.example closed the connection without a response (ERR_EMPTY_RESPONSE)')
})

t.test('endToEnd keeps the order, spelling and repetition of end-to-end headers', async (t) => {
  const lines = ['X-One', '1', 'set-cookie', 'a=1', 'Set-Cookie', 'b=2', 'Content-Length', '5', 'x-empty', '']
  t.strictSame(endToEnd(lines), lines)
})

t.test('endToEnd drops hop-by-hop headers and those that Connection names', async (t) => {
  const dropped = [
    ...['Connection: close, X-Hop', 'Keep-Alive: timeout=5', 'Proxy-Connection: keep-alive', 'PROXY-AUTHORIZATION: Basic eA==', 'x-hop: 1'],
    ...['Proxy-Authenticate: Basic', 'TE: trailers', 'Trailer: x', 'Transfer-Encoding: chunked', 'Upgrade: h2c'],
  ]
  const lines = [...dropped, 'Accept: */*'].flatMap((line) => line.split(': '))
  t.strictSame(endToEnd(lines), ['Accept', '*/*'])
})

t.test('endToEnd drops lines that are not valid headers', async (t) => {
  t.strictSame(endToEnd(['Bad Name', '1', 'X-Split', 'a\r\nSet-Cookie: b', 'X-Null', 'a\u0000b', 'X-Latin', 'é']), ['X-Latin', 'é'])
})

t.test('withHost replaces every Host line by the checked one', async (t) => {
  t.strictSame(withHost(['Accept', '*/*', 'host', 'a', 'HOST', 'b'], 'example.com:8080'), ['Host', 'example.com:8080', 'Accept', '*/*'])
})

const aRequestLog = () => new OpenRequestLog(() => 42)

t.test('OpenRequestLog opens an entry as pending, with the time of the given clock', async (t) => {
  const log = aRequestLog()
  const entry = log.open('example.com', 443)
  t.strictSame(entry, { at: 42, host: 'example.com', port: 443, decision: 'pending', bytesSent: 0, bytesReceived: 0 })
  t.strictSame(log.entries, [entry])
})

t.test('OpenRequestLog sums bytes for the entry and for the capture', async (t) => {
  const log = aRequestLog()
  const [one, other] = [log.open('a.example', 80), log.open('b.example', 80)]
  log.count(one, 1, 10)
  log.count(one, 2, 20)
  log.count(other, 4, 40)
  t.match(one, { bytesSent: 3, bytesReceived: 30 })
  t.match(log, { bytesSent: 7, bytesReceived: 70 })
})

t.test('OpenRequestLog distinguishes refusals from failures', async (t) => {
  const cases: readonly (readonly [thrown: Error, wanted: object])[] = [
    [new EgressError('BLOCKED_ADDRESS', 'no'), { decision: 'refused', code: 'BLOCKED_ADDRESS', reason: 'no' }],
    [new EgressError('RESOURCE_LIMIT', 'no'), { decision: 'refused', code: 'RESOURCE_LIMIT', reason: 'no' }],
    [new EgressError('DNS_FAILED', 'no', { systemCode: 'ENOTFOUND' }), { decision: 'failed', code: 'DNS_FAILED', error: 'ENOTFOUND' }],
    [Object.assign(new Error('x'), { code: 'ECONNRESET' }), { decision: 'failed', code: 'NAVIGATION_FAILED', error: 'ECONNRESET' }],
  ]
  for (const [thrown, wanted] of cases) {
    const log = aRequestLog()
    const entry = log.open('example.com', 80)
    log.fail(entry, thrown)
    t.match(entry, wanted, thrown.message)
  }
})

t.test('OpenRequestLog still counts when it has no room for entries', async (t) => {
  const log = aRequestLog()
  for (let i = 0; i < MAX_LOG_ENTRIES + 3; i++) log.count(log.open('example.com', 80), 1, 1)
  t.equal(log.entries.length, MAX_LOG_ENTRIES)
  t.equal(log.total, MAX_LOG_ENTRIES + 3)
  t.equal(log.bytesSent, MAX_LOG_ENTRIES + 3)
})

const refused = (host: string, field: Refusal['field'] = 'allowedRequestHosts'): Refusal => ({ keyId: 'key_1', field, host })

t.test('what a policy refused becomes one warning for each list, with the hosts that fit', async (t) => {
  t.strictSame(describeRefusals([]), [])
  t.strictSame(describeRefusals([refused('a.example'), refused('b.example', 'allowedHosts'), refused('c.example')]), [
    'the capture policy of key_1 refused pages of b.example. Add them to allowed_hosts if they are needed',
    'the capture policy of key_1 refused requests of a.example, c.example. Add them to allowed_request_hosts if they are needed',
  ])
  const [warning = ''] = describeRefusals(Array.from({ length: 40 }, (_, index) => refused(`host-${index}.example`)))
  t.match(warning, /^the capture policy of key_1 refused requests of host-0\.example, .* and 33 more\. Add them to allowed_request_hosts/)
  t.ok(warning.length <= 256)
})

t.test('a request log keeps each refused host once for each list', async (t) => {
  const log = new OpenRequestLog(() => 0)
  for (const refusal of [refused('a.example'), refused('a.example'), refused('a.example', 'allowedHosts')]) log.refuse(refusal)
  t.strictSame(log.refusals, [refused('a.example'), refused('a.example', 'allowedHosts')])
  for (let index = 0; index < 1_000; index++) log.refuse(refused(`${index}.example`))
  t.equal(log.refusals.length, 100)
})
