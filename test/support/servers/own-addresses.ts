import { execFileSync } from 'node:child_process'
import { isIPv6 } from 'node:net'

// For programs that cluster-program.ts starts: addresses of the test's own on the node's loopback interface, as long as the test lives.

const change = (verb: 'replace' | 'del', address: string): void => {
  execFileSync('ip', ['address', verb, isIPv6(address) ? `${address}/128` : `${address}/32`, 'dev', 'lo'], { stdio: 'ignore' })
}

/** Puts the addresses there; they go, and this process with them, when the test lets go of it. */
export function takeAddresses(addresses: readonly string[]): void {
  for (const address of addresses) change('replace', address)
  process.once('disconnect', () => {
    for (const address of addresses) change('del', address)
    process.exit()
  })
}
