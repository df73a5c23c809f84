/** Checks whether the cluster's pods can reach the internet, in the same way as they do: by the cluster's name server and outbound network. */
import { Resolver } from 'node:dns/promises'
import { connect } from 'node:net'
import { choices, network } from '../host/state.ts'
import { inside } from './network.ts'

/** A name that is reserved for examples (RFC 2606). */
const knownHost = 'example.com'
const timeoutMilliseconds = 1_500

export type Internet = 'yes' | 'through a proxy' | 'no, only *.sites'

/** Pods reach everything, everything through the host's proxy, or only the cluster. */
export async function findInternet(hasOutboundNetwork: boolean): Promise<Internet> {
  if (!hasOutboundNetwork) return 'no, only *.sites'
  try {
    await inside(process.execPath, [import.meta.filename], { timeoutMilliseconds: 2 * timeoutMilliseconds + 2_000 })
    return 'yes'
  } catch {
    return choices.upstreamProxy === undefined ? 'no, only *.sites' : 'through a proxy'
  }
}

/** Runs inside the namespace. @throws when the known host cannot be reached. */
async function probe(): Promise<void> {
  const resolver = new Resolver({ timeout: timeoutMilliseconds, tries: 1 })
  resolver.setServers([network.nodeAddress])
  const [address] = await resolver.resolve4(knownHost)
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host: address!, port: 443, timeout: timeoutMilliseconds })
    socket.on('connect', () => resolve(socket.destroy() && undefined))
    socket.on('timeout', () => socket.destroy(new Error('no response')))
    socket.on('error', reject)
  })
}

if (import.meta.main) {
  await probe().catch(() => {
    process.exitCode = 1
  })
}
