import { escapeHtml } from '../../sites/src/handler.ts'

// Pages that try to reach a target. Each method requests a path with its own name, so that the listener can distinguish them.

/** Port on which targets listen for STUN and TURN. */
export const TURN_PORT = 3478

/** Methods that navigate the page to the target. */
export const NAVIGATIONS = ['direct', 'redirect', 'link', 'refresh', 'form', 'script'] as const

/** Methods without a navigation, by HTTP and WebSocket. */
export const PAGE_WAYS = ['img', 'css', 'iframe', 'fetch', 'beacon', 'eventsource', 'worker', 'websocket', 'prefetch'] as const

const navigations: Record<string, (to: string) => string> = {
  link: (to) => `<a id="go" style="font-size:40px" href="${escapeHtml(to)}">go</a>`,
  refresh: (to) => `<meta http-equiv="refresh" content="0;url=${escapeHtml(to)}">`,
  form: (to) => `<form method="post" action="${escapeHtml(to)}"></form><script>document.forms[0].submit()</script>`,
  // Stays on the page and sets its title on success.
  fetch: (to) => `<script>fetch(${JSON.stringify(to)}, { mode: 'no-cors' }).then(() => { document.title = 'reached' })</script>`,
  script: (to) => `<script>location.href = ${JSON.stringify(to)}</script>`,
}

/** A page that navigates to a URL. */
export const navigationPage = (way: string, to: string): string =>
  `<!doctype html><title>leaving</title>${navigations[way]?.(to) ?? 'unknown method'}`

/** @param targets `host:port`; the page uses all methods on each */
export const attackPage = (targets: readonly string[]): string => `<!doctype html><title>attacking</title>
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
Promise.race([Promise.allSettled(settled), new Promise((resolve) => setTimeout(resolve, 8000))])
  .then(() => fetch('/ran'))
  .then(() => { document.body.append(Object.assign(document.createElement('p'), { id: 'done', textContent: 'done' })) })
</script>`
