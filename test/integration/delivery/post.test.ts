import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { buildGuardedAgent, type GuardedAgentOptions } from '../../../operator/src/controllers/delivery/http/guarded-agent.ts'
import { certificatesOf } from '../../../operator/src/controllers/delivery/http/network.ts'
import { post } from '../../../operator/src/controllers/delivery/http/post.ts'
import { LITERAL_ATTACKS, NAME_ATTACKS } from '../../support/attack/attack-list.ts'
import { eventually } from '../../support/eventually.ts'
import { startConnectProxy } from '../../support/servers/connect-proxy.ts'
import { BUFFERED_BYTES, startEndlessServer } from '../../support/servers/endless-server.ts'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { listen } from '../../support/servers/serve.ts'
import { startReceiver } from './stage.ts'

const TIMEOUT_MILLISECONDS = 20_000
/** For endpoints that do not respond within it. */
const SHORT_TIMEOUT_MILLISECONDS = 2_000
const LOOPBACK = { ...DEFAULT_EGRESS_RULES, allowedCidrs: ['127.0.0.0/8'] }

const receiver = await startReceiver(t, ['IP:127.0.0.1', 'DNS:hooks.example.com', 'DNS:refused.example.com'])
const proxy = await startConnectProxy(t)
const target = `https://hooks.example.com:${receiver.port}/in`
t.beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = answerWith(200)
  proxy.targets.length = 0
})

const OPTIONS: GuardedAgentOptions = {
  rules: LOOPBACK,
  ownAddresses: [],
  resolve: async () => ['127.0.0.1'],
  ca: [receiver.ca],
  connections: 4,
  connectMilliseconds: TIMEOUT_MILLISECONDS,
}

const EVENT = { url: receiver.url, headers: {}, body: '{}' }

/** Posts to `url` as the operator does, with the options of the test. */
async function send(t: Test, url: string, options: Partial<GuardedAgentOptions> = {}, timeoutMilliseconds = TIMEOUT_MILLISECONDS) {
  const dispatcher = buildGuardedAgent({ ...OPTIONS, ...options })
  t.teardown(() => dispatcher.destroy())
  return post({ url, headers: { 'content-type': 'application/json' }, body: '{}' }, { dispatcher, timeoutMilliseconds })
}

t.test('post succeeds with any 2xx and fails with any other status', async (t) => {
  for (const status of [200, 201, 202, 204, 299]) {
    receiver.answer = answerWith(status)
    t.match(await send(t, receiver.url), { isSuccess: true, statusCode: status, end: 'answered' })
  }
  for (const status of [300, 302, 304, 307, 400, 401, 404, 410, 429, 500, 503]) {
    receiver.answer = answerWith(status, '', { location: `${receiver.url}/elsewhere` })
    t.match(await send(t, receiver.url), { isSuccess: false, statusCode: status, end: 'answered' })
  }
  t.notOk(
    receiver.received.some(({ path }) => path === '/elsewhere'),
    'no redirect is followed',
  )
})

t.test('a receiver of a new authority is reached as soon as its certificate is in the file, without a restart', async (t) => {
  const file = join(t.testdir({ 'ca.crt': receiver.ca }), 'ca.crt')
  await writeFile(file, '')
  let now = 0
  const dispatcher = buildGuardedAgent({ ...OPTIONS, ca: certificatesOf(file, () => now) })
  t.teardown(() => dispatcher.destroy())
  const settings = { dispatcher, timeoutMilliseconds: TIMEOUT_MILLISECONDS }
  t.match(await post(EVENT, settings), { isSuccess: false, end: 'tls' })
  await writeFile(file, receiver.ca)
  now += 10_000
  t.match(await post(EVENT, settings), { isSuccess: true })
  await writeFile(file, '-----BEGIN CERTIFICATE-----\nno PEM\n-----END CERTIFICATE-----')
  now += 10_000
  t.match(
    await post({ ...EVENT, url: receiver.url.replace('127.0.0.1', 'hooks.example.com') }, settings),
    { isSuccess: true },
    'a broken file changes nothing',
  )
})

t.test('post returns the value of Retry-After', async (t) => {
  receiver.answer = answerWith(503, '', { 'retry-after': '7' })
  t.match(await send(t, receiver.url), { retryAfterMilliseconds: 7_000 })
})

t.test('post fails when the status line is late', async (t) => {
  receiver.answer = () => {}
  t.match(await send(t, receiver.url, {}, SHORT_TIMEOUT_MILLISECONDS), { isSuccess: false, statusCode: 0, end: 'timeout' })
})

t.test('post succeeds when the status line arrives in time and the body never ends', async (t) => {
  receiver.answer = (_, response) => void response.writeHead(200).write('so far')
  const outcome = await send(t, receiver.url, {}, SHORT_TIMEOUT_MILLISECONDS)
  t.match(outcome, { isSuccess: true, statusCode: 200 })
  t.equal(outcome.excerpt.toString(), 'so far')
})

t.test('post accepts large, compressed and unusual responses', async (t) => {
  for (const body of ['y'.repeat(200_000), '']) {
    receiver.answer = answerWith(200, body)
    const outcome = await send(t, receiver.url)
    t.match(outcome, { isSuccess: true })
    t.equal(outcome.excerpt.length, Math.min(body.length, 1024))
  }
  receiver.answer = (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('z'.repeat(10_000_000)))
  t.match(await send(t, receiver.url), { isSuccess: true })
})

t.test('post parses the certificates of all authorities once, not for each connection', async (t) => {
  let reads = 0
  const get = (list: string[], key: string | symbol) => {
    if (key === '0') reads++
    return Reflect.get(list, key)
  }
  const ca = new Proxy([receiver.ca], { get })
  const dispatcher = buildGuardedAgent({ ...OPTIONS, ca })
  t.teardown(() => dispatcher.destroy())
  const before = { reads, connections: receiver.connections() }
  receiver.answer = answerWith(200, '', { connection: 'close' })
  for (let n = 0; n < 3; n++) await post(EVENT, { dispatcher, timeoutMilliseconds: TIMEOUT_MILLISECONDS })
  t.strictSame([reads, receiver.connections()], [before.reads, before.connections + 3])
})

t.test('post allows each response its own bytes on a reused connection', async (t) => {
  const dispatcher = buildGuardedAgent({ ...OPTIONS, connections: 1 })
  t.teardown(() => dispatcher.destroy())
  const before = receiver.connections()
  receiver.answer = answerWith(200, 'y'.repeat(12_000), { 'x-more': 'z'.repeat(8_000) })
  for (let n = 0; n < 10; n++)
    t.match(await post(EVENT, { dispatcher, timeoutMilliseconds: TIMEOUT_MILLISECONDS }), {
      isSuccess: true,
    })
  t.equal(receiver.connections(), before + 1)
})

t.test('post fails when the connection is reset after the request', async (t) => {
  receiver.answer = (_, response) => void response.socket?.destroy()
  t.match(await send(t, receiver.url), { isSuccess: false, statusCode: 0, end: 'connection' })
})

t.test('post fails for an untrusted certificate, for another name, and without TLS', async (t) => {
  const stranger = await startReceiver(t)
  t.match(await send(t, stranger.url), { isSuccess: false, end: 'tls' })
  t.match(await send(t, `https://other.example.com:${receiver.port}/`), { isSuccess: false, end: 'tls' })
  t.match(await send(t, `https://hooks.example.com:${receiver.port}/`), { isSuccess: true }, 'its own name is valid')
  const plain = await listen(
    t,
    createServer((socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n')),
  )
  t.match(await send(t, `https://127.0.0.1:${plain}/`), { isSuccess: false, statusCode: 0, end: 'tls' })
  t.equal(stranger.received.length, 0)
})

t.test('post fails when no server listens or the name is unknown', async (t) => {
  const server = createServer()
  const port = await listen(t, server)
  server.close()
  t.match(await send(t, `https://127.0.0.1:${port}/`), { isSuccess: false, end: 'connection', detail: /ECONNREFUSED/ })
  const resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
  t.match(await send(t, 'https://hooks.example.com/', { resolve }), { isSuccess: false, end: 'unresolved' })
})

t.test('post reaches no private address in any spelling, unless its range is allowed', async (t) => {
  const loopback = LITERAL_ATTACKS.filter(({ means }) => means === '127.0.0.1')
  t.ok(loopback.length >= 20)
  for (const { host, opens } of loopback) {
    const url = `https://${host}:${receiver.port}/`
    t.match(await send(t, url, { rules: DEFAULT_EGRESS_RULES }), { isSuccess: false, end: 'blocked' }, `${host} is rejected`)
    t.equal(receiver.received.length, 0)
    t.match(await send(t, url, { rules: { ...DEFAULT_EGRESS_RULES, allowedCidrs: opens } }), { end: /answered|tls/ }, `${host} is reached`)
    receiver.received.length = 0
  }
  for (const { host } of [...LITERAL_ATTACKS, ...NAME_ATTACKS]) {
    const outcome = await send(t, `https://${host}:${receiver.port}/`, { rules: DEFAULT_EGRESS_RULES })
    t.match(outcome, { isSuccess: false, end: 'blocked' }, `${host} is rejected`)
  }
  t.equal(receiver.received.length, 0)
})

t.test('post reaches no private address by a name, unless its range is allowed', async (t) => {
  const url = `https://hooks.example.com:${receiver.port}/`
  for (const addresses of [
    ['127.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['93.184.216.34', '127.0.0.1'],
    ['10.1.2.3'],
    ['fd00::1'],
    ['64:ff9b::7f00:1'],
    ['::127.0.0.1'],
    ['::198.51.100.10'],
  ]) {
    const outcome = await send(t, url, { rules: DEFAULT_EGRESS_RULES, resolve: async () => addresses })
    t.match(outcome, { isSuccess: false, end: 'blocked' }, `${addresses} is rejected`)
  }
  t.equal(receiver.received.length, 0)
  t.match(await send(t, url), { isSuccess: true })
})

t.test('post dials the address that it has checked, and checks again for the next connection', async (t) => {
  const answers = [['127.0.0.1'], ['10.9.9.9'], ['127.0.0.1']]
  let asked = 0
  const dispatcher = buildGuardedAgent({ ...OPTIONS, resolve: async () => answers[asked++] ?? [] })
  t.teardown(() => dispatcher.destroy())
  receiver.answer = answerWith(200, '', { connection: 'close' })
  for (const [n, end] of ['answered', 'blocked', 'answered'].entries()) {
    t.match(await post({ ...EVENT, url: target }, { dispatcher, timeoutMilliseconds: TIMEOUT_MILLISECONDS }), { end })
    t.equal(asked, n + 1, 'the name is resolved once per connection')
  }
  t.equal(receiver.received.length, 2)
})

t.test('post dials the address that the rules allow, not another one with the same text at its end', async (t) => {
  const sendTo = (address: string) => send(t, `https://hooks.example.com:${receiver.port}/`, { resolve: async () => [address] })
  t.match(await sendTo('::ffff:127.0.0.1'), { isSuccess: true }, 'the IPv4 address is dialed')
  t.match(await sendTo('::127.0.0.1'), { isSuccess: false, end: 'blocked', detail: /::7f00:1 is an IPv4-compatible address/ })
})

t.test('post never connects to the operator itself, to ports of other services, or without TLS', async (t) => {
  const { port } = receiver
  const own = await send(t, `https://127.0.0.1:${port}/`, { ownAddresses: ['127.0.0.1'] })
  t.match(own, { isSuccess: false, end: 'blocked', detail: /requesting pod/ })
  t.match(await send(t, 'https://127.0.0.1:22/'), { isSuccess: false, end: 'blocked', detail: /port 22/ })
  t.match(await send(t, `http://127.0.0.1:${port}/`), { isSuccess: false, end: 'blocked', detail: /not https/ })
  t.equal(receiver.received.length, 0)
})

// Through a proxy.

/** An agent that uses a proxy. It must not resolve names: the proxy does. */
function anAgent(t: Test, proxyUrl: string, options: Partial<GuardedAgentOptions> = {}) {
  const dispatcher = buildGuardedAgent({
    ...OPTIONS,
    rules: DEFAULT_EGRESS_RULES,
    resolve: (name) => Promise.reject(new Error(`${name} was resolved`)),
    connectMilliseconds: SHORT_TIMEOUT_MILLISECONDS,
    proxy: new URL(proxyUrl),
    ...options,
  })
  t.teardown(() => dispatcher.destroy())
  return (url: string) => post({ url, headers: {}, body: '{}' }, { dispatcher, timeoutMilliseconds: SHORT_TIMEOUT_MILLISECONDS })
}

t.test('a post through a proxy reaches the endpoint by its name, and reuses its connection', async (t) => {
  const send = anAgent(t, proxy.url)
  const before = receiver.connections()
  for (const n of [1, 2, 3, 4, 5]) t.match(await send(`${target}/${n}`), { isSuccess: true, statusCode: 200 })
  t.strictSame(
    receiver.received.map(({ path, headers }) => [path, headers.host]),
    [1, 2, 3, 4, 5].map((n) => [`/in/${n}`, `hooks.example.com:${receiver.port}`]),
  )
  t.ok(receiver.connections() - before < 5, `${receiver.connections() - before} tunnels for 5 posts`)
})

t.test('a post through a proxy is encrypted to the endpoint, whose certificate is checked', async (t) => {
  t.match(await anAgent(t, proxy.url)(`https://other.example.com:${receiver.port}/`), { isSuccess: false, end: 'tls' })
  t.match(await anAgent(t, proxy.url, { ca: [] })(target), { isSuccess: false, end: 'tls' })
  t.equal(receiver.received.length, 0)
})

t.test('a post through a proxy fails when the proxy rejects the target', async (t) => {
  const refused = await anAgent(t, proxy.url)(`https://refused.example.com:${receiver.port}/`)
  t.match(refused, { isSuccess: false, statusCode: 0, end: 'proxy', detail: 'the proxy responded with 407' })
  await eventually('the proxy received the request', async () => proxy.targets.includes(`refused.example.com:${receiver.port}`))
})

t.test('a post through a proxy sends the credentials of the proxy URL', async (t) => {
  const closed = await startConnectProxy(t, 'me:p@ss')
  t.match(await anAgent(t, closed.url)(target), { end: 'proxy' })
  t.match(await anAgent(t, closed.url.replace('http://', 'http://me:p%40ss@'))(target), { isSuccess: true })
})

t.test('a post fails in time when its proxy is unavailable or does not respond', async (t) => {
  const port = await listen(
    t,
    createServer(() => {}),
  )
  t.match(await anAgent(t, `http://127.0.0.1:${port}`)(target), { isSuccess: false, statusCode: 0, end: /proxy|timeout/ })
  t.match(await anAgent(t, 'http://127.0.0.1:1')(target), { isSuccess: false, end: 'proxy' })
})

t.test('a post reads only a few KiB from its proxy, within its timeout', async (t) => {
  const ways = {
    'endless headers': ['HTTP/1.1 200 OK\r\n', `x-more: ${'y'.repeat(1_000)}\r\n`],
    'an endless error response': ['HTTP/1.1 403 Forbidden\r\n\r\n', 'no '],
    'endless interim responses': ['', 'HTTP/1.1 102 Processing\r\n\r\n'],
  } as const
  for (const [way, [start, more]] of Object.entries(ways)) {
    const endless = await startEndlessServer(t, start, more)
    t.match(await anAgent(t, endless.url)(target), { isSuccess: false, statusCode: 0, end: /proxy|timeout/ }, way)
    await eventually('the connection is closed', async () => endless.closed() === 1)
    if (way !== 'endless interim responses') t.ok(endless.bytes() < BUFFERED_BYTES, `${endless.bytes()} bytes were taken`)
  }
})

t.test('private addresses and names of the cluster are never sent to the proxy', async (t) => {
  const send = anAgent(t, proxy.url)
  for (const { host } of LITERAL_ATTACKS) t.match(await send(`https://${host}/`), { isSuccess: false, statusCode: 0 }, host)
  for (const host of ['kubernetes.default.svc', 'tintype-minio.tintype.svc.cluster.local', 'localhost'])
    t.match(await send(`https://${host}/`), { isSuccess: false, end: 'blocked' }, host)
  t.match(await send(target), { isSuccess: true }, 'control')
  await eventually('the proxy received the request', async () => proxy.targets.length > 0)
  t.strictSame(proxy.targets, [`hooks.example.com:${receiver.port}`], 'the requests of the proxy are correct')
})
