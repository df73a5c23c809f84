// One connection of the browser: where it is to lead, whether it may, and the bytes that cross it. What is said on it, http or TLS, is the site's and
// the browser's own business; each connection leads to the one target that was judged. A refused one is closed without an answer.

import type net from 'node:net'
import { connect } from './connect.ts'
import { systemCodeOf } from './egress-error.ts'
import { createMeter } from './meter.ts'
import type { OpenSession } from './open-session.ts'
import { takesRequests } from './parent-tunnel.ts'
import type { RequestLogEntry } from './request-log.ts'
import { checkTarget, ignore, parentFor, type Target } from './route.ts'
import { read } from './socks.ts'
import { agree, readConnectRequest } from './socks-server.ts'

const HTTPS_PORT = 443
/** The first byte of TLS: a record that is part of a handshake. No request begins with it. */
const TLS_HANDSHAKE = 22

/** Serves one connection. Never throws: what goes wrong is in the request log, and the browser's connection is closed. */
export const serve = async (client: net.Socket, session: OpenSession): Promise<void> => {
  client.on('error', ignore)
  const target = await readConnectRequest(client).catch(() => undefined)
  if (!target) return void client.destroy()
  if (!mayGoInRequests(target, session)) return openTunnel(client, target, session, () => agree(client))
  agree(client)
  const [first] = await peek(client)
  if (first === undefined) return void client.destroy()
  if (first === TLS_HANDSHAKE) return openTunnel(client, target, session, () => {})
  session.forward(client, target)
}

/** Joins the browser's connection with one to its target. Never throws, as {@link serve}. @param begin called when there is one */
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

/** True where a parent proxy reads requests: it may lead no tunnels but those of https. What is refused is told by the tunnel that is not opened. */
const mayGoInRequests = (target: Target, session: OpenSession): boolean => {
  if (target.port === HTTPS_PORT) return false
  try {
    const context = session.route()
    return takesRequests(parentFor(checkTarget(target, context), context.policy), context.policy)
  } catch {
    return false
  }
}

/** The first byte, which stays where it is; none when the browser sends none. */
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
    // Closed in order, half of a response without a length would pass for the whole.
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
