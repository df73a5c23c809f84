// Allowed traffic through the guard: bytes, limits, and the ends of sessions.

import { once } from 'node:events'
import type http from 'node:http'
import type net from 'node:net'
import t, { type Test } from 'tap'
import { classifyFailure } from '../../../capture-runner/src/egress/classify-failure.ts'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import type { EgressPolicy } from '../../../capture-runner/src/egress/route.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { findFreePorts } from '../../cluster/host/ports.ts'
import { eventually } from '../../support/eventually.ts'
import { askThrough, saidOn, sendRaw, tunnelThrough } from '../../support/servers/proxy-client.ts'
import { startRawSite, startSite } from './sites.ts'

const POLICY: EgressPolicy = { rules: { ...DEFAULT_EGRESS_RULES, allowedCidrs: ['127.0.0.0/8'] }, maxBytes: 1e8 }
const guard = createGuard({ connectTimeoutMilliseconds: 2_000 })

const openArmed = async (t: Test, policy: EgressPolicy = POLICY) => {
  const session = await guard.openSession()
  t.teardown(() => session.close())
  session.arm(policy)
  return session
}

const proxyPort = ({ proxyUrl }: { proxyUrl: string }): number => Number(new URL(proxyUrl).port)

t.test('Guard forwards the bytes of browser and site unchanged', async (t) => {
  const answer = 'HTTP/1.1 418 Odd\r\nX-Latin: caf\xe9\r\nConnection: close\r\n X-Folded: 1\r\n\r\nhi'
  const received: string[] = []
  const site = await startRawSite(t, (socket) =>
    socket.once('data', (bytes) => {
      received.push(bytes.toString())
      socket.end(answer, 'latin1')
    }),
  )
  const session = await openArmed(t)
  const request = 'GET /a?b HTTP/1.1\r\nHost: evil.example\r\nX-Hop:  1\r\n\r\n'
  const tunnel = (await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
  tunnel.end(request)
  t.equal(await saidOn(tunnel), answer)
  t.strictSame(received, [request])
})

t.test(
  'a connection reset reads ERR_EMPTY_RESPONSE: Guard resets the browser’s connection when the site resets its own, and reports it',
  async (t) => {
    const site = await startRawSite(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
    const session = await openArmed(t)
    const tunnel = (await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
    tunnel.write('GET / HTTP/1.1\r\n\r\n')
    await t.rejects(saidOn(tunnel), { code: 'ECONNRESET' }, 'a reset, which browsers do not take for the end of a response')
    t.strictSame(classifyFailure(session.requestLog, `http://127.0.0.1:${site.port}/`, 'net::ERR_CONNECTION_RESET'), {
      code: 'NAVIGATION_FAILED',
      message: `127.0.0.1:${site.port} reset the connection (ECONNRESET)`,
    })
  },
)

t.test('Guard reports a rejected connection', async (t) => {
  const session = await openArmed(t)
  const [port] = await findFreePorts(1)
  t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${port}/`)).status, undefined)
  t.equal(await tunnelThrough(session.proxyUrl, `127.0.0.1:${port}`), undefined)
  const refused = { decision: 'failed', code: 'NAVIGATION_FAILED', error: 'ECONNREFUSED' }
  t.match(session.requestLog.entries, [refused, refused])
  const wanted = { code: 'NAVIGATION_FAILED', message: `127.0.0.1:${port} refused the connection (ECONNREFUSED)` }
  t.strictSame(classifyFailure(session.requestLog, `https://127.0.0.1:${port}/`), wanted)
})

t.test('Guard forwards bytes in both directions of a tunnel and closes each direction separately', async (t) => {
  const site = await startRawSite(t, (socket) => {
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.once('end', () => socket.end(`got ${got}`))
  })
  const session = await openArmed(t)
  const tunnel = (await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
  let response = ''
  tunnel.on('data', (chunk) => {
    response += chunk
  })
  tunnel.end('hello')
  await once(tunnel, 'close')
  t.equal(response, 'got hello')
  t.match(session.requestLog.entries, [{ decision: 'allowed', address: '127.0.0.1', bytesSent: 5, bytesReceived: 9 }])
})

t.test('Guard rejects everything before it is armed, and can be armed only once', async (t) => {
  const site = await startSite(t)
  const session = await guard.openSession()
  t.teardown(() => session.close())
  t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, undefined)
  t.equal(await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`), undefined)
  t.equal(site.connections, 0)
  session.arm(POLICY)
  t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, 200)
  t.throws(() => session.arm(POLICY))
})

t.test('Guard closes all sockets of a session when the session closes', async (t) => {
  const site = await startRawSite(t, (socket) => socket.resume().once('end', () => socket.end()))
  const session = await openArmed(t)
  const tunnel = (await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
  const pending = askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)
  await eventually('both connections reach the site', async () => site.sockets.size === 2)
  const closed = once(tunnel.resume(), 'close')
  session.close()
  session.close()
  await closed
  t.equal((await pending).status, undefined)
  await eventually('the site has no connections', async () => site.sockets.size === 0)
  t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, undefined)
})

t.test('Guard keeps other sessions open when one closes', async (t) => {
  const site = await startSite(t)
  const [one, other] = [await openArmed(t), await openArmed(t)]
  const tunnel = (await tunnelThrough(other.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
  one.close()
  tunnel.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  t.match(String(await once(tunnel, 'data')), /^HTTP\/1.1 200/)
  t.equal(one.requestLog.total, 0)
})

t.test('Guard ends a capture that exceeds its byte limit', async (t) => {
  const flood: http.RequestListener = (_request, response) => {
    response.on('error', () => {})
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      if (!response.destroyed) response.once('drain', pour)
    }
    pour()
  }
  const site = await startSite(t, flood)
  const throughParent = { url: `http://127.0.0.1:${site.port}`, direct: [], chosenBy: 'operator' as const }
  for (const [way, parent] of [
    ['directly', {}],
    ['through a proxy that reads requests', { parentProxy: throughParent }],
  ] as const) {
    const session = await openArmed(t, { ...POLICY, ...parent, maxBytes: 200_000 })
    t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, undefined, way)
    t.equal(session.requestLog.isExhausted, true, way)
    t.ok(session.requestLog.bytesReceived < 1e6, `${way}: ${session.requestLog.bytesReceived} bytes`)
    t.equal(classifyFailure(session.requestLog, `http://127.0.0.1:${site.port}/`, 'net::ERR_EMPTY_RESPONSE').code, 'RESOURCE_LIMIT')
    t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, undefined)
  }
})

const INVALID_STARTS: { name: string; bytes: Buffer; response?: Buffer }[] = [
  { name: 'http', bytes: Buffer.from('GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n') },
  { name: 'SOCKS 5 with a password', bytes: Buffer.from([5, 1, 2]) },
  { name: 'a BIND request', bytes: Buffer.from([5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80]), response: Buffer.from([5, 0]) },
]
for (const { name, bytes, response = Buffer.alloc(0) } of INVALID_STARTS) {
  t.test(`Guard closes a connection that begins with ${name}`, async (t) => {
    const session = await openArmed(t)
    t.equal(await sendRaw(proxyPort(session), bytes), response.toString('latin1'))
    t.strictSame(session.requestLog.entries, [])
  })
}

t.test('Guard rejects its own port and the port of the runner even if loopback is allowed', async (t) => {
  const site = await startSite(t)
  const careful = createGuard({ ownPorts: [site.port] })
  const session = await careful.openSession()
  t.teardown(() => session.close())
  session.arm(POLICY)
  for (const port of [site.port, proxyPort(session)]) {
    t.equal(await tunnelThrough(session.proxyUrl, `127.0.0.1:${port}`), undefined)
    t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${port}/`)).status, undefined)
  }
  t.equal(site.connections, 0)
  t.ok(await tunnelThrough((await openArmed(t)).proxyUrl, `127.0.0.1:${site.port}`), 'the control')
})
