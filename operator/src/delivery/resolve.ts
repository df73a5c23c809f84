import { Resolver } from 'node:dns/promises'

/** Finds the addresses of a name. @throws when it has none */
export type Resolve = (name: string) => Promise<string[]>

const QUERY_MILLISECONDS = 1_000
const TRIES = 3

/**
 * Resolves by c-ares, A and AAAA at once: getaddrinfo blocks one of libuv's four threads for as long as a name server hangs, and would
 * walk the pod's search domains for every public name.
 */
export function resolverOf(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: QUERY_MILLISECONDS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  return async (name) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    throw four.status === 'rejected' ? four.reason : new Error(`${name} has no address`)
  }
}
