/** Finds out what the cluster's pods can reach beyond it, by the way that they go: the cluster's name server, then the way out. */
import { Resolver } from 'node:dns/promises'
import { connect } from 'node:net'
import { choices, network } from '../host/state.ts'
import { inside } from './network.ts'

/** A name that exists for such purposes (RFC 2606). */
const knownHost = 'example.com'
const patienceMilliseconds = 1_500

export type Internet = 'yes' | 'through a proxy' | 'no, only *.sites'

/** What pods reach: everything, everything by a proxy that the host uses as well, or the cluster alone. */
export async function findInternet(hasWayOut: boolean): Promise<Internet> {
  if (!hasWayOut) return 'no, only *.sites'
  try {
    await inside(process.execPath, [import.meta.filename], 2 * patienceMilliseconds + 2_000)
    return 'yes'
  } catch {
    return choices.upstreamProxy === undefined ? 'no, only *.sites' : 'through a proxy'
  }
}

/** Runs inside the namespace. @throws when the known host cannot be reached. */
async function probe(): Promise<void> {
  const resolver = new Resolver({ timeout: patienceMilliseconds, tries: 1 })
  resolver.setServers([network.nodeAddress])
  const [address] = await resolver.resolve4(knownHost)
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host: address!, port: 443, timeout: patienceMilliseconds })
    socket.on('connect', () => resolve(socket.destroy() && undefined))
    socket.on('timeout', () => socket.destroy(new Error('no answer')))
    socket.on('error', reject)
  })
}

if (import.meta.main) {
  await probe().catch(() => {
    process.exitCode = 1
  })
}
