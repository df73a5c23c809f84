// The egress guard: the browser's only way out (decision: no capture without it). A SOCKS proxy in the runner's own process, with a
// session for each capture. The jail (../jail) makes it the only way by construction, Chromium's flags (flags.ts) by request.

import type net from 'node:net'
import os from 'node:os'
import { connect } from './connect.ts'
import type { DialTimes } from './dial.ts'
import { type OpenListener, openLoopbackListener } from './listener.ts'
import type { EgressPolicy } from './policy.ts'
import { createResolver, type ResolverConfig } from './resolve.ts'
import type { Target } from './route.ts'
import { type EgressSession, openSession } from './session.ts'

export type { OpenListener } from './listener.ts'
export type { EgressPolicy, ParentProxy } from './policy.ts'
export type { RequestLog, RequestLogEntry } from './request-log.ts'
export type { EgressSession } from './session.ts'

/** How the guard asks, dials and knows itself; the defaults are the product's. */
export interface GuardConfig extends Partial<ResolverConfig & DialTimes> {
  /** Addresses that no page may reach because they are the pod's. Absent: those of its interfaces, read anew for each session. */
  ownAddresses?: readonly string[]
  /** Ports that the runner listens on. Listeners are added by themselves. */
  ownPorts?: readonly number[]
  /** Milliseconds since the epoch, for the request log. */
  now?: () => number
}

export interface Guard {
  /** @param openListener the jail's, for a jailed browser; absent: a port on the pod's loopback */
  openSession: (openListener?: OpenListener) => Promise<EgressSession>
  /** A connection of the runner's own to where a client sends it. @throws EgressError */
  connect: (target: Target, policy: EgressPolicy) => Promise<net.Socket>
}

const DEFAULTS = { dnsTimeoutMilliseconds: 5_000, headStartMilliseconds: 300, connectTimeoutMilliseconds: 10_000 }

/** Loopback is closed by the rules; here it would close the test sites of a developer who opened it. */
const interfaceAddresses = (): string[] =>
  Object.values(os.networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address)

export const createGuard = (config: GuardConfig = {}): Guard => {
  const { headStartMilliseconds, connectTimeoutMilliseconds, ...asking } = { ...DEFAULTS, ...config }
  const ownPorts = new Set(config.ownPorts)
  const routeOf = () => ({
    times: { headStartMilliseconds, connectTimeoutMilliseconds },
    ownAddresses: config.ownAddresses ?? interfaceAddresses(),
    ownPorts,
  })
  return {
    connect: async (target, policy) => {
      const { socket } = await connect(target, { ...routeOf(), policy, resolve: createResolver(asking).resolve, passed: new Map() })
      return socket
    },
    openSession: async (openListener = openLoopbackListener) => {
      const listener = await openListener()
      if (listener.ownPort !== undefined) ownPorts.add(listener.ownPort)
      return openSession({
        listener,
        resolver: createResolver(asking),
        route: routeOf(),
        now: config.now ?? Date.now,
        onClose: () => void (listener.ownPort !== undefined && ownPorts.delete(listener.ownPort)),
      })
    },
  }
}
