// Parent proxies: that of the installation, whose address is trusted, and that of a user, whose address is not.

import http from 'node:http'
import type net from 'node:net'
import t, { type Test } from 'tap'
import { classifyFailure } from '../../../capture-runner/src/egress/classify-failure.ts'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import type { ParentProxy } from '../../../capture-runner/src/egress/route.ts'
import { DEFAULT_EGRESS_RULES, type EgressRules } from '../../../crds/src/addresses/address-rules.ts'
import { assertEvery } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { askThrough, tunnelThrough } from '../../support/servers/proxy-client.ts'
import { startHttpProxy, startSocksProxy } from '../options/page/proxies.ts'
import { startRawSite, startSite } from './sites.ts'

/** A proxy that responds to everything itself. The body `through` shows that the request used the proxy. */
const startParent = async (t: Test, status = 200) => {
  /** Received requests, as `METHOD target authorization`. */
  const asked: string[] = []
  const note = ({ method, url, headers }: http.IncomingMessage): void =>
    void asked.push(`${method} ${url} ${headers['proxy-authorization'] ?? '-'}`)
  const server = http.createServer((request, response) => {
    note(request)
    response.writeHead(status).end('through')
  })
  server.on('connect', (request, socket: net.Socket) => {
    note(request)
    socket.end(`HTTP/1.1 ${status} X\r\n\r\n${status === 200 ? 'through' : ''}`)
  })
  const site = await startRawSite(t, (socket) => server.emit('connection', socket))
  return Object.assign(site, { asked })
}

const asking: string[] = []
const dns = await startDnsServer((name) => {
  asking.push(name)
  return name === 'inside.sites.example' ? { addresses: ['127.0.0.1'] } : undefined
})
t.teardown(() => dns.close())
const guard = createGuard({ dnsServers: [dns.address], dnsTimeoutMilliseconds: 500, connectTimeoutMilliseconds: 1_000 })

const open = async (t: Test, parent: Partial<ParentProxy> & { url: string }, rules: Partial<EgressRules> = {}) => {
  const session = await guard.openSession()
  t.teardown(() => session.close())
  session.arm({ rules: { ...DEFAULT_EGRESS_RULES, ...rules }, maxBytes: 1e6, parentProxy: { direct: [], chosenBy: 'operator', ...parent } })
  return session
}

t.test('Guard sends names unresolved to the installation’s proxy, with its user and password', async (t) => {
  const parent = await startParent(t)
  const session = await open(t, { url: `http://us%20er:p%40ss@127.0.0.1:${parent.port}` })
  asking.length = 0
  t.match(await askThrough(session.proxyUrl, 'http://nowhere.example/a?b'), { status: 200, body: 'through' })
  const tunnel = (await tunnelThrough(session.proxyUrl, 'nowhere.example:443')) as net.Socket
  t.ok(tunnel)
  tunnel.destroy()
  const basic = `Basic ${Buffer.from('us er:p@ss').toString('base64')}`
  t.strictSame(parent.asked, [`GET http://nowhere.example/a?b ${basic}`, `CONNECT nowhere.example:443 ${basic}`])
  t.strictSame(asking, [])
  t.match(session.requestLog.entries, [{ decision: 'allowed' }, { decision: 'allowed' }])
  assertEvery(t, session.requestLog.entries, ({ address }) => !address, 'only the proxy knows the address')
})

t.test('Guard rejects denied targets even if a proxy would accept them', async (t) => {
  const parent = await startParent(t)
  const session = await open(t, { url: `http://127.0.0.1:${parent.port}` })
  for (const host of ['127.0.0.1', '0x7f.1', '169.254.169.254', '[fd00::1]', 'localhost', 'kubernetes.default.svc', 'nowhere.example.']) {
    t.equal((await askThrough(session.proxyUrl, `http://${host}/`)).status, undefined, host)
    t.equal(await tunnelThrough(session.proxyUrl, `${host}:443`), undefined, host)
  }
  t.equal(await tunnelThrough(session.proxyUrl, 'nowhere.example:25'), undefined)
  t.equal(parent.connections, 0)
  t.ok(session.requestLog.entries.every(({ decision }) => decision === 'refused'))
})

t.test('Guard connects directly to hosts that bypass the proxy', async (t) => {
  const parent = await startParent(t)
  const site = await startSite(t)
  const url = `http://127.0.0.1:${parent.port}`
  const loopback = { allowedCidrs: ['127.0.0.0/8'] }
  const cases = [
    {
      name: 'a name in allowedHosts',
      host: 'inside.sites.example',
      direct: [],
      rules: { ...loopback, allowedHosts: ['*.sites.example'] },
    },
    { name: 'a listed name', host: 'inside.sites.example', direct: ['*.sites.example'], rules: loopback },
    { name: 'a listed address', host: '127.0.0.1', direct: ['127.0.0.1'], rules: loopback },
    { name: 'an address in a listed range', host: '127.0.0.1', direct: ['127.0.0.0/8'], rules: loopback },
  ]
  for (const { name, host, direct, rules } of cases) {
    const session = await open(t, { url, direct }, rules)
    t.equal((await askThrough(session.proxyUrl, `http://${host}:${site.port}/`)).status, 200, name)
    t.equal(parent.connections, 0, name)
  }
  const through = await open(t, { url, direct: ['10.0.0.0/8', '*.other.example'] }, loopback)
  t.match(await askThrough(through.proxyUrl, `http://127.0.0.1:${site.port}/`), { body: 'through' }, 'the control')
})

t.test('Guard checks the address of a user’s proxy', async (t) => {
  const parent = await startParent(t)
  for (const host of ['127.0.0.1', '0x7f.1', 'inside.sites.example']) {
    const mine = { url: `http://${host}:${parent.port}`, chosenBy: 'user' as const }
    const closed = await open(t, mine)
    t.equal((await askThrough(closed.proxyUrl, 'http://nowhere.example/')).status, undefined, host)
    t.equal(await tunnelThrough(closed.proxyUrl, 'nowhere.example:443'), undefined, host)
    t.equal(parent.connections, 0, host)
    t.strictSame(
      classifyFailure(closed.requestLog, 'http://nowhere.example/'),
      { code: 'BLOCKED_ADDRESS', message: 'the address of the proxy is not open to captures' },
      host,
    )
  }
  const opened = await open(t, { url: `http://127.0.0.1:${parent.port}`, chosenBy: 'user' }, { allowedCidrs: ['127.0.0.0/8'] })
  t.match(await askThrough(opened.proxyUrl, 'http://nowhere.example/'), { body: 'through' }, 'the control')
})

const refusals = [
  { name: 'rejects the password', status: 407 },
  { name: 'rejects the target', status: 403 },
]
for (const { name, status } of refusals) {
  t.test(`Guard closes and reports PROXY_FAILED when the proxy ${name}`, async (t) => {
    const parent = await startParent(t, status)
    const session = await open(t, { url: `http://127.0.0.1:${parent.port}` })
    t.equal(await tunnelThrough(session.proxyUrl, 'nowhere.example:443'), undefined)
    t.strictSame(classifyFailure(session.requestLog, 'https://nowhere.example/', 'net::ERR_TUNNEL_CONNECTION_FAILED'), {
      code: 'PROXY_FAILED',
      message: 'the proxy did not connect to nowhere.example:443',
    })
    const plain = await askThrough(session.proxyUrl, 'http://nowhere.example/')
    t.equal(plain.status, status === 407 ? undefined : status, 'the response of a proxy to plain http may be the site’s own')
  })
}

t.test('Guard reports PROXY_FAILED when the proxy is unreachable, breaks off or sends nothing', async (t) => {
  const gone = await startRawSite(t, (socket) => socket.destroy())
  const silent = await startRawSite(t, () => {})
  for (const url of [
    `http://127.0.0.1:${gone.port}`,
    'http://127.0.0.1:9',
    `http://127.0.0.1:${silent.port}`,
    'http://nowhere.example:3128',
    `https://127.0.0.1:${gone.port}`,
  ]) {
    const session = await open(t, { url })
    t.equal(await tunnelThrough(session.proxyUrl, 'public.example:443'), undefined, url)
    t.equal(classifyFailure(session.requestLog, 'https://public.example/').code, 'PROXY_FAILED', url)
  }
})

t.test('Guard reaches a user’s proxy through the installation’s, and also the hosts that bypass it', async (t) => {
  const site = await startSite(t)
  asking.length = 0
  const [inner, outer] = [await startHttpProxy(t), await startHttpProxy(t, 'o:p')]
  const via: ParentProxy = { url: `http://o:p@${outer.host}`, direct: ['127.0.0.2'], chosenBy: 'operator' }
  const mine = { url: `http://proxy.example:${inner.host.split(':')[1]}`, direct: ['bypassed.example'], chosenBy: 'user' as const, via }
  const session = await open(t, mine, { allowedCidrs: ['127.0.0.0/8'] })
  for (const host of ['nowhere.example', 'bypassed.example']) {
    const target = `${host}:${site.port}`
    t.match(await askThrough(session.proxyUrl, `http://${target}/`), { status: 200 }, host)
    const tunnel = (await tunnelThrough(session.proxyUrl, target)) as net.Socket
    t.ok(tunnel, host)
    // The first bytes of TLS, because plain requests would not use a tunnel.
    tunnel.write(Buffer.from([22]))
    await eventually(
      'a tunnel is requested',
      async () => (host === 'nowhere.example' ? inner : outer).targets.filter((one) => one === target).length === 2,
    )
    tunnel.destroy()
  }
  t.strictSame(
    inner.targets,
    Array.from({ length: 2 }, () => `nowhere.example:${site.port}`),
  )
  t.ok(outer.targets.includes(`proxy.example:${inner.host.split(':')[1]}`))
  t.equal(outer.targets.filter((target) => target === `bypassed.example:${site.port}`).length, 2)
  t.strictSame(asking, [], 'no name is resolved here')
})

const socksFaults: { name: string; answer: Buffer; message?: RegExp }[] = [
  { name: 'speaks another protocol', answer: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') },
  { name: 'requires authentication', answer: Buffer.from([5, 255]) },
  { name: 'does not allow the target', answer: Buffer.from([5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0]) },
  { name: 'sends nothing', answer: Buffer.alloc(0) },
  { name: 'sends half a response', answer: Buffer.from([5, 0, 5, 0]) },
]
for (const { name, answer } of socksFaults) {
  t.test(`Guard closes and reports PROXY_FAILED when a socks5 proxy ${name}`, async (t) => {
    const site = await startRawSite(t, (socket) => {
      if (answer.length > 0) socket.write(answer)
    })
    const session = await open(t, { url: `socks5://127.0.0.1:${site.port}`, chosenBy: 'user' }, { allowedCidrs: ['127.0.0.0/8'] })
    t.equal(await tunnelThrough(session.proxyUrl, 'nowhere.example:443'), undefined)
    t.equal((await askThrough(session.proxyUrl, 'http://nowhere.example/')).status, undefined)
    t.strictSame(
      session.requestLog.entries.map(({ code }) => code),
      ['PROXY_FAILED', 'PROXY_FAILED'],
    )
  })
}

t.test('Guard sends names, IPv4 and IPv6 addresses to a socks5 proxy', async (t) => {
  const proxy = await startSocksProxy(t)
  const site = await startSite(t)
  const session = await open(t, { url: `socks5://${proxy.host}`, chosenBy: 'user' }, { allowedCidrs: ['127.0.0.0/8', '::1/128'] })
  const hosts = ['nowhere.example', '127.0.0.3', '[::1]']
  for (const host of hosts) t.equal((await askThrough(session.proxyUrl, `http://${host}:${site.port}/`)).status, 200, host)
  t.strictSame(proxy.targets, [`nowhere.example:${site.port}`, `127.0.0.3:${site.port}`, `0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:1:${site.port}`])
})
