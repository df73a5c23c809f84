// The HTTP agent of all posts. It checks every connection before it dials: the host as the URL has it (undici does not call lookup for IP
// literals), the port, and each address that the name resolves to. It dials the addresses that were checked, so a DNS response that changes
// later has no effect. With a forward proxy, the proxy checks the addresses.

import { isIPv6, type LookupFunction } from 'node:net'
import {
  type AddressDecision,
  classifyAddress,
  classifyHost,
  classifyPort,
  type EgressRules,
  isAllowedHost,
  toCanonicalHost,
} from '@tintype/crds/addresses/address-rules'
import { MAX_HEADER_BYTES } from '@tintype/crds/runtime/limited-read'
import { Agent, buildConnector } from 'undici'
import type { Resolve } from './network.ts'
import { openTunnel } from './proxy-tunnel.ts'

/** The address rules forbid the target; nothing was sent. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'
}

/** The name of the target does not resolve. */
export class UnresolvedError extends Error {
  override readonly name = 'UnresolvedError'
}

export interface GuardedAgentOptions {
  rules: EgressRules
  /** IP addresses of this pod, which are forbidden for webhooks. */
  ownAddresses: readonly string[]
  resolve: Resolve
  /** CA certificates for receivers, PEM. */
  ca: string[]
  /** Connections to one origin: the maximum of concurrent posts, so that none waits here while its time limit runs. */
  connections: number
  connectMilliseconds: number
  /** Forward proxy for all connections; absent: none. */
  proxy?: URL | undefined
}

const HTTPS_PORT = 443
/** Node's HTTP server closes idle connections after 5 s; connections are dropped earlier, so that no post fails on a closed one. */
const KEEP_ALIVE_MILLISECONDS = 4_000
const KEEP_ALIVE_MAX_MILLISECONDS = 60_000

/** Builds the agent: keep-alive, TLS 1.2 or newer, HTTP/1.1, certificate and name are verified. */
export function buildGuardedAgent(options: GuardedAgentOptions): Agent {
  const { ca, connections, connectMilliseconds, proxy } = options
  const connect = buildConnector({
    ca,
    minVersion: 'TLSv1.2',
    allowH2: false,
    timeout: connectMilliseconds,
    autoSelectFamily: true,
    lookup: guardedLookup(options),
  })
  const connectThrough = (proxy: URL, target: buildConnector.Options, callback: buildConnector.Callback) => {
    const { hostname: host, port } = target
    openTunnel(proxy, { host, port: Number(port || HTTPS_PORT) }, connectMilliseconds).then(
      (httpSocket) => connect({ ...target, httpSocket }, callback),
      (error: Error) => callback(error, null),
    )
  }
  return new Agent({
    allowH2: false,
    connections,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MILLISECONDS,
    connect: (target, callback) => {
      const decision = evaluateTarget(target, options)
      if (!decision.allowed) callback(new BlockedAddressError(decision.reason), null)
      else if (proxy) connectThrough(proxy, target, callback)
      else connect(target, callback)
    },
  })
}

function evaluateTarget(
  { hostname, port, protocol }: buildConnector.Options,
  { rules, ownAddresses }: GuardedAgentOptions,
): AddressDecision {
  if (protocol !== 'https:') return { allowed: false, reason: 'the URL is not https' }
  const host = classifyHost(hostname, rules, { ownAddresses })
  return host.allowed ? classifyPort(Number(port || HTTPS_PORT), rules) : host
}

function guardedLookup({ rules, ownAddresses, resolve }: GuardedAgentOptions): LookupFunction {
  const findAddresses = async (hostname: string) => {
    const hostAllowed = isAllowedHost(toCanonicalHost(hostname) ?? hostname, rules)
    const addresses = await resolve(hostname).catch((cause: unknown) => {
      throw new UnresolvedError(`${hostname} does not resolve`, { cause })
    })
    for (const address of addresses) {
      const decision = classifyAddress(address, rules, { hostAllowed, ownAddresses })
      // One forbidden address forbids the name: legitimate names do not resolve to internal and external addresses at once.
      if (!decision.allowed) throw new BlockedAddressError(`${hostname}: ${decision.reason}`)
    }
    return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  }
  return (hostname, { all }, callback) => {
    findAddresses(hostname).then(
      (found) => (all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
      (error: NodeJS.ErrnoException) => callback(error, all ? [] : ''),
    )
  }
}
