// The part of a session that the handlers of plain requests and of tunnels share.

import type http from 'node:http'
import type net from 'node:net'
import type { OpenRequestLog } from './request-log.ts'
import type { RouteContext, Target } from './route.ts'

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
