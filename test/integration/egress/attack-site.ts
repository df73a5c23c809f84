// A public site whose pages try every method of a page to reach a target, and listeners that record what arrives. It needs its own
// network namespace, because it binds the ports 80 and 3478 of all addresses.

import dgram from 'node:dgram'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'

/** Methods of a loaded page. Each requests a path of the same name from the target. */
export const PAGE_METHODS = ['img', 'css', 'iframe', 'fetch', 'beacon', 'eventsource', 'worker', 'websocket', 'prefetch'] as const
/** Methods that navigate the page to the target. */
export const NAVIGATIONS = ['direct', 'redirect', 'link', 'refresh', 'form', 'script'] as const

/** A request that arrived. `method` is a name from above, `udp` (STUN, TURN, WebTransport) or `turn` (TURN over TCP). */
export interface Arrival {
  address: string
  method: string
}

export interface AttackSite {
  arrivals: Arrival[]
  close: () => void
}

const TURN_PORT = 3478

/** Tries all methods concurrently. `document.title` is `done` when all have ended, or after three seconds. */
const attackPage = (target: string): string => `<!doctype html><title>attacking</title>
<link rel="stylesheet" href="http://${target}/css"><link rel="prefetch" href="http://${target}/prefetch">
<img src="http://${target}/img"><iframe src="http://${target}/iframe"></iframe>
<script>
const settled = []
settled.push(fetch('http://${target}/fetch', { mode: 'no-cors' }))
navigator.sendBeacon('http://${target}/beacon', 'x')
const source = new EventSource('http://${target}/eventsource')
settled.push(new Promise((resolve) => { source.onopen = source.onerror = () => { source.close(); resolve() } }))
const socket = new WebSocket('ws://${target}/websocket')
settled.push(new Promise((resolve) => { socket.onopen = socket.onerror = resolve }))
const work = "fetch('http://${target}/worker', { mode: 'no-cors' }).catch(() => {}).finally(() => postMessage(0))"
const worker = new Worker(URL.createObjectURL(new Blob([work])))
settled.push(new Promise((resolve) => { worker.onmessage = worker.onerror = resolve }))
const host = '${target}'
const peer = new RTCPeerConnection({ iceServers: [
  { urls: 'stun:' + host + ':${TURN_PORT}' },
  { urls: 'turn:' + host + ':${TURN_PORT}?transport=udp', username: 'a', credential: 'b' },
  { urls: 'turn:' + host + ':${TURN_PORT}?transport=tcp', username: 'a', credential: 'b' },
] })
peer.createDataChannel('x')
peer.createOffer().then((offer) => peer.setLocalDescription(offer))
settled.push(new Promise((resolve) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve() }))
try { settled.push(new WebTransport('https://' + host + ':${TURN_PORT}/').ready) } catch {}
Promise.race([Promise.allSettled(settled), new Promise((resolve) => setTimeout(resolve, 1000))]).then(() => { document.title = 'done' })
</script>`

const navigationPages: Record<string, (target: string) => string> = {
  '/link': (target) => `<a href="http://${target}/link">go</a>`,
  '/refresh': (target) => `<meta http-equiv="refresh" content="0;url=http://${target}/refresh">`,
  '/form': (target) => `<form method="post" action="http://${target}/form"></form><script>document.forms[0].submit()</script>`,
  '/script': (target) => `<script>location.href = 'http://${target}/script'</script>`,
  '/attack': attackPage,
}

const plain = (address: string | undefined): string => (address ?? '').replace(/^::ffff:(?=.*\.)/, '')

/** @param isPublic true for the site's own addresses; requests to other addresses are recorded as arrivals */
export const startAttackSite = async (isPublic: (address: string) => boolean): Promise<AttackSite> => {
  const arrivals: Arrival[] = []
  const server = http.createServer((request, response) => {
    const address = plain(request.socket.localAddress)
    const url = new URL(request.url ?? '/', 'http://site')
    const target = url.searchParams.get('target')
    if (target === null || !isPublic(address)) {
      arrivals.push({ address, method: url.pathname.slice(1) })
      return void response.setHeader('access-control-allow-origin', '*').end('inside')
    }
    if (url.pathname === '/redirect') return void response.writeHead(302, { location: `http://${target}/redirect` }).end()
    response.setHeader('content-type', 'text/html').end(navigationPages[url.pathname]?.(target) ?? 'public')
  })
  server.on('upgrade', (request, socket) => {
    arrivals.push({ address: plain((socket as net.Socket).localAddress), method: (request.url ?? '').slice(1) })
    socket.destroy()
  })
  server.listen(80, '::')
  await once(server, 'listening')

  const turn = net.createServer((socket) => {
    arrivals.push({ address: plain(socket.localAddress), method: 'turn' })
    socket.on('error', () => {})
    socket.destroy()
  })
  turn.listen(TURN_PORT, '::')
  await once(turn, 'listening')

  const udp = dgram.createSocket('udp6')
  udp.on('message', () => arrivals.push({ address: 'udp', method: 'udp' }))
  udp.bind(TURN_PORT, '::')
  await once(udp, 'listening')
  return {
    arrivals,
    close: () => {
      server.closeAllConnections()
      server.close()
      turn.close()
      udp.close()
    },
  }
}
