import { execFileSync } from 'node:child_process'
import { isIPv6 } from 'node:net'

// For programs that cluster/program.ts starts: adds addresses to the node's loopback interface until the test ends.

const change = (verb: 'replace' | 'del', address: string): void => {
  execFileSync('ip', ['address', verb, isIPv6(address) ? `${address}/128` : `${address}/32`, 'dev', 'lo'], { stdio: 'ignore' })
}

/** Adds the addresses. Removes them and exits when the test disconnects. */
export function takeAddresses(addresses: readonly string[]): void {
  for (const address of addresses) change('replace', address)
  process.once('disconnect', () => {
    for (const address of addresses) change('del', address)
    process.exit()
  })
}
