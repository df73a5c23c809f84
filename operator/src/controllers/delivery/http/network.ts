import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { getCACertificates } from 'node:tls'

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
    const addresses = [four, six].flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (addresses.length > 0) return addresses
    throw four.status === 'rejected' ? four.reason : new Error(`${name} has no address`)
  }
}

/** CA certificates for receivers: the system's and those of a PEM file. @throws when the file cannot be read */
export function loadCertificates(extraFile: string | undefined): string[] {
  const own = getCACertificates('default')
  return extraFile === undefined ? own : [...own, readFileSync(extraFile, 'utf8')]
}

/** IP addresses of this pod, loopback included. */
export const listOwnAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address.replace(/%.*$/, '')))
