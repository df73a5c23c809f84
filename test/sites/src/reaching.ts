// Pages that try to reach a URL by each method of a browser: red at first, green on success. The title shows the result too.

import { escapeHtml, htmlOf, page, type Routes } from './handler.ts'

const ways: Record<string, (url: string) => string> = {
  fetch: (url) => `fetch(${url}, { mode: 'no-cors' }).then(reached, () => {})`,
  image: (url) => `const image = new Image(); image.onload = reached; image.src = ${url}`,
  script: (url) => `const tag = document.createElement('script'); tag.onload = reached; tag.src = ${url}; document.head.append(tag)`,
  style: (url) =>
    `const link = document.createElement('link'); link.rel = 'stylesheet'; link.onload = reached; link.href = ${url}; document.head.append(link)`,
  beacon: (url) => `navigator.sendBeacon(${url}, 'x')`,
  websocket: (url) => `const socket = new WebSocket(String(${url}).replace(/^http/, 'ws')); socket.onopen = reached`,
  'event-source': (url) => `const source = new EventSource(${url}); source.onopen = reached`,
  worker: (url) => `const code = 'fetch(' + JSON.stringify(${url}) + ', { mode: "no-cors" }).then(() => postMessage(1), () => {})'
const worker = new Worker(URL.createObjectURL(new Blob([code]))); worker.onmessage = reached`,
  webrtc: (url) => `const { hostname, port } = new URL(${url})
const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + hostname + ':' + (port || 80) }] })
peer.onicecandidate = ({ candidate }) => { if (candidate?.type === 'srflx') reached() }
peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer))`,
  frame: (url) =>
    `const frame = document.createElement('iframe'); frame.style.cssText = 'border:0;width:400px;height:400px'; frame.src = ${url}; document.body.append(frame)`,
}

/** `/reach/<method>?url=…`. A frame shows the response; a beacon is only visible to the listener. */
export const reaching: Routes = {
  reach: page((query, { rest }) => {
    const way = ways[rest]
    const url = JSON.stringify(query.get('url') ?? '/image').replaceAll('<', '\\u003c')
    if (!way) return htmlOf({ title: 'Unknown method', body: escapeHtml(`there are ${Object.keys(ways).join(', ')}`) })
    const script = `const reached = () => { document.documentElement.style.background = '#00ff00'; document.title = 'reached' }\n${way(url)}`
    return htmlOf({ title: 'not reached', style: 'html{background:#ff0000}', body: `<script>${script}</script>` })
  }),
}
