// From "host and port, as the page says" to a connected socket, or the reason why not. Order matters: port and host by their text, then
// every address the name has, then the address the socket really reached. Nothing is dialled that was not checked, and what was checked
// is what is dialled, so an answer that changes between two questions changes nothing.

import type net from 'node:net'
import {
  type AddressDecision,
  classifyAddress,
  classifyHost,
  classifyPort,
  isAddressLiteral,
  isAllowedHost,
  isWithin,
  toCanonicalHost,
  toPlainAddress,
} from '@tintype/crds/addresses/address-rules'
import { type DialTimes, dial } from './dial.ts'
import { EgressError } from './egress-error.ts'
import type { EgressPolicy, ParentProxy } from './policy.ts'
import type { Resolve } from './resolve.ts'

/** What a page asked for. */
export interface Target {
  /** As the browser wrote it; brackets allowed. */
  host: string
  port: number
}

/** Everything that judging and dialling need beside the target. */
export interface RouteContext {
  policy: EgressPolicy
  resolve: Resolve
  times: DialTimes
  /** The pod's addresses: a page never reaches the pod it is captured in. */
  ownAddresses: readonly string[]
  /** Ports that the runner listens on: not reached on loopback either, should a rule ever open loopback. */
  ownPorts: ReadonlySet<number>
  /** Targets that have passed by their text: rules do not change within a session, and a page asks its site a hundred times. */
  passed: Map<string, string>
}

const assertAllowed = (decision: AddressDecision): void => {
  if (!decision.allowed) throw new EgressError('BLOCKED_ADDRESS', decision.reason, { publicMessage: decision.reason })
}

/** More names than a page honestly has; one with more has each of them judged anew. */
const MAX_PASSED = 1_000

/** Judges the target by its text and gives its host as a URL would hold it. @throws EgressError BLOCKED_ADDRESS */
export const checkTarget = (target: Target, context: RouteContext): string => {
  const key = `${target.host} ${target.port}`
  const known = context.passed.get(key)
  if (known !== undefined) return known
  const { rules } = context.policy
  assertAllowed(classifyPort(target.port, rules))
  assertAllowed(classifyHost(target.host, rules, { ownAddresses: context.ownAddresses }))
  const host = toCanonicalHost(target.host) as string
  if (context.passed.size < MAX_PASSED) context.passed.set(key, host)
  return host
}

/** True when the guard dials `host` (canonical) itself although the policy has a parent proxy. */
const isDirect = (host: string, policy: EgressPolicy, proxy: ParentProxy): boolean => {
  const names = proxy.direct.filter((pattern) => !pattern.includes('/'))
  const ranges = proxy.direct.filter((pattern) => pattern.includes('/'))
  if (!isAddressLiteral(host)) return isAllowedHost(host, policy.rules) || isAllowedHost(host, { allowedHosts: names })
  return names.includes(host) || isWithin(host, ranges)
}

/** The parent proxy that connections to `host` (canonical) take, if any; what a user's proxy is not for may still have to take the operator's. */
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

/** Resolves, checks every address and dials. `host` is canonical and has passed {@link checkTarget}. */
export const dialDirect = async (host: string, port: number, context: RouteContext): Promise<net.Socket> => {
  const addresses = isAddressLiteral(host) ? [host] : await context.resolve(host)
  for (const address of addresses) checkAddress(address, host, port, context)
  const dialled = addresses.map((address) => toPlainAddress(address) as string)
  const socket = await dial(dialled, port, context.times)
  const peer = toPlainAddress(socket.remoteAddress ?? '')
  if (peer !== undefined && dialled.includes(peer)) return socket
  socket.destroy()
  throw new EgressError('BLOCKED_ADDRESS', `the connection to ${host} ended at ${peer}, which was not asked for`)
}

/** A socket's end is told by `close`; an `error` no one listens to would end the process. */
export const ignore = (): void => {}
