// The servers of the attack tests, in the node's network: listeners on addresses that pages must not reach, the public site with the attacking
// pages, and a DNS zone. Reports each arrival. Started by program.ts.

import dgram from 'node:dgram'
import { once } from 'node:events'
import http from 'node:http'
import { startDnsServer } from '../servers/dns-server.ts'
import { takeAddresses } from '../servers/own-addresses.ts'
import { type Arrival, createAttackSite, listenForArrivals } from './attack-site.ts'
import { attackZone, ZONE_MARK } from './attack-zone.ts'

/** Addresses and ports of the servers. */
export interface AttackGround {
  /** Of the site. */
  site: string
  /** Addresses that must not be reached, and a public one for DNS rebinding. */
  inside: readonly string[]
  outside: string
  /** A public address where nothing listens. */
  dead: string
  /** Address of the name server for runners. */
  dns: string
  /** Address of the cluster's name server. */
  clusterDns: string
}

const PATIENCE_MILLISECONDS = 8_000
const ground = JSON.parse(process.argv[2] ?? '') as AttackGround
const tell = (arrival: Arrival): void => void process.send?.(arrival)

/** The public site. `/ran` says that the script of a page has run to its end. */
function startSite(address: string): Promise<unknown> {
  const respond = createAttackSite(PATIENCE_MILLISECONDS)
  const server = http.createServer((request, response) => {
    if (request.url === '/ran') tell({ address, path: '/ran' })
    respond(request, response)
  })
  return once(server.listen(80, address), 'listening')
}

/** Resolves names of the zone, and forwards all others to the cluster's name server. */
async function startDns({ dns, clusterDns, ...zoneOf }: AttackGround): Promise<unknown> {
  const zone = await startDnsServer(attackZone(zoneOf))
  const [zoneHost, zonePort] = zone.address.split(':') as [string, string]
  const front = dgram.createSocket('udp4')
  front.on('message', (query, from) => {
    const back = dgram.createSocket('udp4')
    const isOurs = query.toString('latin1').toLowerCase().includes(ZONE_MARK)
    const tooLate = setTimeout(() => back.close(), 10_000)
    back.on('message', (answer) => {
      clearTimeout(tooLate)
      front.send(answer, from.port, from.address)
      back.close()
    })
    back.on('error', () => {})
    back.send(query, isOurs ? Number(zonePort) : 53, isOurs ? zoneHost : clusterDns)
  })
  front.bind(53, dns)
  return once(front, 'listening')
}

takeAddresses([ground.site, ground.outside, ground.dead, ground.dns, ...ground.inside])
await Promise.all([
  ...[...ground.inside, ground.outside].map((address) => listenForArrivals(address, tell)),
  startSite(ground.site),
  startDns(ground),
])
process.send?.('ready')
