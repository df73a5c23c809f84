// Plain http: one absolute-form request in, one request out, on connections that are kept and used again within the capture. Parsing and
// framing are node:http's on both sides: what goes on is written anew, never copied, so no request or answer can hide a second one.

import http from 'node:http'
import { pipeline } from 'node:stream'
import { portOf } from '@tintype/crds/address-rules'
import { EgressError, systemCodeOf } from './egress-error.ts'
import { endToEnd, withHost } from './headers.ts'
import type { LedgerEntry } from './ledger.ts'
import { createMeter, type Meter } from './meter.ts'
import type { OpenSession } from './open-session.ts'
import { isSocks, proxyAuthorization } from './parent-tunnel.ts'
import { checkTarget, parentFor } from './route.ts'

/** A header block may be as large as Chromium itself takes. */
export const MAX_HEADER_BYTES = 256 * 1024

const parseTarget = (url: string | undefined): URL | undefined =>
  url?.startsWith('http://') && URL.canParse(url) ? new URL(url) : undefined

const hasBody = ({ headers }: http.IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Node frames bodies by itself for some methods only: the chunks of a DELETE it would write bare. */
const framing = ({ headers }: http.IncomingMessage): string[] =>
  headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']

const toRequestOptions = (request: http.IncomingMessage, url: URL, session: OpenSession): http.RequestOptions => {
  const route = session.route()
  const port = portOf(url)
  const host = checkTarget({ host: url.hostname, port }, route)
  const parent = parentFor(host, route.policy)
  // Of the proxy that reads requests; others carry them unread.
  const reader = parent && parent === route.policy.parentProxy && !isSocks(parent) ? parent : undefined
  const authorization = reader && proxyAuthorization(reader)
  const own = [...framing(request), ...(authorization ? ['Proxy-Authorization', authorization] : [])]
  return {
    host,
    port,
    method: request.method ?? 'GET',
    path: reader ? `http://${url.host}${url.pathname}${url.search}` : url.pathname + url.search,
    headers: [...withHost(endToEnd(request.rawHeaders), url.host), ...own],
    agent: reader ? session.parentAgent : parent ? session.tunnelAgent : session.agent,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Sites answer with headers that only browsers forgive. Such a connection serves one site of one capture, which can fool only itself.
    insecureHTTPParser: true,
  }
}

/** True when a kept connection had been closed by the site in the meantime: nothing was answered, so the request may be sent again. */
const isStale = (error: unknown, upstream: http.ClientRequest): boolean => upstream.reusedSocket && systemCodeOf(error) === 'ECONNRESET'

/** One request on its way. */
interface Exchange {
  options: http.RequestOptions
  request: http.IncomingMessage
  response: http.ServerResponse
  entry: LedgerEntry
  session: OpenSession
}

/** Ends an exchange that went wrong. The client's connection closes without an answer: an answer could be photographed. */
const cut = ({ response, entry, session }: Exchange, error: unknown): void => {
  if (!response.destroyed) session.ledger.fail(entry, error)
  response.destroy()
}

const relay = (incoming: http.IncomingMessage, meter: Meter | undefined, exchange: Exchange): void => {
  const { response, options, entry, session } = exchange
  if (incoming.statusCode === 407 && options.agent === session.parentAgent)
    throw new EgressError('PROXY_FAILED', 'the proxy asks for another user or password')
  response.sendDate = false
  response.writeHead(incoming.statusCode as number, endToEnd(incoming.rawHeaders))
  incoming.on('data', () => meter?.read())
  pipeline(incoming, response, (error) => {
    meter?.read()
    // The pipeline has destroyed both ends already; the code tells which of them was first. A client that leaves is no failure of the site.
    if (error && systemCodeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') session.ledger.fail(entry, error)
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
    session.ledger.allow(entry, options.agent === session.agent ? socket.remoteAddress : undefined)
    meter = createMeter(socket, entry, session.ledger, session.maxBytes(), session.exhaust)
  })
  upstream.once('response', (incoming) => {
    try {
      relay(incoming, meter, exchange)
    } catch (error) {
      cut(exchange, error)
    }
  })
  upstream.once('upgrade', (_incoming, socket) => {
    socket.destroy()
    cut(exchange, new EgressError('NAVIGATION_FAILED', 'the site changed the protocol unasked'))
  })
  upstream.on('error', (error) => {
    if (!hasBody(request) && !response.headersSent && !response.destroyed && isStale(error, upstream)) send(exchange)
    else cut(exchange, error)
  })
  if (hasBody(request)) pipeline(request, upstream, () => {})
  else upstream.end()
}

/** Answers one plain request. Never throws: what goes wrong is in the ledger, and the client's connection is closed. */
export const handleRequest = (request: http.IncomingMessage, response: http.ServerResponse, session: OpenSession): void => {
  const url = parseTarget(request.url)
  if (!url) return void request.socket.destroy()
  const entry = session.ledger.open(url.hostname, portOf(url))
  try {
    send({ options: toRequestOptions(request, url, session), request, response, entry, session })
  } catch (error) {
    session.ledger.fail(entry, error)
    request.socket.destroy()
  }
}
