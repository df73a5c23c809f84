// Pages that try to block or exhaust the browser. Each is green where a capture succeeds anyway.

import { constants, createDeflate, createGzip, type Deflate, type Gzip } from 'node:zlib'
import { htmlOf, numberOf, page, type Routes, sendHtml } from './handler.ts'
import { wrapPng } from './png.ts'

const script = (text: string) => `<script>${text}</script>`
const green = (text: string, title: string) => htmlOf({ title, style: 'html{background:#00ff00}', body: `<p>Text.</p>${script(text)}` })

const MEBIBYTE = 2 ** 20
const BLOCK = Buffer.alloc(MEBIBYTE, 'x')
const DRIP_MILLISECONDS = 200

/**
 * Start of a compressed stream, and the chunk to repeat for more data. A full flush resets the compressor, so that chunks are independent.
 */
async function packRepeated(packer: Gzip | Deflate, begin: Buffer, piece: Buffer): Promise<{ first: Buffer; next: Buffer }> {
  const chunks: Buffer[] = []
  packer.on('data', (chunk: Buffer) => chunks.push(chunk))
  const push = (data: Buffer) =>
    new Promise<Buffer>((resolve) => {
      packer.write(data)
      packer.flush(constants.Z_FULL_FLUSH, () => resolve(Buffer.concat(chunks.splice(0))))
    })
  const first = await push(Buffer.concat([begin, piece]))
  return { first, next: await push(piece) }
}

/** A black PNG with one bit per pixel: a few hundred kilobytes to send, four bytes per pixel in memory. */
async function packPixels(side: number): Promise<Buffer> {
  const rows = 1_000
  const { first, next } = await packRepeated(createDeflate({ level: 9 }), Buffer.alloc(0), Buffer.alloc((side / 8 + 1) * rows))
  const data = Buffer.concat([first, ...Array.from({ length: side / rows - 1 }, () => next)])
  return wrapPng({ width: side, height: side, depth: 1, type: 0 }, data)
}

const PIXELS_SIDE = 40_000

/** A service worker that never responds, and endlessly sends requests to loopback. */
const serviceWorker = `oninstall = () => skipWaiting(); onactivate = (event) => event.waitUntil(clients.claim())
onfetch = (event) => event.respondWith(new Promise(() => {}))
setInterval(() => fetch('http://127.0.0.1:8099/service-worker', { mode: 'no-cors' }).catch(() => {}), 50)`

/** Harmful pages. */
export const hostile: Routes = {
  drip: ({ request, response }) => {
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .write('<!doctype html><title>Drip</title><style>html{background:#00ff00}</style><p>Text.')
    const timer = setInterval(() => response.write('.'), DRIP_MILLISECONDS)
    request.socket.once('close', () => clearInterval(timer))
  },
  bomb: ({ query, response }) => {
    const begin = Buffer.from('<!doctype html><title>Bomb</title><style>html{background:#00ff00}</style><p>')
    void packRepeated(createGzip({ level: 9 }), begin, BLOCK).then(({ first, next }) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' }).write(first)
      for (let left = numberOf(query, 'mebibytes', 4_096, 65_536); left > 0; left--) response.write(next)
      response.end()
    })
  },
  'pixel-bomb': page(() =>
    htmlOf({ title: 'Pixel bomb', style: 'html{background:#00ff00}', body: '<p>Text.</p><img src="/pixels" width="100" height="100">' }),
  ),
  pixels: ({ response }) => {
    void packPixels(PIXELS_SIDE).then((png) => response.writeHead(200, { 'content-type': 'image/png' }).end(png))
  },
  wander: ({ query, response }) => {
    const next = numberOf(query, 'n', 0, 1e9) + 1
    sendHtml(response, htmlOf({ title: 'Wanders', body: script(`location.href = '/wander?n=${next}'`) }))
  },
  downloads: page(() =>
    green(
      `for (let n = 0; n < 20; n++) { const link = document.createElement('a'); link.href = '/download?n=' + n; link.download = ''; document.body.append(link); link.click(); link.remove() }`,
      'Downloads',
    ),
  ),
  workers: page(() =>
    green(
      `const code = URL.createObjectURL(new Blob(['for (;;);'])); for (let n = 0; n < 12; n++) new Worker(code)
const forking = URL.createObjectURL(new Blob(['const fork = (left) => { if (left > 0) new Worker(URL.createObjectURL(new Blob(["const fork = " + fork + "; fork(" + (left - 1) + ")"]))) }; fork(20)']))
new Worker(forking)`,
      'Workers',
    ),
  ),
  'service-worker': page(() =>
    green(
      `navigator.serviceWorker?.register('/service-worker.js').then(() => navigator.serviceWorker.ready).then(() => { document.title = 'Installed'; location.reload() })`,
      'Service worker',
    ),
  ),
  'service-worker.js': ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(serviceWorker)
  },
  webrtc: page(() =>
    green(
      `for (const to of ['127.0.0.1:8099', '10.96.0.1:443', '169.254.169.254:80']) {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:' + to, 'turn:' + to + '?transport=tcp'], username: 'u', credential: 'c' }] })
  peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer))
  fetch('http://' + to + '/fetched', { mode: 'no-cors' }).catch(() => {}); new WebSocket('ws://' + to + '/socket')
}`,
      'WebRTC',
    ),
  ),
}
