import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { Secret } from '../../../../../../crds/client/kinds.ts'
import { newOpeningKey, seal, toSealingKey } from '../../../../../../crds/src/crypto/sealed.ts'
import { hexSignature, newSigningSecret, standardSignature } from '../../../../../../crds/src/crypto/signatures.ts'
import type { Webhook, WebhookSpec } from '../../../../../../crds/src/kinds/webhook.ts'
import { TooLongError } from '../../../../../../crds/src/runtime/limited-read.ts'
import {
  BlockedAddressError,
  LimitedSocket,
  ProxyError,
  UnresolvedError,
} from '../../../../../../operator/src/controllers/delivery/http/guarded-agent.ts'
import { buildHeaders } from '../../../../../../operator/src/controllers/delivery/http/headers.ts'
import { parseRetryAfter, toPostFailure } from '../../../../../../operator/src/controllers/delivery/http/post.ts'
import { SigningSecrets } from '../../../../../../operator/src/controllers/delivery/http/signing-secrets.ts'
import { buildSigningSecret, canOpen, sealedForWebhook } from '../../../../../../operator/src/controllers/webhook/signing-secret.ts'
import { eventually } from '../../../../../support/eventually.ts'
import { at, aWebhook, NOON } from '../../../../../support/fakes/builders.ts'
import { listen } from '../../../../../support/servers/serve.ts'

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

/** A socket with a limit, the other end of its connection, and what it has read. */
async function setUp(t: Test, { bytes = 1_024, records = 64 } = {}) {
  const server = createServer()
  const socket = connect(await listen(t, server), '127.0.0.1')
  const [sender] = (await once(server, 'connection')) as [Socket]
  const limited = new LimitedSocket(socket, { bytes, records })
  const read: Buffer[] = []
  limited.on('data', (chunk: Buffer) => read.push(chunk))
  sender.on('error', () => undefined)
  t.teardown(() => {
    limited.destroy()
    sender.destroy()
  })
  return { sender, socket, limited, text: () => Buffer.concat(read).toString() }
}

t.test('LimitedSocket passes on bytes in both directions, up to its limit, and ends with its connection', async (t) => {
  const { sender, limited, text } = await setUp(t)
  limited.write('question')
  const [question] = await once(sender, 'data')
  t.equal(question.toString(), 'question')
  const ended = once(limited, 'close')
  sender.end('x'.repeat(1_024))
  await ended
  t.equal(text().length, 1_024)
  t.notOk(limited.errored)
})

t.test('LimitedSocket delivers the bytes within its limit, then fails and closes its connection', async (t) => {
  const { sender, socket, limited, text } = await setUp(t)
  const failed = once(limited, 'error')
  sender.write('x'.repeat(100_000))
  const [error] = await failed
  t.match(error, { name: 'TooLongError', message: 'the endpoint sent more than 1 KiB' })
  t.equal(text().length, 1_024)
  t.ok(socket.destroyed)
  await eventually('the sender sees it', async () => sender.destroyed)
})

t.test('LimitedSocket leaves bytes in the connection while its reader pauses', async (t) => {
  const { sender, socket, limited, text } = await setUp(t, { bytes: 1_048_576 })
  limited.pause()
  sender.write('x'.repeat(1_000_000))
  await eventually('the connection pauses', async () => socket.isPaused())
  t.ok(limited.readableLength < 500_000, `${limited.readableLength} bytes are buffered`)
  limited.resume()
  await eventually('all bytes arrive', async () => text().length === 1_000_000)
})

/** A TLS record of application data. */
function toRecord(body: string): Buffer {
  const header = Buffer.from([23, 3, 3, 0, 0])
  header.writeUInt16BE(body.length, 3)
  return Buffer.concat([header, Buffer.from(body)])
}

t.test('an endpoint that sends a response in thousands of tiny TLS records is cut off after a limit of records', async (t) => {
  for (const size of [1, 2, 7, 4_096]) {
    const { sender, socket, limited, text } = await setUp(t, { bytes: 65_536, records: 10 })
    const failed = once(limited, 'error')
    const allowed = Buffer.concat(Array.from({ length: 10 }, (_, n) => toRecord('x'.repeat(n % 3))))
    const sent = Buffer.concat([allowed, toRecord('x'), toRecord('x')])
    for (let at = 0; at < sent.length; at += size) {
      sender.write(sent.subarray(at, at + size))
      // Lets the parts arrive one by one, also within a header.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const [error] = await failed
    t.match(error, { name: 'TooLongError', message: 'the endpoint sent more than 10 TLS records' })
    t.equal(text(), allowed.toString())
    t.ok(socket.destroyed)
  }
})

t.test('a response of as many bytes and records as are allowed passes, and another may follow after a restart', async (t) => {
  const record = toRecord('y'.repeat(5_000))
  const { sender, limited, text } = await setUp(t, { bytes: 2 * record.length, records: 2 })
  for (let n = 1; n <= 3; n++) {
    sender.write(Buffer.concat([record, record]))
    await eventually('they arrive', async () => text().length === n * 2 * record.length)
    limited.restart()
  }
  t.notOk(limited.destroyed)
})

t.test('LimitedSocket reports errors of its connection', async (t) => {
  const { sender, limited } = await setUp(t)
  const failed = once(limited, 'error')
  sender.resetAndDestroy()
  const [error] = await failed
  t.match(error, { code: 'ECONNRESET' })
})

const hook = aWebhook()
const openingKeys = [newOpeningKey('k1')]
const sealingKey = toSealingKey(openingKeys[0]!)
const noSecret = async () => undefined

/** The webhook with secrets in its spec, each with its expiry in seconds after noon. */
async function withSealed(webhook: Webhook, ...texts: [text: string, endsAt?: number][]): Promise<Webhook> {
  const signingSecrets: WebhookSpec['signingSecrets'] = []
  for (const [text, endsAt] of texts) {
    const sealed = await seal(text, sealedForWebhook(webhook), sealingKey)
    signingSecrets.push({ sealed, ...(endsAt === undefined ? {} : { expiryTime: at(endsAt).toISOString() }) })
  }
  return { ...webhook, spec: { ...webhook.spec, signingSecrets } }
}

t.test('SigningSecrets reads a secret at most every 30 seconds', async (t) => {
  let second = 0
  let text = 'whsec_old'
  const asked: string[] = []
  const find = async (name: string) => {
    asked.push(name)
    return buildSigningSecret(hook, text) as Secret
  }
  const secrets = new SigningSecrets({ secrets: { find }, openingKeys, now: () => at(second) })
  t.strictSame(await secrets.find(hook), { current: 'whsec_old' })
  text = 'whsec_new'
  second = 29
  t.strictSame(await secrets.find(hook), { current: 'whsec_old' })
  second = 30
  t.strictSame(await secrets.find(hook), { current: 'whsec_new' })
  t.strictSame(asked, ['hook-signing-secret', 'hook-signing-secret'])
})

t.test('SigningSecrets opens the secrets in a spec, and drops the previous one when it expires', async (t) => {
  let second = 0
  const rotated = await withSealed(hook, ['whsec_new'], ['whsec_old', 10])
  const secrets = new SigningSecrets({ secrets: { find: noSecret }, openingKeys, now: () => at(second) })
  t.strictSame(await secrets.find(rotated), { current: 'whsec_new', previous: 'whsec_old' })
  second = 10
  t.strictSame(await secrets.find(rotated), { current: 'whsec_new' })
})

t.test('SigningSecrets does not open secrets that were sealed for another webhook or account', async (t) => {
  const mine = await withSealed(hook, ['whsec_mine'])
  const { signingSecrets } = mine.spec
  const stolen = aWebhook({ name: 'thief', spec: { ...mine.spec } })
  const moved = { ...mine, spec: { ...mine.spec, accountName: 'thief', signingSecrets } }
  const secrets = new SigningSecrets({ secrets: { find: noSecret }, openingKeys, now: () => at(0) })
  t.strictSame(await secrets.find(mine), { current: 'whsec_mine' })
  for (const foreign of [stolen, moved]) {
    t.equal(await secrets.find(foreign), undefined)
    t.equal(await canOpen(foreign, openingKeys, at(0)), false)
  }
  t.equal(await canOpen(mine, openingKeys, at(0)), true)
})

t.test('canOpen is false when every secret has expired', async (t) => {
  t.equal(await canOpen(await withSealed(hook, ['whsec_old', 5]), openingKeys, at(5)), false)
})
