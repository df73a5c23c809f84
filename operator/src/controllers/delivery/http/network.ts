import { X509Certificate } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { getCACertificates } from 'node:tls'
import { type EgressRules, MAX_ADDRESSES } from '@tintype/crds/addresses/address-rules'

/** Resolves a name to IP addresses. @throws when it has none */
export type Resolve = (name: string) => Promise<string[]>

const QUERY_MILLISECONDS = 1_000
const TRIES = 3

/**
 * Resolves A and AAAA records with c-ares. getaddrinfo would block one of libuv's four threads while a name server hangs, and would try the
 * pod's search domains for every public name.
 */
export function resolverOf(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: QUERY_MILLISECONDS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  return async (name) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = [four, six].flatMap((result) => (result.status === 'fulfilled' ? result.value.slice(0, MAX_ADDRESSES) : []))
    if (addresses.length > 0) return addresses
    throw four.status === 'rejected' ? four.reason : new Error(`${name} has no address`)
  }
}

/** How often the file of authorities is read again. The kubelet replaces it about a minute after its ConfigMap has changed. */
const REREAD_MILLISECONDS = 10_000

/**
 * CA certificates for receivers: the system's and those of a PEM file. The returned function reads a changed file, so that a new authority needs no
 * restart. It returns the same list until the file has changed. @throws at the start, if the file cannot be read
 */
export function certificatesOf(extraFile: string | undefined, now: () => number = () => performance.now()): () => readonly string[] {
  const own = getCACertificates('default')
  if (extraFile === undefined) return () => own
  let extra = readFileSync(extraFile, 'utf8')
  let certificates = [...own, extra]
  let readAt = now()
  return () => {
    if (now() - readAt < REREAD_MILLISECONDS) return certificates
    readAt = now()
    try {
      const text = readFileSync(extraFile, 'utf8')
      if (text !== extra && new X509Certificate(text).raw.length > 0) {
        certificates = [...own, text]
        extra = text
      }
    } catch {
      // A file that is missing for a moment, or is no PEM, changes nothing.
    }
    return certificates
  }
}

/** IP addresses of this pod, loopback included. */
export const listOwnAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address.replace(/%.*$/, '')))

/** Settings of webhooks from the chart's values. */
export interface DeliverySettings {
  /** Time limit of one post. */
  timeoutMilliseconds: number
  /** Delays before the second and the third attempt. */
  retryDelaysMilliseconds: readonly number[]
  /** Private IP ranges that webhooks may use. */
  allowedCidrs: readonly string[]
  /** Host names, or `*.suffix`, that webhooks may use even if they resolve to private addresses. */
  allowedHosts: readonly string[]
  /** Posts of one account that run at the same time; absent: as many as of all accounts. */
  maxPostsPerAccount?: number | undefined
  /** Forward proxy for posts (HTTP CONNECT); absent: none. */
  proxyUrl?: string | undefined
  /** Days of uninterrupted failures after which an endpoint is disabled; absent: never. */
  disableAfterDays?: number | undefined
}

/** Egress rules for posts: public addresses, and those that the settings allow. */
export const toRules = ({ allowedCidrs, allowedHosts }: DeliverySettings): EgressRules => ({
  allowedCidrs,
  allowedHosts,
  deniedCidrs: [],
  allowedPorts: [],
})
