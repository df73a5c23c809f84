// Serves one connection of the browser: reads its target, checks it, and copies the bytes. The guard does not interpret the bytes (http or TLS).
// Each connection leads to the one target that was checked. A refused connection closes without a response.

import type http from 'node:http'
import type net from 'node:net'
import { connect, takesRequests } from './connect.ts'
import { systemCodeOf } from './egress-error.ts'
import { createMeter, type OpenRequestLog, type RequestLogEntry } from './request-log.ts'
import { checkTarget, ignore, parentFor, type RouteContext, type Target } from './route.ts'
import { read, readConnectRequest, sendConnectReply } from './socks.ts'

const HTTPS_PORT = 443
/** First byte of a TLS handshake record. No http request begins with it. */
const TLS_HANDSHAKE = 22

/** A session as its request handlers see it. */
export interface OpenSession {
  readonly requestLog: OpenRequestLog
  /** Pools connections to a parent proxy that reads requests. */
  readonly parentAgent: http.Agent
  /** Accepts a connection with unencrypted http, for such a proxy. */
  forward: (client: net.Socket, target: Target) => void
  /** @throws EgressError before the session is armed, and after its bytes are used up */
  route: () => RouteContext
  maxBytes: () => number
  /** Destroys the socket when the session closes. */
  own: (socket: net.Socket) => net.Socket
  /** Closes all connections because the capture has used up its bytes. */
  exhaust: () => void
}

/** Serves one connection. Never throws: it writes an error to the request log and closes the browser's connection. */
export const serve = async (client: net.Socket, session: OpenSession): Promise<void> => {
  client.on('error', ignore)
  const target = await readConnectRequest(client).catch(() => undefined)
  if (!target) return void client.destroy()
  if (!isForwardedAsRequests(target, session)) return openTunnel(client, target, session, () => sendConnectReply(client))
  sendConnectReply(client)
  const [first] = await peek(client)
  if (first === undefined) return void client.destroy()
  if (first === TLS_HANDSHAKE) return openTunnel(client, target, session, () => {})
  session.forward(client, target)
}

/** Joins the browser's connection with one to its target. Never throws, like {@link serve}. @param begin called once connected */
export const openTunnel = async (
  client: net.Socket,
  target: Target,
  session: OpenSession,
  begin: (upstream: net.Socket) => void,
): Promise<void> => {
  const entry = session.requestLog.open(target.host, target.port)
  try {
    const { socket, address } = await connect(target, session.route())
    session.requestLog.allow(entry, address)
    const upstream = session.own(socket)
    if (client.destroyed) return void upstream.destroy()
    begin(upstream)
    join(client, upstream, entry, session)
  } catch (error) {
    session.requestLog.fail(entry, error)
    client.destroy()
  }
}

/** True if a parent proxy reads requests: it may refuse tunnels other than for https. For a refused target, `openTunnel` records the reason. */
const isForwardedAsRequests = (target: Target, session: OpenSession): boolean => {
  if (target.port === HTTPS_PORT) return false
  try {
    const context = session.route()
    return takesRequests(parentFor(checkTarget(target, context), context.policy), context.policy)
  } catch {
    return false
  }
}

/** The first byte, left in the socket; empty if the browser sends nothing. */
const peek = async (client: net.Socket): Promise<Buffer> => {
  const first = await read(client, 1).catch(() => Buffer.alloc(0))
  if (first.length > 0) client.unshift(first)
  return first
}

const join = (client: net.Socket, upstream: net.Socket, entry: RequestLogEntry, session: OpenSession): void => {
  const meter = createMeter(upstream, entry, session.requestLog, session.maxBytes(), session.exhaust)
  upstream.on('data', meter.read)
  client.on('data', meter.read)
  upstream.on('error', (error) => {
    session.requestLog.fail(entry, error)
    // A reset, because after an orderly close half a response without a length would pass for a complete one.
    if (systemCodeOf(error) === 'ECONNRESET') client.resetAndDestroy()
  })
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('error', ignore)
    one.once('close', () => {
      meter.read()
      other.destroy()
    })
    one.pipe(other)
  }
}
