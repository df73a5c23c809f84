// Unencrypted requests to a proxy that reads them: framing, headers and reused connections. The proxy in these tests responds itself and records
// the requests.

import type net from 'node:net'
import t, { type Test } from 'tap'
import { classifyFailure } from '../../../capture-runner/src/egress/classify-failure.ts'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { eventually } from '../../support/eventually.ts'
import { askThrough, saidOn, tunnelThrough } from '../../support/servers/proxy-client.ts'
import { startHttpProxy } from '../options/page/proxies.ts'
import { startFixedSite, startRawSite, startSite } from './sites.ts'

const guard = createGuard({ connectTimeoutMilliseconds: 2_000 })
const URL_ASKED = 'http://nowhere.example/'

const openTo = async (t: Test, port: number) => {
  const session = await guard.openSession()
  t.teardown(() => session.close())
  const rules = { ...DEFAULT_EGRESS_RULES, allowedCidrs: ['127.0.0.0/8'] }
  session.arm({ rules, maxBytes: 1e8, parentProxy: { url: `http://127.0.0.1:${port}`, direct: [], chosenBy: 'operator' } })
  return session
}

/** Writes bytes to a connection to the requested site, and returns everything received until it closes. */
const exchange = async ({ proxyUrl }: { proxyUrl: string }, bytes: string): Promise<string> => {
  const socket = (await tunnelThrough(proxyUrl, 'nowhere.example:80')) as net.Socket
  socket.write(bytes)
  return saidOn(socket)
}

t.test('Guard forwards method, path, headers and body, and derives Host from the target', async (t) => {
  const site = await startSite(t)
  const session = await openTo(t, site.port)
  const headers = {
    host: 'evil.example',
    'X-Page': '1',
    'proxy-connection': 'keep-alive',
    'proxy-authorization': 'Basic eA==',
    connection: 'x-hop, close',
    'x-hop': '1',
  }
  const { body } = await askThrough(session.proxyUrl, 'http://nowhere.example/a/b?c=d&e', { method: 'POST', headers, body: 'hello' })
  const seen = JSON.parse(body)
  t.match(seen, { method: 'POST', url: 'http://nowhere.example/a/b?c=d&e', body: 'hello' })
  t.strictSame(seen.headers.slice(0, 4), ['Host', 'nowhere.example', 'X-Page', '1'])
  t.notMatch(JSON.stringify(seen.headers), /proxy|x-hop/i)
})

t.test('Guard forwards chunked bodies for every method', async (t) => {
  const site = await startSite(t)
  const session = await openTo(t, site.port)
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'GET', 'OPTIONS']) {
    const answer = await askThrough(session.proxyUrl, URL_ASKED, {
      method,
      headers: { 'transfer-encoding': 'chunked' },
      body: 'hello',
    })
    t.match(JSON.parse(answer.body), { method, body: 'hello' }, method)
  }
})

t.test('Guard returns the response unchanged except for hop-by-hop headers', async (t) => {
  const site = await startFixedSite(
    t,
    'HTTP/1.1 418 Odd\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Latin: caf\xe9\r\nProxy-Authenticate: Basic\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nhi',
  )
  const session = await openTo(t, site.port)
  const answer = await askThrough(session.proxyUrl, URL_ASKED)
  t.match(answer, { status: 418, body: 'hi' })
  t.match(answer.headers.slice(0, 8), ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Latin', 'caf\xe9', 'Content-Length', '2'])
  t.notMatch(JSON.stringify(answer.headers), /proxy|x-hop/i)
})

t.test('Guard reuses connections to a site, and retries on a new one when the reused one was closed', async (t) => {
  const site = await startSite(t)
  const session = await openTo(t, site.port)
  for (let i = 0; i < 5; i++) t.equal((await askThrough(session.proxyUrl, URL_ASKED)).status, 200)
  t.equal(site.connections, 1)
  for (const socket of site.sockets) socket.resetAndDestroy()
  t.equal((await askThrough(session.proxyUrl, URL_ASKED)).status, 200)
  t.equal(site.connections, 2)
})

t.test('Guard never shares connections between sessions', async (t) => {
  const site = await startSite(t)
  for (const session of [await openTo(t, site.port), await openTo(t, site.port)]) await askThrough(session.proxyUrl, URL_ASKED)
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
  t.test(`Guard forwards no second request hidden in one with ${name}`, async (t) => {
    const urls: string[] = []
    const site = await startSite(t, (request, response) => {
      urls.push(request.url ?? '')
      request.resume()
      response.end()
    })
    const session = await openTo(t, site.port)
    const hidden = `GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n`
    await exchange(session, `POST /seen HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${head}\r\n\r\n0\r\n\r\n${hidden}`)
    t.notOk(urls.some((url) => url.endsWith('/hidden')))
  })
}

t.test('Guard rejects a request for a target other than that of its connection', async (t) => {
  const site = await startSite(t)
  const session = await openTo(t, site.port)
  for (const target of ['http://127.0.0.1/', 'http://other.example/', '*', 'other.example:80'])
    t.equal(await exchange(session, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`), '', target)
  t.equal(site.connections, 0)
})

t.test('Guard forwards no second response or header line hidden by a site', async (t) => {
  const site = await startFixedSite(
    t,
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\rSet-Cookie: evil=1\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden',
  )
  const session = await openTo(t, site.port)
  const raw = await exchange(session, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.notMatch(raw, /hidden/)
  t.notMatch(raw, /^set-cookie/im)
})

t.test('Guard closes without a response and records the error when the site breaks off', async (t) => {
  const breaks: { name: string; site: (socket: net.Socket) => void; error: string }[] = [
    { name: 'before the response', site: (socket) => socket.once('data', () => socket.destroy()), error: 'ECONNRESET' },
    {
      name: 'during the body',
      site: (socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
      error: 'ECONNRESET',
    },
    {
      name: 'with data that is not http',
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
    const session = await openTo(t, site.port)
    t.equal((await askThrough(session.proxyUrl, URL_ASKED)).status, undefined, name)
    const entry = await eventually(name, async () => session.requestLog.entries.find(({ decision }) => decision === 'failed'))
    t.equal(entry.error ?? '', error, name)
    t.equal(classifyFailure(session.requestLog, URL_ASKED, 'net::ERR_EMPTY_RESPONSE').code, 'NAVIGATION_FAILED')
  }
})

t.test('Guard sends an unencrypted WebSocket through a tunnel', async (t) => {
  const received: string[] = []
  const site = await startRawSite(t, (socket) =>
    socket.once('data', (bytes) => {
      received.push(bytes.toString())
      socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\nframes')
    }),
  )
  const proxy = await startHttpProxy(t)
  const session = await openTo(t, Number(new URL(`http://${proxy.host}`).port))
  const socket = (await tunnelThrough(session.proxyUrl, `nowhere.example:${site.port}`)) as net.Socket
  const opening =
    'GET /chat HTTP/1.1\r\nHost: nowhere.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n\r\n'
  socket.write(opening)
  t.match(await saidOn(socket), /101 Switching Protocols.*frames/s)
  t.strictSame(received, [opening])
  t.strictSame(proxy.targets, [`nowhere.example:${site.port}`])
})
