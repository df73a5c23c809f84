// Resolves names by c-ares, not by getaddrinfo: without /etc/hosts and search domains, with our own deadline, and without
// blocking a thread of the pool for seconds.

import { promises as dns } from 'node:dns'
import { setTimeout as delay } from 'node:timers/promises'
import { MAX_ADDRESSES } from '@tintype/crds/addresses/address-rules'
import { EgressError, systemCodeOf } from './egress-error.ts'

/** The addresses of a name, IPv4 first, at most {@link MAX_ADDRESSES} of each family. @throws EgressError DNS_FAILED */
export type Resolve = (name: string) => Promise<string[]>

/** Name servers and time limit. */
export interface ResolverConfig {
  /** `address` or `address:port`; absent: the servers in /etc/resolv.conf. */
  dnsServers?: readonly string[]
  dnsTimeoutMilliseconds: number
}

/** How long a slow or broken IPv6 response may delay the page after the IPv4 response. */
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
const toAnswer = (query: Promise<string[]>): Promise<Answer> =>
  query.then(
    (addresses) => ({ addresses }),
    (error: unknown) => ({ error }),
  )

/**
 * Creates a resolver for one capture. `cancel` ends pending queries. Nothing is cached, so each result is current. Concurrent queries for
 * one name share a response, because a page opens its connections to a site all at once.
 */
export const createResolver = (config: ResolverConfig): { resolve: Resolve; cancel: () => void } => {
  // Two attempts within the deadline, because one lost datagram does not mean that the name does not exist.
  const resolver = new dns.Resolver({ timeout: Math.ceil(config.dnsTimeoutMilliseconds / 3), tries: 2 })
  if (config.dnsServers) resolver.setServers([...config.dnsServers])

  const ask = async (name: string, signal: AbortSignal): Promise<string[]> => {
    const four = toAnswer(resolver.resolve4(name))
    const six = toAnswer(resolver.resolve6(name))
    const first = await four
    const second =
      'addresses' in first ? await Promise.race([six, delay(SECOND_FAMILY_MILLISECONDS, { addresses: [] }, { signal })]) : await six
    const addresses = [first, second].flatMap((answer) => ('addresses' in answer ? answer.addresses.slice(0, MAX_ADDRESSES) : []))
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
