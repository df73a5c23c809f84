// What stands around the cluster in the attack tests, in the node's network: listeners on addresses that no page may reach, the public site
// that the attacking pages come from, and a DNS zone. Tells each arrival. See cluster-program.ts.

import dgram from 'node:dgram'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { startDnsServer } from '../servers/dns-server.ts'
import { takeAddresses } from '../servers/own-addresses.ts'
import { attackPage, navigationPage, TURN_PORT } from './attack-pages.ts'
import { attackZone, ZONE_MARK } from './attack-zone.ts'

/** What stands where. */
export interface AttackGround {
  /** Of the site. */
  site: string
  /** Addresses that must not be reached, and one outside that names may change to. */
  inside: readonly string[]
  outside: string
  /** A public address where nothing listens. */
  dead: string
  /** Where runners are told to ask for names. */
  dns: string
  /** Who knows the cluster's names. */
  clusterDns: string
}

/** Something came in. `path` is the request's, `udp` or `tcp` without one. */
export interface Arrival {
  address: string
  path: string
}

const ground = JSON.parse(process.argv[2] ?? '') as AttackGround
const tell = (arrival: Arrival): void => void process.send?.(arrival)
const listening = (listener: net.Server | dgram.Socket): Promise<unknown> => once(listener, 'listening')

function startListeners(address: string): Promise<unknown>[] {
  const server = http.createServer((request, response) => {
    tell({ address, path: request.url ?? '' })
    response.setHeader('access-control-allow-origin', '*').end('reached')
  })
  server.on('upgrade', (request, socket) => {
    tell({ address, path: request.url ?? '' })
    socket.destroy()
  })
  const turn = net.createServer((socket) => {
    tell({ address, path: 'tcp' })
    socket.on('error', () => {}).destroy()
  })
  const udp = dgram.createSocket(net.isIPv6(address) ? 'udp6' : 'udp4')
  udp.on('message', () => tell({ address, path: 'udp' }))
  udp.bind(TURN_PORT, address)
  return [listening(server.listen(80, address)), listening(turn.listen(TURN_PORT, address)), listening(udp)]
}

/** `/go/<way>?to=` leaves for an address; `/attack?at=` tries it in all the ways that a page has and stays. */
function startSite(address: string): Promise<unknown> {
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site')
    const to = url.searchParams.get('to') ?? ''
    if (url.pathname === '/go/redirect') return void response.writeHead(302, { location: to }).end()
    if (url.pathname === '/ran') tell({ address, path: request.url ?? '' })
    const html = url.pathname.startsWith('/go/')
      ? navigationPage(url.pathname.slice('/go/'.length), to)
      : attackPage(url.searchParams.getAll('at'))
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html)
  })
  return listening(server.listen(80, address))
}

/** Names of the zone are answered here, all others by the cluster's own server. */
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
  return listening(front)
}

takeAddresses([ground.site, ground.outside, ground.dead, ground.dns, ...ground.inside])
await Promise.all([...[...ground.inside, ground.outside].flatMap(startListeners), startSite(ground.site), startDns(ground)])
process.send?.('ready')
