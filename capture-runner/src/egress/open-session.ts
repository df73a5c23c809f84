// What the handlers of plain requests and of tunnels share of the session that they serve.

import type http from 'node:http'
import type net from 'node:net'
import type { OpenRequestLog } from './request-log.ts'
import type { RouteContext, Target } from './route.ts'

/** What the request handlers hold of a session. */
export interface OpenSession {
  readonly requestLog: OpenRequestLog
  /** Keeps the connections to a parent proxy that reads requests. */
  readonly parentAgent: http.Agent
  /** Takes a connection on which the browser speaks http in the clear, for such a proxy. */
  forward: (client: net.Socket, target: Target) => void
  /** @throws EgressError before arming, and once the bytes are used up */
  route: () => RouteContext
  maxBytes: () => number
  /** Ties a socket's life to the session's. */
  own: (socket: net.Socket) => net.Socket
  /** Ends all traffic: the capture has used up its bytes. */
  exhaust: () => void
}
