// Forwards plain http to a parent proxy that reads requests. Each request becomes one absolute-form request, on connections that are reused
// within the capture. node:http parses and frames both sides. Everything is written anew, never copied, so that no request or response can
// hide a second one (request smuggling).

import http, { validateHeaderName, validateHeaderValue } from 'node:http'
import type net from 'node:net'
import { pipeline } from 'node:stream'
import { proxyAuthorization, takesRequests } from './connect.ts'
import { EgressError, systemCodeOf } from './egress-error.ts'
import { createMeter, type Meter, type RequestLogEntry } from './request-log.ts'
import { checkTarget, parentFor, type Target } from './route.ts'
import { type OpenSession, openTunnel } from './tunnel.ts'

/** Chromium's own limit for a header block. */
const MAX_HEADER_BYTES = 256 * 1024

const hasBody = ({ headers }: http.IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Node frames request bodies by itself only for some methods. Without this header it would write the chunks of a DELETE unframed. */
const framing = ({ headers }: http.IncomingMessage): string[] =>
  headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']

const toRequestOptions = (request: http.IncomingMessage, { host, port }: Target, session: OpenSession): http.RequestOptions => {
  const route = session.route()
  const parent = parentFor(checkTarget({ host, port }, route), route.policy)
  if (!takesRequests(parent, route.policy)) throw new EgressError('PROXY_FAILED', 'no proxy is set')
  const authorization = proxyAuthorization(parent)
  const site = new URL(`http://${host}:${port}`).host
  const own = [...framing(request), ...(authorization ? ['Proxy-Authorization', authorization] : [])]
  return {
    host,
    port,
    method: request.method ?? 'GET',
    path: `http://${site}${request.url}`,
    headers: [...withHost(endToEnd(request.rawHeaders), site), ...own],
    agent: session.parentAgent,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Sites send headers that only browsers tolerate. The connection serves one capture, so lenient parsing can harm only that capture.
    insecureHTTPParser: true,
  }
}

/** True when the site had closed a reused connection before it sent a response. The request may be sent again. */
const isStale = (error: unknown, upstream: http.ClientRequest): boolean => upstream.reusedSocket && systemCodeOf(error) === 'ECONNRESET'

/** A request and its response. */
interface Exchange {
  options: http.RequestOptions
  request: http.IncomingMessage
  response: http.ServerResponse
  entry: RequestLogEntry
  session: OpenSession
}

/** Ends a failed exchange. The client's connection closes without a response, because an error page would appear in the screenshot. */
const abortExchange = ({ response, entry, session }: Exchange, error: unknown): void => {
  if (!response.destroyed) session.requestLog.fail(entry, error)
  response.destroy()
}

const relay = (incoming: http.IncomingMessage, meter: Meter | undefined, exchange: Exchange): void => {
  const { response, entry, session } = exchange
  if (incoming.statusCode === 407) throw new EgressError('PROXY_FAILED', 'the proxy asks for another user or password')
  response.sendDate = false
  response.writeHead(incoming.statusCode as number, endToEnd(incoming.rawHeaders))
  incoming.on('data', () => meter?.read())
  pipeline(incoming, response, (error) => {
    meter?.read()
    // The pipeline has destroyed both sides by now. The error code says which side closed first; a client that closes is no site failure.
    if (error && systemCodeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') session.requestLog.fail(entry, error)
  })
}

const send = (exchange: Exchange): void => {
  const { options, request, response, entry, session } = exchange
  const upstream = http.request(options)
  let meter: Meter | undefined
  response.once('close', () => {
    if (!response.writableFinished) upstream.destroy()
  })
  upstream.once('socket', (socket) => {
    session.requestLog.allow(entry, undefined)
    meter = createMeter(socket, entry, session.requestLog, session.maxBytes(), session.exhaust)
  })
  upstream.once('response', (incoming) => {
    try {
      relay(incoming, meter, exchange)
    } catch (error) {
      abortExchange(exchange, error)
    }
  })
  upstream.once('upgrade', (_incoming, socket) => {
    socket.destroy()
    abortExchange(exchange, new EgressError('NAVIGATION_FAILED', 'the site switched protocols without a request'))
  })
  upstream.on('error', (error) => {
    if (!hasBody(request) && !response.headersSent && !response.destroyed && isStale(error, upstream)) send(exchange)
    else abortExchange(exchange, error)
  })
  if (hasBody(request)) pipeline(request, upstream, () => {})
  else upstream.end()
}

/** Handles one request. Never throws: it writes an error to the request log and closes the browser's connection. */
const handleRequest = (request: http.IncomingMessage, response: http.ServerResponse, target: Target, session: OpenSession): void => {
  const entry = session.requestLog.open(target.host, target.port)
  try {
    send({ options: toRequestOptions(request, target, session), request, response, entry, session })
  } catch (error) {
    session.requestLog.fail(entry, error)
    request.socket.destroy()
  }
}

/** Opens a tunnel for an unencrypted WebSocket, since its frames are not requests. */
const handleUpgrade = (request: http.IncomingMessage, client: net.Socket, head: Buffer, target: Target, session: OpenSession): void => {
  const lines = Array.from({ length: request.rawHeaders.length / 2 }, (_, i) => request.rawHeaders.slice(2 * i, 2 * i + 2).join(': '))
  const opening = [`${request.method} ${request.url} HTTP/1.1`, ...lines, '', ''].join('\r\n')
  if (head.length > 0) client.unshift(head)
  void openTunnel(client, target, session, (upstream) => void upstream.write(opening, 'latin1'))
}

/** Accepts connections with unencrypted http, for a parent proxy that reads requests. */
export const createForwarder = (session: () => OpenSession): OpenSession['forward'] => {
  const targets = new WeakMap<net.Socket, Target>()
  const server = http.createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 0, requestTimeout: 0 })
  const withTarget = (socket: net.Socket, use: (target: Target) => void): void => {
    const target = targets.get(socket)
    if (target) use(target)
    else socket.destroy()
  }
  server.on('request', (request, response) => {
    // An absolute-form URL could name another target than the one that was checked.
    if (!request.url?.startsWith('/')) return void request.socket.destroy()
    withTarget(request.socket, (target) => handleRequest(request, response, target, session()))
  })
  server.on('upgrade', (request, socket: net.Socket, head) =>
    withTarget(socket, (target) => handleUpgrade(request, socket, head, target, session())),
  )
  server.on('clientError', (_error, socket) => socket.destroy())
  return (client, target) => {
    targets.set(client, target)
    server.emit('connection', client)
    client.resume()
  }
}

// Selects the header lines that the guard forwards. Lists have the form of Node's `rawHeaders`: name, value, name, value, in the sender's order.

/** Hop-by-hop headers (RFC 9110, 7.6.1) and proxy headers. A page must not detect the guard or imitate a proxy. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

type Line = [name: string, value: string]

const toLines = (raw: readonly string[]): Line[] =>
  Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] as string, raw[2 * i + 1] as string])

const namedByConnection = (lines: Line[]): Set<string> =>
  new Set(
    lines
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.split(','))
      .map((name) => name.trim().toLowerCase()),
  )

const isWritable = ([name, value]: Line): boolean => {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

/** The lines to forward. Drops lines that are not valid headers, so that no value turns into a second line. */
export const endToEnd = (raw: readonly string[]): string[] => {
  const lines = toLines(raw)
  const named = namedByConnection(lines)
  return lines.filter((line) => !HOP_BY_HOP.has(line[0].toLowerCase()) && !named.has(line[0].toLowerCase()) && isWritable(line)).flat()
}

/** The same lines, with `Host` set from the connection's target, since only that target was checked (RFC 9112, 3.2.2). */
export const withHost = (raw: readonly string[], host: string): string[] => {
  const others = toLines(raw).filter(([name]) => name.toLowerCase() !== 'host')
  return ['Host', host, ...others.flat()]
}
