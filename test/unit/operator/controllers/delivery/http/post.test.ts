import { createHmac } from 'node:crypto'
import t from 'tap'
import { hexSignature, newSigningSecret, standardSignature } from '../../../../../../crds/src/crypto/webhook-signature.ts'
import { TooLongError } from '../../../../../../crds/src/runtime/limited-read.ts'
import { BlockedAddressError, UnresolvedError } from '../../../../../../operator/src/controllers/delivery/http/guarded-agent.ts'
import { buildHeaders } from '../../../../../../operator/src/controllers/delivery/http/headers.ts'
import { parseRetryAfter, toPostFailure } from '../../../../../../operator/src/controllers/delivery/http/post.ts'
import { ProxyError } from '../../../../../../operator/src/controllers/delivery/http/proxy-tunnel.ts'
import { NOON } from '../../../../../support/fakes/builders.ts'

const coded = (code: string) => Object.assign(new Error(code), { code })
const cases: [thrown: unknown, end: string, detail: string][] = [
  [new BlockedAddressError('10.0.0.1 is a private address'), 'blocked', '10.0.0.1 is a private address'],
  [new UnresolvedError('x does not resolve'), 'unresolved', 'x does not resolve'],
  [new DOMException('late', 'TimeoutError'), 'timeout', 'no response in time'],
  [new TooLongError('the endpoint sent more than 64 KiB'), 'oversized', 'the endpoint sent more than 64 KiB'],
  [coded('UND_ERR_HEADERS_OVERFLOW'), 'oversized', 'the endpoint sent more than 16 KiB of headers'],
  [coded('UND_ERR_CONNECT_TIMEOUT'), 'timeout', 'no response in time'],
  [new ProxyError('the proxy responded with 407'), 'proxy', 'the proxy responded with 407'],
  [coded('CERT_HAS_EXPIRED'), 'tls', 'the certificate has expired (CERT_HAS_EXPIRED)'],
  [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls', 'the certificate is for another host name (ERR_TLS_CERT_ALTNAME_INVALID)'],
  [
    coded('DEPTH_ZERO_SELF_SIGNED_CERT'),
    'tls',
    'the certificate is signed by itself, not by a trusted authority (DEPTH_ZERO_SELF_SIGNED_CERT)',
  ],
  [coded('ERR_SSL_UNKNOWN'), 'tls', 'the TLS connection failed (ERR_SSL_UNKNOWN)'],
  [
    coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    'tls',
    'the certificate is not from a trusted authority, or the endpoint does not send the intermediate certificate (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
  ],
  [coded('ECONNREFUSED'), 'connection', 'nothing accepts connections at this host and port (ECONNREFUSED)'],
  [
    new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]),
    'connection',
    'nothing accepts connections at this host and port (ECONNREFUSED)',
  ],
  [new Error('something else'), 'connection', 'the connection failed'],
]
for (const [thrown, end, detail] of cases) {
  t.test(`toPostFailure classifies ${String(thrown)} as ${end}`, async (t) => t.strictSame(toPostFailure(thrown), { end, detail }))
}

t.test('Retry-After as a date counts from the Date of the response, whose clock may differ', async (t) => {
  const now = Date.parse('2026-11-26T12:00:00.400Z')
  const parse = (value: string, date?: string) => parseRetryAfter({ 'retry-after': value, ...(date === undefined ? {} : { date }) }, now)
  const date = 'Thu, 26 Nov 2026 11:00:00 GMT'
  t.equal(parse('Thu, 26 Nov 2026 11:01:40 GMT', date), 100_000)
  t.equal(parse('Thu, 26 Nov 2026 12:01:40 GMT'), 99_600)
  t.equal(parse('Thursday, 26-Nov-26 11:01:40 GMT', date), 100_000)
  t.equal(parse('Thu Nov 26 11:01:40 2026', date), 100_000)
  t.equal(parse('Thu, 26 Nov 2026 10:59:00 GMT', date), 0, 'a time that has passed')
  t.equal(parse('Thu, 26 Nov 2026 12:01:40 GMT', 'soon'), 99_600)
  t.equal(parse(' 7 '), 7_000)
  for (const text of ['-5', '1e3', 'tomorrow', 'Thu, 99 Nov 2026 11:01:40 GMT', '2026-11-26T12:01:40Z', ''])
    t.equal(parse(text), undefined, text)
  t.equal(parseRetryAfter({ 'retry-after': ['1', '2'] }, now), undefined)
})

const ids = { eventId: 'evt_1', eventType: 'screenshot.completed', webhookId: 'wh_1', deliveryId: 'dlv_1' }

t.test('buildHeaders signs the body with both schemes and one secret', async (t) => {
  const key = Buffer.alloc(33, 1)
  const secret = `whsec_${key.toString('base64')}`
  const body = '{"name":"ü"}'
  const headers = buildHeaders({
    ...ids,
    body,
    secrets: { current: secret },
    attempt: 2,
    at: new Date(NOON.getTime() + 999),
    version: '1.2.3',
  })
  t.strictSame(headers, {
    'content-type': 'application/json',
    'user-agent': 'Tintype-Webhooks/1.2.3',
    'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
    'x-webhook-event': 'screenshot.completed',
    'x-webhook-id': 'wh_1',
    'x-webhook-delivery': 'dlv_1',
    'x-webhook-attempt': '2',
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(NOON.getTime() / 1000),
    'webhook-signature': `v1,${createHmac('sha256', key)
      .update(`evt_1.${NOON.getTime() / 1000}.${body}`)
      .digest('base64')}`,
  })
})

t.test('buildHeaders also signs with the previous secret during a rotation', async (t) => {
  const secrets = { current: newSigningSecret(), previous: newSigningSecret() }
  const headers = buildHeaders({ ...ids, body: '{}', secrets, attempt: 1, at: NOON, version: '1' })
  const seconds = NOON.getTime() / 1000
  t.equal(headers['x-webhook-signature'], hexSignature('{}', secrets.current))
  t.equal(headers['x-webhook-signature-previous'], hexSignature('{}', secrets.previous))
  const both = [secrets.current, secrets.previous].map((secret) => standardSignature('{}', secret, 'evt_1', seconds))
  t.equal(headers['webhook-signature'], both.join(' '))
})
