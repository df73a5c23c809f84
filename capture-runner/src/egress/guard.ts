// The egress guard: a SOCKS proxy in the runner's process, with one session per capture. It is the browser's only connection to the network,
// and no capture runs without it. The jail (../jail) enforces this; Chromium's flags (EGRESS_FLAGS) only ask for it.

import { once } from 'node:events'
import net from 'node:net'
import os from 'node:os'
import { connect } from './connect.ts'
import type { DialTimes } from './dial.ts'
import { createResolver, type ResolverConfig } from './resolve.ts'
import type { EgressPolicy, Target } from './route.ts'
import { type EgressSession, type Listener, openSession } from './session.ts'

/** Settings of the guard. The defaults are those of production. */
export interface GuardConfig extends Partial<ResolverConfig & DialTimes> {
  /** IP addresses of the pod, which no page may reach. Absent: those of its network interfaces, read anew for each session. */
  ownAddresses?: readonly string[]
  /** Ports that the runner listens on. The guard adds the ports of its own listeners. */
  ownPorts?: readonly number[]
  /** Milliseconds since the epoch, for the request log. */
  now?: () => number
}

export interface Guard {
  /** @param openListener opens a listener in the jail; absent: listen on a port of the pod's loopback */
  openSession: (openListener?: OpenListener) => Promise<EgressSession>
  /** Connects the runner itself to a URL that a client gave. @throws EgressError */
  connect: (target: Target, policy: EgressPolicy) => Promise<net.Socket>
}

const DEFAULTS = { dnsTimeoutMilliseconds: 5_000, headStartMilliseconds: 300, connectTimeoutMilliseconds: 10_000 }

/** Leaves out loopback: the rules deny it already, and a developer who allows it needs to reach test sites there. */
const interfaceAddresses = (): string[] =>
  Object.values(os.networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address)

export const createGuard = (config: GuardConfig = {}): Guard => {
  const { headStartMilliseconds, connectTimeoutMilliseconds, ...resolverConfig } = { ...DEFAULTS, ...config }
  const ownPorts = new Set(config.ownPorts)
  const routeOf = () => ({
    times: { headStartMilliseconds, connectTimeoutMilliseconds },
    ownAddresses: config.ownAddresses ?? interfaceAddresses(),
    ownPorts,
  })
  return {
    connect: async (target, policy) => {
      const { socket } = await connect(target, { ...routeOf(), policy, resolve: createResolver(resolverConfig).resolve, passed: new Map() })
      return socket
    },
    openSession: async (openListener = openLoopbackListener) => {
      const listener = await openListener()
      if (listener.ownPort !== undefined) ownPorts.add(listener.ownPort)
      return openSession({
        listener,
        resolver: createResolver(resolverConfig),
        route: routeOf(),
        now: config.now ?? Date.now,
        onClose: () => void (listener.ownPort !== undefined && ownPorts.delete(listener.ownPort)),
      })
    },
  }
}

/** Opens or finds a listener that no session uses. */
export type OpenListener = () => Promise<Listener>

/** Listens on the pod's own loopback, for a browser outside the jail. */
const openLoopbackListener: OpenListener = async () => {
  const server = net.createServer({ allowHalfOpen: true, noDelay: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  return {
    proxyUrl: `socks5://127.0.0.1:${port}`,
    ownPort: port,
    listen: (onConnection) => void server.on('connection', onConnection),
    release: () => void server.close(),
  }
}
