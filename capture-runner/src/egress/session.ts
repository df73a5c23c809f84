// The egress session of one capture: its own listener, policy, resolver, connections and request log. The runner opens it before it knows the
// capture, together with the browser context that uses it. Until it is armed it refuses everything. `close` ends all of it.

import http from 'node:http'
import type net from 'node:net'
import { dialParent } from './connect.ts'
import { EgressError } from './egress-error.ts'
import { createForwarder } from './forward.ts'
import type { Refusal } from './refusal.ts'
import { OpenRequestLog, type RequestLog } from './request-log.ts'
import type { createResolver } from './resolve.ts'
import type { EgressPolicy, RouteContext } from './route.ts'
import { type OpenSession, serve } from './tunnel.ts'

/** A session as the runner sees it. */
export interface EgressSession {
  /** For `newContext({ proxy: { server } })`. */
  readonly proxyUrl: string
  readonly requestLog: RequestLog
  /** Sets what the capture may reach. @throws Error on a second call */
  arm: (policy: EgressPolicy) => void
  /** Records a document that the capture policy of the API key does not allow. */
  refuse: (refusal: Refusal) => void
  /** Closes all connections on both sides at once. Later calls do nothing. */
  close: () => void
}

/** Accepts the browser's connections for one session, on loopback of the pod or of the jail. */
export interface Listener {
  /** The proxy URL to give to the browser. */
  readonly proxyUrl: string
  /** The port, if it is in the pod's network namespace. A page must not reach it through the guard. */
  readonly ownPort?: number
  /** Accepts connections from now on. Connections made while there is no handler are closed. */
  listen: (onConnection: (socket: net.Socket) => void) => void
  /** Stops listening. Depending on the implementation, the listener may serve another session afterwards. */
  release: () => void
}

/** What the guard passes to a session. */
interface SessionParts {
  listener: Listener
  resolver: ReturnType<typeof createResolver>
  route: Omit<RouteContext, 'policy' | 'resolve' | 'passed'>
  now: () => number
  onClose: () => void
}

/** More than any normal page needs: Chromium itself opens at most 32 connections to a proxy, and 255 WebSockets. */
const MAX_CONNECTIONS = 512

/** An agent that opens its connections by `dial`. */
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
    if (!policy || isClosed) throw new EgressError('BLOCKED_ADDRESS', 'the session is not armed')
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
      if (policy) throw new Error('the session is already armed')
      policy = given
    },
    refuse: (refusal) => requestLog.refuse(refusal),
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
