// One capture's way out: its own listener, policy, resolver, connections and request log. Made before the capture is known, together with the
// browser context that will use it, and refusing everything until it is armed. Nothing of it outlives `close`.

import http from 'node:http'
import type net from 'node:net'
import { EgressError } from './egress-error.ts'
import { createForwarder } from './forward.ts'
import type { Listener } from './listener.ts'
import type { OpenSession } from './open-session.ts'
import { dialParent } from './parent-tunnel.ts'
import type { EgressPolicy } from './policy.ts'
import { OpenRequestLog, type RequestLog } from './request-log.ts'
import type { createResolver } from './resolve.ts'
import type { RouteContext } from './route.ts'
import { serve } from './tunnel.ts'

/** What the runner holds of a session. */
export interface EgressSession {
  /** For `newContext({ proxy: { server } })`. */
  readonly proxyUrl: string
  readonly requestLog: RequestLog
  /** Fixes what the capture may reach. @throws Error when armed before */
  arm: (policy: EgressPolicy) => void
  /** Closes every connection, both sides, at once. May be called again. */
  close: () => void
}

/** What a session gets from the guard. */
export interface SessionParts {
  listener: Listener
  resolver: ReturnType<typeof createResolver>
  route: Omit<RouteContext, 'policy' | 'resolve' | 'passed'>
  now: () => number
  onClose: () => void
}

/** More at once is no page's honest need; Chromium itself opens at most 32 to a proxy, and 255 WebSockets. */
const MAX_CONNECTIONS = 512

/** An agent whose connections are made by `dial`. */
const createAgent = (dial: () => Promise<net.Socket>): http.Agent => {
  const agent = new http.Agent({ keepAlive: true })
  agent.createConnection = (_options, callback) => {
    dial().then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never),
    )
    return undefined
  }
  return agent
}

export const openSession = ({ listener, resolver, route: fixed, now, onClose }: SessionParts): EgressSession => {
  const requestLog = new OpenRequestLog(now)
  const sockets = new Set<net.Socket>()
  const passed = new Map<string, string>()
  let policy: EgressPolicy | undefined
  let isClosed = false

  const own = (socket: net.Socket): net.Socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    if (isClosed || requestLog.isExhausted) socket.destroy()
    return socket
  }
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const route = (): RouteContext => {
    if (requestLog.isExhausted) throw new EgressError('RESOURCE_LIMIT', 'the capture has used up its bytes')
    if (!policy || isClosed) throw new EgressError('BLOCKED_ADDRESS', 'no capture is under way')
    return { ...fixed, policy, passed, resolve: resolver.resolve }
  }
  const session: OpenSession = {
    requestLog,
    parentAgent: createAgent(async () => {
      const context = route()
      if (!context.policy.parentProxy) throw new EgressError('PROXY_FAILED', 'no proxy is set')
      return own(await dialParent(context.policy.parentProxy, context))
    }),
    forward: createForwarder(() => session),
    route,
    maxBytes: () => policy?.maxBytes ?? 0,
    own,
    exhaust: () => {
      requestLog.isExhausted = true
      destroyAll()
    },
  }
  listener.listen((socket) => {
    if (isClosed || sockets.size >= MAX_CONNECTIONS) return void socket.destroy()
    void serve(own(socket), session)
  })

  return {
    proxyUrl: listener.proxyUrl,
    requestLog,
    arm: (given) => {
      if (policy) throw new Error('the session is armed already: a capture keeps the policy it began with')
      policy = given
    },
    close: () => {
      if (isClosed) return
      isClosed = true
      listener.release()
      resolver.cancel()
      destroyAll()
      session.parentAgent.destroy()
      onClose()
    },
  }
}
