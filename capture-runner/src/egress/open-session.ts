// What the handlers of plain requests and of tunnels share of the session that they serve.

import type http from 'node:http'
import type net from 'node:net'
import type { LedgerBook } from './ledger.ts'
import type { RouteContext } from './route.ts'

/** What the request handlers hold of a session. */
export interface OpenSession {
  readonly ledger: LedgerBook
  /** Keeps the connections of plain http. */
  readonly agent: http.Agent
  /** The same through the policy's parent proxy. */
  readonly parentAgent: http.Agent
  /** The same through a tunnel, for a parent proxy that reads no requests. */
  readonly tunnelAgent: http.Agent
  /** @throws EgressError before arming, and once the bytes are used up */
  route: () => RouteContext
  maxBytes: () => number
  /** Ties a socket's life to the session's. */
  own: (socket: net.Socket) => net.Socket
  /** Ends all traffic: the capture has used up its bytes. */
  exhaust: () => void
}
