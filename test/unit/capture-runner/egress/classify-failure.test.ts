import t from 'tap'
import { classifyFailure } from '../../../../capture-runner/src/egress/classify-failure.ts'
import { EgressError } from '../../../../capture-runner/src/egress/egress-error.ts'
import { OpenRequestLog } from '../../../../capture-runner/src/egress/request-log.ts'

const aRequestLog = (host: string, port: number, error?: Error): OpenRequestLog => {
  const log = new OpenRequestLog(() => 0)
  const entry = log.open(host, port)
  if (error) log.fail(entry, error)
  else log.allow(entry, '93.184.215.14')
  return log
}

t.test('classifyFailure prefers the request log to the browser’s error', async (t) => {
  const cases = [
    {
      error: new EgressError('BLOCKED_ADDRESS', 'a.example: 10.0.0.1 is a private address', {
        publicMessage: 'a.example resolves to a closed address',
      }),
      code: 'BLOCKED_ADDRESS',
      message: 'a.example resolves to a closed address',
    },
    {
      error: new EgressError('BLOCKED_ADDRESS', '10.0.0.1 is closed'),
      code: 'BLOCKED_ADDRESS',
      message: 'a.example is not open to captures',
    },
    {
      error: new EgressError('DNS_FAILED', 'x', { systemCode: 'ENOTFOUND' }),
      code: 'DNS_FAILED',
      message: 'a.example does not resolve (ENOTFOUND)',
    },
    {
      error: new EgressError('DNS_FAILED', 'x', { systemCode: 'ETIMEOUT' }),
      code: 'DNS_FAILED',
      message: 'a.example could not be resolved (ETIMEOUT)',
    },
    { error: new EgressError('PROXY_FAILED', 'x'), code: 'PROXY_FAILED', message: 'the proxy did not connect to a.example:443' },
    {
      error: new EgressError('NAVIGATION_FAILED', 'no connection to 10.1.2.3', { systemCode: 'ECONNREFUSED' }),
      code: 'NAVIGATION_FAILED',
      message: 'a.example:443 refused the connection (ECONNREFUSED)',
    },
    { error: new Error('odd'), code: 'NAVIGATION_FAILED', message: 'a.example:443 ended the connection' },
  ]
  for (const { error, code, message } of cases) {
    const found = classifyFailure(aRequestLog('a.example', 443, error), 'https://A.example/page', 'net::ERR_TUNNEL_CONNECTION_FAILED')
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
    const found = classifyFailure(aRequestLog('a.example', 443), 'https://a.example/', netError)
    t.equal(found.code, code, `${netError}`)
    t.match(found.message, netError ? netError.replace('net::', '') : 'a.example could not be loaded')
  }
})

t.test('classifyFailure considers only the last attempt of the failing host and port', async (t) => {
  const log = aRequestLog('tracker.example', 443, new EgressError('BLOCKED_ADDRESS', 'no'))
  log.fail(log.open('a.example', 80), new EgressError('BLOCKED_ADDRESS', 'no'))
  log.fail(log.open('a.example', 443), new EgressError('DNS_FAILED', 'no'))
  log.allow(log.open('a.example', 443), '1.1.1.1')
  t.equal(classifyFailure(log, 'https://a.example/', 'net::ERR_CERT_DATE_INVALID').code, 'TLS_ERROR')
  t.equal(classifyFailure(log, 'http://a.example/', 'net::ERR_EMPTY_RESPONSE').code, 'BLOCKED_ADDRESS')
})

t.test('classifyFailure reports the byte limit before any connection error', async (t) => {
  const log = aRequestLog('a.example', 80, Object.assign(new Error('x'), { code: 'ECONNRESET' }))
  log.isExhausted = true
  t.equal(classifyFailure(log, 'http://a.example/', 'net::ERR_CONTENT_LENGTH_MISMATCH').code, 'RESOURCE_LIMIT')
})

t.test('classifyFailure reports how an established connection ended', async (t) => {
  const messageOf = (netError: string) => classifyFailure(new OpenRequestLog(() => 0), 'http://a.example/', netError).message
  t.equal(messageOf('net::ERR_CONNECTION_RESET'), 'a.example reset the connection (ERR_CONNECTION_RESET)')
  t.equal(messageOf('net::ERR_EMPTY_RESPONSE'), 'a.example closed the connection without a response (ERR_EMPTY_RESPONSE)')
})
