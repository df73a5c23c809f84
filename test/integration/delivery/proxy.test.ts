import { once } from 'node:events'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { buildGuardedAgent, type GuardedAgentOptions } from '../../../operator/src/controllers/delivery/http/guarded-agent.ts'
import { post } from '../../../operator/src/controllers/delivery/http/post.ts'
import { LITERAL_ATTACKS } from '../../support/attack/attack-list.ts'
import { eventually } from '../../support/eventually.ts'
import { startConnectProxy } from '../../support/servers/connect-proxy.ts'
import { BUFFERED_BYTES, startEndlessServer } from '../../support/servers/endless-server.ts'
import { startReceiver } from './stage.ts'

const TIMEOUT_MILLISECONDS = 2_000

const receiver = await startReceiver(t, ['DNS:hooks.example.com', 'DNS:refused.example.com'])
const proxy = await startConnectProxy(t)
const target = `https://hooks.example.com:${receiver.port}/in`

/** An agent that uses a proxy. It must not resolve names: the proxy does. */
function anAgent(t: Test, proxyUrl: string, options: Partial<GuardedAgentOptions> = {}) {
  const dispatcher = buildGuardedAgent({
    rules: DEFAULT_EGRESS_RULES,
    ownAddresses: [],
    resolve: (name) => Promise.reject(new Error(`${name} was resolved`)),
    ca: [receiver.ca],
    connections: 4,
    connectMilliseconds: TIMEOUT_MILLISECONDS,
    proxy: new URL(proxyUrl),
    ...options,
  })
  t.teardown(() => dispatcher.destroy())
  return (url: string) => post({ url, headers: {}, body: '{}' }, { dispatcher, timeoutMilliseconds: TIMEOUT_MILLISECONDS })
}

t.beforeEach(() => {
  receiver.received.length = 0
  proxy.targets.length = 0
})

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
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  t.teardown(() => void silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
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
