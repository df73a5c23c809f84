// What the guard does with traffic that may pass: framing, headers, kept connections, limits, and the ends of sessions.

import { once } from 'node:events'
import type http from 'node:http'
import net from 'node:net'
import t, { type Test } from 'tap'
import { classifyFailure } from '../../../capture-runner/src/egress/classify-failure.ts'
import { createGuard, type EgressPolicy } from '../../../capture-runner/src/egress/guard.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/address-rules.ts'
import { eventually } from '../../support/eventually.ts'
import { askThrough, sendRaw, tunnelThrough } from '../../support/proxy-client.ts'
import { portOf, startFixedSite, startRawSite, startSite } from './sites.ts'

const POLICY: EgressPolicy = { rules: { ...DEFAULT_EGRESS_RULES, allowedCidrs: ['127.0.0.0/8'] }, maxBytes: 1e8 }
const guard = createGuard({ connectTimeoutMilliseconds: 2_000 })

const openArmed = async (t: Test, policy: EgressPolicy = POLICY) => {
  const session = await guard.openSession()
  t.teardown(() => session.close())
  session.arm(policy)
  return session
}

const findFreePort = async (): Promise<number> => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

const proxyPort = ({ proxyUrl }: { proxyUrl: string }): number => Number(new URL(proxyUrl).port)

t.test('Guard forwards method, path, headers and body, and makes Host from the target', async (t) => {
  const site = await startSite(t)
  const session = await openArmed(t)
  const url = `http://127.0.0.1:${site.port}/a/b?c=d&e`
  const headers = {
    host: 'evil.example',
    'X-Page': '1',
    'proxy-connection': 'keep-alive',
    'proxy-authorization': 'Basic eA==',
    connection: 'x-hop',
    'x-hop': '1',
  }
  const { body } = await askThrough(session.proxyUrl, url, { method: 'POST', headers, body: 'hello' })
  const seen = JSON.parse(body)
  t.match(seen, { method: 'POST', url: '/a/b?c=d&e', body: 'hello' })
  t.strictSame(seen.headers.slice(0, 4), ['Host', `127.0.0.1:${site.port}`, 'X-Page', '1'])
  t.notMatch(JSON.stringify(seen.headers), /proxy|x-hop/i)
})

t.test('Guard forwards bodies in chunks for every method', async (t) => {
  const site = await startSite(t)
  const session = await openArmed(t)
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'GET', 'OPTIONS']) {
    const answer = await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`, {
      method,
      headers: { 'transfer-encoding': 'chunked' },
      body: 'hello',
    })
    t.match(JSON.parse(answer.body), { method, body: 'hello' }, method)
  }
})

t.test('Guard gives the answer back as it is, without what belongs to the connection', async (t) => {
  const session = await openArmed(t)
  const site = await startFixedSite(
    t,
    'HTTP/1.1 418 Odd\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Latin: caf\xe9\r\nProxy-Authenticate: Basic\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nhi',
  )
  const answer = await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)
  t.match(answer, { status: 418, body: 'hi' })
  t.match(answer.headers.slice(0, 8), ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Latin', 'caf\xe9', 'Content-Length', '2'])
  t.notMatch(JSON.stringify(answer.headers), /proxy|x-hop/i)
})

t.test('Guard keeps connections to a site, and asks again on a new one when the kept one had died', async (t) => {
  const site = await startSite(t)
  const session = await openArmed(t)
  const url = `http://127.0.0.1:${site.port}/`
  for (let i = 0; i < 5; i++) t.equal((await askThrough(session.proxyUrl, url)).status, 200)
  t.equal(site.connections, 1)
  for (const socket of site.sockets) socket.resetAndDestroy()
  t.equal((await askThrough(session.proxyUrl, url)).status, 200)
  t.equal(site.connections, 2)
})

t.test('Guard shares no connection between sessions', async (t) => {
  const site = await startSite(t)
  for (const session of [await openArmed(t), await openArmed(t)]) await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)
  t.equal(site.connections, 2)
})

const smuggling: { name: string; head: string }[] = [
  { name: 'two lengths', head: 'Content-Length: 5\r\nContent-Length: 6' },
  { name: 'a length and chunks', head: 'Content-Length: 5\r\nTransfer-Encoding: chunked' },
  { name: 'an unknown transfer coding', head: 'Transfer-Encoding: chunked, x' },
  { name: 'a folded coding', head: 'Transfer-Encoding:\r\n chunked' },
  { name: 'a bare line feed', head: 'X: 1\nTransfer-Encoding: chunked' },
  { name: 'a space before the colon', head: 'Transfer-Encoding : chunked' },
]
for (const { name, head } of smuggling) {
  t.test(`Guard hides no second request in one with ${name}`, async (t) => {
    const urls: string[] = []
    const site = await startSite(t, (request, response) => {
      urls.push(request.url ?? '')
      request.resume()
      response.end()
    })
    const session = await openArmed(t)
    const hidden = `GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n`
    await sendRaw(
      proxyPort(session),
      `POST http://127.0.0.1:${site.port}/seen HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${head}\r\n\r\n0\r\n\r\n${hidden}`,
    )
    t.notOk(urls.includes('/hidden'))
  })
}

t.test('Guard lets no site hide a second answer or a header line', async (t) => {
  const session = await openArmed(t)
  const fixed = [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\rSet-Cookie: evil=1\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden',
  ]
  for (const bytes of fixed) {
    const site = await startFixedSite(t, bytes)
    const raw = await sendRaw(proxyPort(session), `GET http://127.0.0.1:${site.port}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    t.notMatch(raw, /hidden/)
    t.notMatch(raw, /^set-cookie/im)
  }
})

t.test('Guard closes without an answer when the site breaks off, and tells so', async (t) => {
  const session = await openArmed(t)
  const breaks: { name: string; site: (socket: net.Socket) => void; error: string }[] = [
    { name: 'before the answer', site: (socket) => socket.once('data', () => socket.destroy()), error: 'ECONNRESET' },
    {
      name: 'within the body',
      site: (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
      error: 'ECONNRESET',
    },
    {
      name: 'with something that is not http',
      site: (socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')),
      error: 'HPE_INVALID_CONSTANT',
    },
    {
      name: 'with an impossible status',
      site: (socket) => socket.once('data', () => socket.end('HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n')),
      error: 'ERR_HTTP_INVALID_STATUS_CODE',
    },
    {
      name: 'with another protocol',
      site: (socket) => socket.once('data', () => socket.write('HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')),
      error: '',
    },
  ]
  for (const { name, site: onSocket, error } of breaks) {
    const site = await startRawSite(t, onSocket)
    t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, undefined, name)
    const entry = await eventually(name, async () =>
      session.ledger.entries.find(({ port, verdict }) => port === site.port && verdict === 'failed'),
    )
    t.equal(entry.error ?? '', error, name)
    t.equal(classifyFailure(session.ledger, `http://127.0.0.1:${site.port}/`, 'net::ERR_EMPTY_RESPONSE').code, 'NAVIGATION_FAILED')
  }
})

t.test('Guard tells a refused connection', async (t) => {
  const session = await openArmed(t)
  const port = await findFreePort()
  t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${port}/`)).status, undefined)
  t.equal(await tunnelThrough(session.proxyUrl, `127.0.0.1:${port}`), undefined)
  const refused = { verdict: 'failed', code: 'NAVIGATION_FAILED', error: 'ECONNREFUSED' }
  t.match(session.ledger.entries, [refused, refused])
  const wanted = { code: 'NAVIGATION_FAILED', message: `127.0.0.1:${port} refused the connection (ECONNREFUSED)` }
  t.strictSame(classifyFailure(session.ledger, `https://127.0.0.1:${port}/`), wanted)
})

t.test('Guard carries bytes both ways through a tunnel and ends one direction at a time', async (t) => {
  const site = await startRawSite(t, (socket) => {
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.once('end', () => socket.end(`got ${got}`))
  })
  const session = await openArmed(t)
  const tunnel = (await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
  let said = ''
  tunnel.on('data', (chunk) => {
    said += chunk
  })
  tunnel.end('hello')
  await once(tunnel, 'close')
  t.equal(said, 'got hello')
  t.match(session.ledger.entries, [{ verdict: 'allowed', address: '127.0.0.1', bytesSent: 5, bytesReceived: 9 }])
})

t.test('Guard refuses everything before it is armed, and is armed once', async (t) => {
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

t.test('Guard lets no socket outlive its session', async (t) => {
  const site = await startRawSite(t, (socket) => socket.resume().once('end', () => socket.end()))
  const session = await openArmed(t)
  const tunnel = (await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
  const pending = askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)
  await eventually('both reach the site', async () => site.sockets.size === 2)
  const closed = once(tunnel, 'close')
  session.close()
  session.close()
  await closed
  t.equal((await pending).status, undefined)
  await eventually('the site is left alone', async () => site.sockets.size === 0)
  t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, undefined)
})

t.test('Guard leaves other sessions alone when one closes', async (t) => {
  const site = await startSite(t)
  const [one, other] = [await openArmed(t), await openArmed(t)]
  const tunnel = (await tunnelThrough(other.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
  one.close()
  tunnel.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  t.match(String(await once(tunnel, 'data')), /^HTTP\/1.1 200/)
  t.equal(one.ledger.total, 0)
})

t.test('Guard ends a capture that has used up its bytes, in a tunnel and in a plain answer', async (t) => {
  const flood: http.RequestListener = (_request, response) => {
    response.on('error', () => {})
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      if (!response.destroyed) response.once('drain', pour)
    }
    pour()
  }
  const site = await startSite(t, flood)
  for (const way of ['plain', 'tunnel']) {
    const session = await openArmed(t, { ...POLICY, maxBytes: 200_000 })
    if (way === 'plain') t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, undefined)
    else {
      const tunnel = (await tunnelThrough(session.proxyUrl, `127.0.0.1:${site.port}`)) as net.Socket
      tunnel.resume().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      await once(tunnel, 'close')
    }
    t.equal(session.ledger.isExhausted, true, way)
    t.ok(session.ledger.bytesReceived < 1e6, `${way}: ${session.ledger.bytesReceived} bytes`)
    t.equal(classifyFailure(session.ledger, `http://127.0.0.1:${site.port}/`, 'net::ERR_EMPTY_RESPONSE').code, 'RESOURCE_LIMIT')
    t.equal((await askThrough(session.proxyUrl, `http://127.0.0.1:${site.port}/`)).status, undefined)
  }
})

t.test('Guard answers nothing that is not a request to a proxy', async (t) => {
  const session = await openArmed(t)
  for (const request of [
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET https://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n',
    'CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n',
    '\x16\x03\x01\x00\x01',
  ]) {
    t.equal(await sendRaw(proxyPort(session), request), '', JSON.stringify(request))
  }
})

t.test('Guard keeps its own port and the runner’s unreached although loopback is opened', async (t) => {
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
