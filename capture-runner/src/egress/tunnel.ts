// CONNECT: https pages and every WebSocket. A refused tunnel is a closed connection and no answer, for an answer could be photographed.

import type http from 'node:http'
import type net from 'node:net'
import type { LedgerEntry } from './ledger.ts'
import { createMeter } from './meter.ts'
import type { OpenSession } from './open-session.ts'
import { tunnelThroughParent } from './parent-tunnel.ts'
import { checkTarget, dialDirect, ignore, parentFor, type RouteContext, type Target } from './route.ts'

/** `host:port` or `[v6]:port`; anything else has no target. */
export const parseAuthority = (authority: string): Target | undefined => {
  const match = /^(\[[0-9a-f:.]+\]|[^\s/:@[\]]+):(\d{1,5})$/i.exec(authority)
  return match ? { host: match[1] as string, port: Number(match[2]) } : undefined
}

const connect = async (target: Target, entry: LedgerEntry, session: OpenSession, context: RouteContext): Promise<net.Socket> => {
  const host = checkTarget(target, context)
  const parent = parentFor(host, context.policy)
  const upstream = parent ? await tunnelThroughParent(parent, host, target.port, context) : await dialDirect(host, target.port, context)
  session.ledger.allow(entry, parent ? undefined : upstream.remoteAddress)
  return upstream
}

const join = (client: net.Socket, upstream: net.Socket, entry: LedgerEntry, session: OpenSession): void => {
  const meter = createMeter(upstream, entry, session.ledger, session.maxBytes(), session.exhaust)
  upstream.on('data', meter.read)
  client.on('data', meter.read)
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

/** Answers one CONNECT. Never throws: what goes wrong is in the ledger, and the client's connection is closed. */
export const handleConnect = async (
  request: http.IncomingMessage,
  client: net.Socket,
  head: Buffer,
  session: OpenSession,
): Promise<void> => {
  client.on('error', ignore)
  const target = parseAuthority(request.url ?? '')
  if (!target) return void client.destroy()
  const entry = session.ledger.open(target.host, target.port)
  try {
    const upstream = session.own(await connect(target, entry, session, session.route()))
    if (client.destroyed) return void upstream.destroy()
    client.setNoDelay(true)
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) client.unshift(head)
    join(client, upstream, entry, session)
  } catch (error) {
    session.ledger.fail(entry, error)
    client.destroy()
  }
}
