// From the host and port that a page asks for to a connected socket, or to the reason for a refusal. The order matters: first check port and
// host by their text, then every resolved address, then the address that the socket reached. The guard connects only to the very addresses
// that it has checked, so DNS rebinding has no effect.

import type net from 'node:net'
import {
  type AddressDecision,
  classifyAddress,
  classifyHost,
  classifyPort,
  type EgressRules,
  isAddressLiteral,
  isAllowedHost,
  isWithin,
  toCanonicalHost,
  toPlainAddress,
} from '@tintype/crds/addresses/address-rules'
import { matchesHost } from '@tintype/crds/addresses/host-patterns'
import { type DialTimes, dial } from './dial.ts'
import { EgressError, RefusedHostError } from './egress-error.ts'
import type { Resolve } from './resolve.ts'

/** The host and port that a page asks for. */
export interface Target {
  /** As the browser wrote it. May have brackets. */
  host: string
  port: number
}

/** What is needed to check and connect, beside the target. */
export interface RouteContext {
  policy: EgressPolicy
  resolve: Resolve
  times: DialTimes
  /** IP addresses of the pod. A page never reaches the pod that captures it. */
  ownAddresses: readonly string[]
  /** Ports that the runner listens on. They stay closed on loopback even if a rule allows loopback. */
  ownPorts: ReadonlySet<number>
  /** Targets whose text has passed the rules. Rules do not change within a session, and a page contacts its site a hundred times. */
  passed: Map<string, string>
}

const assertAllowed = (decision: AddressDecision): void => {
  if (!decision.allowed) throw new EgressError('BLOCKED_ADDRESS', decision.reason, { publicMessage: decision.reason })
}

/** More names than a normal page has. Names beyond this limit are checked every time. */
const MAX_PASSED = 1_000

/** Checks the target by its text. Returns its host as a URL has it. @throws EgressError BLOCKED_ADDRESS, URL_NOT_ALLOWED */
export const checkTarget = (target: Target, context: RouteContext): string => {
  const key = `${target.host} ${target.port}`
  const known = context.passed.get(key)
  if (known !== undefined) return known
  const { rules, limit } = context.policy
  assertAllowed(classifyPort(target.port, rules))
  assertAllowed(classifyHost(target.host, rules, { ownAddresses: context.ownAddresses }))
  const host = toCanonicalHost(target.host) as string
  if (limit && !matchesHost(host, limit.hosts)) throw new RefusedHostError({ keyId: limit.keyId, field: 'allowedRequestHosts', host })
  if (context.passed.size < MAX_PASSED) context.passed.set(key, host)
  return host
}

/** True when the guard connects to `host` (canonical) itself although the policy has a parent proxy. */
const isDirect = (host: string, policy: EgressPolicy, proxy: ParentProxy): boolean => {
  const names = proxy.direct.filter((pattern) => !pattern.includes('/'))
  const ranges = proxy.direct.filter((pattern) => pattern.includes('/'))
  if (!isAddressLiteral(host)) return isAllowedHost(host, policy.rules) || isAllowedHost(host, { allowedHosts: names })
  return names.includes(host) || isWithin(host, ranges)
}

/** The parent proxy for `host` (canonical), if any. A host that bypasses the user's proxy may still need the operator's. */
export const parentFor = (host: string, policy: EgressPolicy, parent = policy.parentProxy): ParentProxy | undefined => {
  if (!parent || !isDirect(host, policy, parent)) return parent
  return parent.via && parentFor(host, policy, parent.via)
}

const LOOPBACK = ['127.0.0.0/8', '::1/128']

const checkAddress = (address: string, host: string, port: number, context: RouteContext): void => {
  const { rules } = context.policy
  const decision = classifyAddress(address, rules, { hostAllowed: isAllowedHost(host, rules), ownAddresses: context.ownAddresses })
  if (!decision.allowed) {
    const publicMessage = host === address ? decision.reason : `${host} resolves to an address that is not open to captures`
    throw new EgressError('BLOCKED_ADDRESS', `${host}: ${decision.reason}`, { publicMessage })
  }
  if (context.ownPorts.has(port) && isWithin(address, LOOPBACK))
    throw new EgressError('BLOCKED_ADDRESS', `port ${port} is the runner's own`)
}

/** Resolves, checks every address and connects. `host` is canonical and has passed {@link checkTarget}. */
export const dialDirect = async (host: string, port: number, context: RouteContext): Promise<net.Socket> => {
  const addresses = isAddressLiteral(host) ? [host] : await context.resolve(host)
  for (const address of addresses) checkAddress(address, host, port, context)
  const dialed = addresses.map((address) => toPlainAddress(address) as string)
  const socket = await dial(dialed, port, context.times)
  const peer = toPlainAddress(socket.remoteAddress ?? '')
  if (peer !== undefined && dialed.includes(peer)) return socket
  socket.destroy()
  throw new EgressError('BLOCKED_ADDRESS', `the connection to ${host} reached ${peer}, which is not one of its addresses`)
}

/** The `close` event reports the end of a socket. An `error` event without a listener would end the process. */
export const ignore = (): void => {}

/** Another proxy between the guard and the internet. */
export interface ParentProxy {
  /** `http://[user:password@]host:port`, `https://…`, or for a user's proxy `socks5://…`; user and password percent-encoded. */
  url: string
  /** Names, `*.suffix` or CIDRs that bypass this proxy. Names in `rules.allowedHosts` always do: an outside proxy cannot reach them. */
  direct: readonly string[]
  /** `operator`: part of the installation, so its address is trusted. `user`: its address must pass the rules. */
  chosenBy: 'operator' | 'user'
  /** The operator's proxy, through which a user's proxy is reached. */
  via?: ParentProxy
}

/** What one capture may reach. Set when the runner claims the capture. */
export interface EgressPolicy {
  rules: EgressRules
  /** Limit of bytes received and sent together, as counted on the wire. After it, the capture has no network. */
  maxBytes: number
  parentProxy?: ParentProxy
  /** The hosts that the API key allows, which must also pass the rules. Absent: all. */
  limit?: { keyId: string; hosts: readonly string[] }
}
