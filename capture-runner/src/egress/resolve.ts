// Names to addresses, by c-ares and not by getaddrinfo: no /etc/hosts, no search domains, no thread of the pool held for seconds, and a
// deadline that is ours.

import { promises as dns } from 'node:dns'
import { setTimeout as delay } from 'node:timers/promises'
import { EgressError, systemCodeOf } from './egress-error.ts'

/** All addresses of a name, IPv4 first. @throws EgressError DNS_FAILED */
export type Resolve = (name: string) => Promise<string[]>

/** Where and how long to ask. */
export interface ResolverConfig {
  /** `address` or `address:port`; absent: what /etc/resolv.conf names. */
  dnsServers?: readonly string[]
  dnsTimeoutMilliseconds: number
}

/** After the IPv4 answer, how long a slow or broken IPv6 answer may hold the page up. */
const SECOND_FAMILY_MILLISECONDS = 500

const NOT_FOUND = new Set(['ENOTFOUND', 'ENODATA'])

const toError = (name: string, causes: unknown[]): EgressError => {
  const codes = causes.map((cause) => systemCodeOf(cause) ?? 'EUNKNOWN')
  const systemCode = codes.find((code) => !NOT_FOUND.has(code)) ?? codes.find((code) => code === 'ENOTFOUND') ?? codes[0]
  const what = codes.every((code) => NOT_FOUND.has(code)) ? 'does not resolve' : 'could not be resolved'
  return new EgressError('DNS_FAILED', `${name} ${what} (${systemCode})`, { systemCode, cause: causes[0] })
}

const deadlineError = (name: string, milliseconds: number): EgressError =>
  new EgressError('DNS_FAILED', `${name} could not be resolved within ${milliseconds} ms (ETIMEOUT)`, { systemCode: 'ETIMEOUT' })

type Answer = { addresses: string[] } | { error: unknown }
const settle = (query: Promise<string[]>): Promise<Answer> =>
  query.then(
    (addresses) => ({ addresses }),
    (error: unknown) => ({ error }),
  )

/**
 * A resolver for one capture. `cancel` ends what is under way; no answer is remembered, so each is the name's present one. Who asks for a name that is
 * being asked for shares the answer: a page opens its connections to a site all at once.
 */
export const createResolver = (config: ResolverConfig): { resolve: Resolve; cancel: () => void } => {
  // Two tries within the deadline: one lost datagram is not a name that does not exist.
  const resolver = new dns.Resolver({ timeout: Math.ceil(config.dnsTimeoutMilliseconds / 3), tries: 2 })
  if (config.dnsServers) resolver.setServers([...config.dnsServers])

  const ask = async (name: string, signal: AbortSignal): Promise<string[]> => {
    const four = settle(resolver.resolve4(name))
    const six = settle(resolver.resolve6(name))
    const first = await four
    const second =
      'addresses' in first ? await Promise.race([six, delay(SECOND_FAMILY_MILLISECONDS, { addresses: [] }, { signal })]) : await six
    const addresses = [first, second].flatMap((answer) => ('addresses' in answer ? answer.addresses : []))
    if (addresses.length > 0) return addresses
    throw toError(
      name,
      [first, second].flatMap((answer) => ('error' in answer ? [answer.error] : [])),
    )
  }

  const underWay = new Map<string, Promise<string[]>>()
  const resolve: Resolve = (name) => {
    const known = underWay.get(name)
    if (known) return known
    const answer = resolveInTime(name).finally(() => underWay.delete(name))
    underWay.set(name, answer)
    return answer
  }
  const resolveInTime: Resolve = async (name) => {
    const done = new AbortController()
    const tooLate = async () => {
      await delay(config.dnsTimeoutMilliseconds, undefined, { signal: done.signal })
      throw deadlineError(name, config.dnsTimeoutMilliseconds)
    }
    try {
      return await Promise.race([ask(name, done.signal), tooLate()])
    } finally {
      done.abort()
    }
  }
  return { resolve, cancel: () => resolver.cancel() }
}
