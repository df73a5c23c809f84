// A public site whose pages try every method of a page to reach a target, and the listeners that record what arrives there. Each method requests a
// path with its own name.

import dgram from 'node:dgram'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { escapeHtml } from '../../sites/src/handler.ts'

/** Port on which targets listen for STUN and TURN. */
export const TURN_PORT = 3478

/** Methods that navigate the page to the target. */
export const NAVIGATIONS = ['direct', 'redirect', 'link', 'refresh', 'form', 'script'] as const

/** Methods without a navigation, by HTTP and WebSocket. */
export const PAGE_WAYS = ['img', 'css', 'iframe', 'fetch', 'beacon', 'eventsource', 'worker', 'websocket', 'prefetch'] as const

/** A connection or datagram at a listener. `path` is the path of the request, or `udp` (STUN, TURN, WebTransport) or `tcp` (TURN). */
export interface Arrival {
  address: string
  path: string
}

const navigations: Record<string, (to: string) => string> = {
  link: (to) => `<a id="go" style="font-size:40px" href="${escapeHtml(to)}">go</a>`,
  refresh: (to) => `<meta http-equiv="refresh" content="0;url=${escapeHtml(to)}">`,
  form: (to) => `<form method="post" action="${escapeHtml(to)}"></form><script>document.forms[0].submit()</script>`,
  // Stays on the page and sets its title on success.
  fetch: (to) => `<script>fetch(${JSON.stringify(to)}, { mode: 'no-cors' }).then(() => { document.title = 'reached' })</script>`,
  script: (to) => `<script>location.href = ${JSON.stringify(to)}</script>`,
}

/**
 * A page that uses all methods on each target. `#done` appears when all have ended, or after `milliseconds`.
 * @param targets `host:port`, or a host
 */
export const attackPage = (targets: readonly string[], milliseconds: number): string => `<!doctype html><title>attacking</title>
<body style="background:#336699"><script>
const settled = []
const element = (name, attributes) => {
  const made = Object.assign(document.createElement(name), attributes)
  settled.push(new Promise((resolve) => { made.onload = made.onerror = resolve }))
  document.body.append(made)
}
for (const target of ${JSON.stringify(targets)}) {
  const url = (way) => 'http://' + target + '/' + way + '?' + encodeURIComponent(target)
  const host = target.replace(/:\\d+$/, '')
  element('img', { src: url('img') })
  element('link', { rel: 'stylesheet', href: url('css') })
  element('link', { rel: 'prefetch', href: url('prefetch') })
  element('iframe', { src: url('iframe') })
  settled.push(fetch(url('fetch'), { mode: 'no-cors' }))
  navigator.sendBeacon(url('beacon'), 'x')
  const source = new EventSource(url('eventsource'))
  settled.push(new Promise((resolve) => { source.onopen = source.onerror = () => { source.close(); resolve() } }))
  const socket = new WebSocket(url('websocket').replace('http', 'ws'))
  settled.push(new Promise((resolve) => { socket.onopen = socket.onerror = resolve }))
  const work = 'fetch(' + JSON.stringify(url('worker')) + ', { mode: "no-cors" }).catch(() => {}).finally(() => postMessage(0))'
  const worker = new Worker(URL.createObjectURL(new Blob([work])))
  settled.push(new Promise((resolve) => { worker.onmessage = worker.onerror = resolve }))
  const turn = (transport) => ({ urls: 'turn:' + host + ':${TURN_PORT}?transport=' + transport, username: 'a', credential: 'b' })
  const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + host + ':${TURN_PORT}' }, turn('udp'), turn('tcp')] })
  peer.createDataChannel('x')
  peer.createOffer().then((offer) => peer.setLocalDescription(offer))
  settled.push(new Promise((resolve) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve() }))
  try { settled.push(new WebTransport('https://' + host + ':${TURN_PORT}/').ready) } catch {}
}
Promise.race([Promise.allSettled(settled), new Promise((resolve) => setTimeout(resolve, ${milliseconds}))])
  .then(() => fetch('/ran')).catch(() => {})
  .then(() => { document.body.append(Object.assign(document.createElement('p'), { id: 'done', textContent: 'done' })) })
</script>`

/**
 * Responds to requests of the site: `/go/<method>?to=` navigates to a URL, and `/attack?at=` tries all methods without a navigation, for at most
 * `milliseconds`.
 */
export const createAttackSite =
  (milliseconds: number): http.RequestListener =>
  (request, response) => {
    const url = new URL(request.url ?? '/', 'http://site')
    const to = url.searchParams.get('to') ?? ''
    if (url.pathname === '/go/redirect') return void response.writeHead(302, { location: to }).end()
    const page = url.pathname.startsWith('/go/')
      ? `<!doctype html><title>leaving</title>${navigations[url.pathname.slice('/go/'.length)]?.(to) ?? 'unknown method'}`
      : attackPage(url.searchParams.getAll('at'), milliseconds)
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
  }

const plain = (socket: net.Socket): string => (socket.localAddress ?? '').replace(/^::ffff:(?=.*\.)/, '')

/**
 * Listens on the ports 80 and 3478 of an address, or on `::` for all. `respond` may respond to a request itself, which is then no arrival.
 * Resolves to a function that ends it.
 */
export async function listenForArrivals(
  address: string,
  note: (arrival: Arrival) => void,
  respond: (request: http.IncomingMessage, response: http.ServerResponse) => boolean = () => false,
): Promise<() => void> {
  const server = http.createServer((request, response) => {
    if (respond(request, response)) return
    note({ address: plain(request.socket), path: request.url ?? '' })
    // Each request looks its name up again, also when a busy machine lets the first lookup serve all connections of a page.
    response.writeHead(200, { 'access-control-allow-origin': '*', connection: 'close' }).end('inside')
  })
  server.on('upgrade', (request, socket) => {
    note({ address: plain(socket as net.Socket), path: request.url ?? '' })
    socket.destroy()
  })
  const turn = net.createServer((socket) => {
    note({ address: plain(socket), path: 'tcp' })
    socket.on('error', () => {}).destroy()
  })
  const udp = dgram.createSocket(net.isIPv6(address) ? 'udp6' : 'udp4')
  udp.on('message', () => note({ address, path: 'udp' }))
  udp.bind(TURN_PORT, address)
  await Promise.all([server.listen(80, address), turn.listen(TURN_PORT, address), udp].map((one) => once(one, 'listening')))
  return () => {
    server.closeAllConnections()
    for (const one of [server, turn, udp]) one.close()
  }
}
