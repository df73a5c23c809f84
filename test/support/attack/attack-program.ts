// The servers of the attack tests, in the node's network: listeners on addresses that pages must not reach, the public site with the attacking
// pages, and a DNS zone. Reports each arrival. Started by program.ts.

import dgram from 'node:dgram'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { startDnsServer } from '../servers/dns-server.ts'
import { takeAddresses } from '../servers/own-addresses.ts'
import { attackPage, navigationPage, TURN_PORT } from './attack-pages.ts'
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

/** A connection or datagram. `path` is the path of the request, or `udp` or `tcp`. */
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

/** `/go/<method>?to=` navigates to a URL. `/attack?at=` tries all methods without a navigation. */
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
  return listening(front)
}

takeAddresses([ground.site, ground.outside, ground.dead, ground.dns, ...ground.inside])
await Promise.all([...[...ground.inside, ground.outside].flatMap(startListeners), startSite(ground.site), startDns(ground)])
process.send?.('ready')
