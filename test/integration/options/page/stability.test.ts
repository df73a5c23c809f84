// Screenshots show the stable page: the end of its intro animation, and what it does outside of timers, requests and DOM changes. The wait for it never
// makes a capture fail or last long. Requests of dedicated workers count as the page's.

import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import sharp from 'sharp'
import t from 'tap'
import { type Pages, serving, servingGreen } from '../../capture-runner/stage/page-server.ts'
import { GREEN, isNear, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { ownRenderers } from '../../capture-runner/stage/renderers.ts'
import { atPaths, FADING_ROWS, markup, openStage, page, pathOf } from '../options.ts'

const BOX = '<style>#box { width: 400px; height: 400px; background: #f00 }</style><p>A line.</p><div id="box"></div>'
const script = (text: string) => `<script>${text}</script>`
const green = "box.style.background = '#0f0'"

/** A page with a box, and a rule or a script that makes it green. */
const ruled = (rule: string, text = '') => page('', `<style>${rule}</style>${BOX}${text ? script(text) : ''}`)
const intro = (texts: TemplateStringsArray, ...values: string[]) => ruled('', String.raw({ raw: texts }, ...values))

const sendFive = (response: ServerResponse, write: (number: number) => string): void => {
  for (let number = 1; number <= 5; number++)
    setTimeout(() => response.write(write(number)) && number === 5 && response.end(), number * 150)
}

const js = (body: string) => serving('text/javascript', body)
/** A page that turns green on a message of its worker. */
const withWorker = (source: string) =>
  page(
    'background:#f00',
    `<p>A page.</p><script>const worker = ${source}; worker.onmessage = () => { document.body.style.background = "#0f0" }</script>`,
  )

const large = await sharp({ create: { width: 5_000, height: 4_000, channels: 3, background: '#0f0' } })
  .png()
  .toBuffer()
const TIMER = pathOf('a timer of 700 ms')
/** Pages with an intro animation. Each was once captured during it. */
const INTROS: Pages = {
  'a CSS animation of 1.2 s': ruled('@keyframes in { from { background: #f00 } to { background: #0f0 } } #box { animation: in 1.2s both }'),
  'a tween of 1.1 s by requestAnimationFrame and performance.now': intro`const begun = performance.now(); const turn = () => {
      const share = Math.min(1, (performance.now() - begun) / 1100)
      box.style.background = 'rgb(' + Math.round(255 * (1 - share)) + ',' + Math.round(255 * share) + ',0)'
      if (share < 1) requestAnimationFrame(turn)
    }; turn()`,
  'a tween of 1.1 s by the times of its frames': intro`let begun; const turn = (now) => {
      const share = Math.min(1, (now - (begun ??= now)) / 1100)
      box.style.background = 'rgb(' + Math.round(255 * (1 - share)) + ',' + Math.round(255 * share) + ',0)'
      if (share < 1) requestAnimationFrame(turn)
    }; requestAnimationFrame(turn)`,
  'a part that grows in 60 frames': intro`let frames = 0; const turn = () => { box.style.width = 300 + ++frames + 'px'; if (frames < 60) requestAnimationFrame(turn); else ${green} }
      requestAnimationFrame(turn)`,
  // Like GSAP: a late frame counts as 33 ms.
  'a tween that takes a late frame for a short one': intro`let last = Date.now(), lived = 0; const turn = () => {
      const now = Date.now(); lived += now - last > 500 ? 33 : now - last; last = now
      if (lived > 1100) ${green}
      else requestAnimationFrame(turn)
    }; turn()`,
  'a canvas that is drawn for a second': markup`<p>A line.</p><canvas id="box" width="400" height="400"></canvas>${script(`const pen = box.getContext('2d'); const begun = Date.now(); const turn = () => {
      const share = Math.min(1, (Date.now() - begun) / 1000)
      pen.fillStyle = share < 1 ? '#f00' : '#0f0'; pen.fillRect(0, 0, 400, 400 * Math.max(share, 0.1))
      if (share < 1) requestAnimationFrame(turn)
    }; turn()`)}`,
  'a timer of 700 ms': intro`setTimeout(() => { ${green} }, 700)`,
  'an answer that is drawn 300 ms later': intro`setTimeout(() => fetch('/data').then((r) => r.text()).then(() => setTimeout(() => { ${green} }, 300)), 200)`,
  'an answer that comes 600 ms after load': intro`addEventListener('load', () => fetch('/slow-data').then(() => { ${green} }))`,
  'a timer, while a stream of events stays open': intro`new EventSource('/never'); setTimeout(() => { ${green} }, 700)`,
  'a preloader that fades after load': page(
    'background:#0f0',
    `<style>#cover { position: fixed; inset: 0; background: #f00; transition: opacity .6s }</style><p>A line.</p><div id="cover"></div>${script(
      "addEventListener('load', () => setTimeout(() => { cover.addEventListener('transitionend', () => cover.remove()); cover.style.opacity = 0 }, 500))",
    )}`,
  ),
  'an animation of a page without scripts': markup`<style>@keyframes in { from { background: #f00 } to { background: #0f0 } } #box { animation: in 1.2s 600ms both }</style>${BOX.replace('background: #f00', '')}`,
  'an animation of 4 s in a page without scripts': markup`<style>@keyframes in { from { background: #f00 } to { background: #0f0 } } #box { animation: in 3s 1s both }</style>${BOX.replace('background: #f00', '')}`,
  'an animation of 4 s in a page with a script': markup`<style>@keyframes in { from { background: #f00 } to { background: #0f0 } } #box { animation: in 3s 1s both }</style>${BOX.replace('background: #f00', '')}${script('document.title = 1')}`,
  'an animation in a frame': markup`<iframe srcdoc="<style>@keyframes in { from { background: red } to { background: #0f0 } } div { height: 400px; animation: in 1.2s both }</style><div></div>" style="width:400px;height:400px;border:0"></iframe>`,
  'a timer in a frame of another site': (request, response) => {
    const url = `http://elsewhere.example:${new URL(`http://${request.headers.host}`).port}${TIMER}`
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(page('', `<iframe src="${url}" style="width:800px;height:600px;border:0"></iframe>`))
  },
  'a timer beside idle frame callbacks': intro`const turn = () => requestAnimationFrame(turn); turn(); setTimeout(() => { ${green} }, 1500)`,
  'a timer of 400 ms in a worker': intro`new Worker(URL.createObjectURL(new Blob(["setTimeout(() => postMessage('done'), 400)"]))).onmessage = () => { setTimeout(() => { ${green} }, 300) }`,
  'a tween that begins after 1.2 s': intro`setTimeout(() => { const begun = performance.now(); const turn = () => {
      const share = Math.min(1, (performance.now() - begun) / 800)
      box.style.background = 'rgb(' + Math.round(255 * (1 - share)) + ',' + Math.round(255 * share) + ',0)'
      if (share < 1) requestAnimationFrame(turn)
    }; turn() }, 1200)`,
  'a page that a script goes to 300 ms after load': intro`setTimeout(() => { location.href = '/arrived' }, 300)`,
  'a web font asked for by a script': markup`<style>@font-face { font-family: late; src: url(/late.woff2) } .set { font-family: late }</style>${BOX}${script(`setTimeout(() => {
      box.className = 'set'; box.textContent = 'A'; document.fonts.load('16px late').catch(() => {}).then(() => { ${green} })
    }, 300)`)}`,
}
/** What pages do outside of timers, requests and DOM changes. */
const SHOWN: Pages = {
  'elements that idle callbacks add': intro`let rows = 0; const turn = () => { box.before(rows + ' '); if (++rows < 25) requestIdleCallback(turn); else ${green} }; requestIdleCallback(turn)`,
  'notes of a database': intro`const opening = indexedDB.open('notes'); opening.onupgradeneeded = () => opening.result.createObjectStore('notes'); opening.onsuccess = () => {
      const read = (key) => {
        const store = opening.result.transaction('notes', 'readwrite').objectStore('notes'); store.put('a note', key)
        store.get(key).onsuccess = () => { if (key < 20) read(key + 1); else ${green} }
      }; read(0)
    }`,
  'a decoded picture on a canvas': markup`<p>A line.</p><canvas id="box" width="400" height="400"></canvas>${script(`const drawing = new OffscreenCanvas(4000, 2000); const pen = drawing.getContext('2d')
      for (let i = 0; i < 2000; i++) { pen.fillStyle = 'hsl(' + i + ' 80% 60%)'; pen.fillRect((i * 37) % 4000, (i * 53) % 2000, 90, 60) }
      pen.fillStyle = '#0f0'; pen.fillRect(0, 0, 2000, 2000)
      drawing.convertToBlob().then((blob) => createImageBitmap(blob)).then((bitmap) => box.getContext('2d').drawImage(bitmap, 0, 0))`)}`,
  'pictures that a script decodes before it adds them': intro`(async () => {
      for (let number = 0; number < 3; number++) { const image = new Image(400, 50); image.src = '/large.png?' + number; await image.decode(); box.before(image) }
      ${green}
    })()`,
  'what waits for a derived key': intro`const secret = new TextEncoder().encode('a secret'); const derive = (key) =>
      crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: secret, iterations: 500_000 }, key, 256)
      crypto.subtle.importKey('raw', secret, 'PBKDF2', false, ['deriveBits']).then(derive).then(() => { ${green} })`,
  'what waits for files of the private file system': intro`navigator.storage.getDirectory().then(async (folder) => {
      for (let number = 0; number < 10; number++) {
        const file = await folder.getFileHandle('note-' + number, { create: true })
        const writer = await file.createWritable(); await writer.write('a note'); await writer.close()
        box.before(number + ' ')
      }
      ${green}
    })`,
  'lines that a worker sends for more than a second': intro`new Worker(URL.createObjectURL(new Blob(['let n = 0; setInterval(() => postMessage(++n), 250)']))).onmessage = ({ data }) => {
      if (data < 6) box.before(data + ' '); if (data === 6) ${green}
    }`,
  'the result of a worker that computes for more than a second': intro`new Worker(URL.createObjectURL(new Blob(['const begun = Date.now(); while (Date.now() - begun < 1200); postMessage(1)']))).onmessage = () => {
      setTimeout(() => { ${green} }, 600)
    }`,
  'the end of an animation that a worker draws': markup`<p>A line.</p><canvas id="box" width="400" height="400"></canvas>${script(`const drawing = box.transferControlToOffscreen()
      new Worker(URL.createObjectURL(new Blob([\`onmessage = ({ data }) => {
        const pen = data.getContext('2d'), begun = performance.now(); const turn = () => {
          const share = Math.min(1, (performance.now() - begun) / 1200)
          pen.fillStyle = 'rgb(' + Math.round(255 * (1 - share)) + ',' + Math.round(255 * share) + ',0)'; pen.fillRect(0, 0, 400, 400)
          if (share < 1) requestAnimationFrame(turn)
        }; turn()
      }\`]))).postMessage(drawing, [drawing])`)}`,
  'lines of an event stream': intro`new EventSource('/five-events').onmessage = ({ data }) => { box.before(data); if (data === '5') ${green} }`,
  'parts of a streamed response': intro`fetch('/five-chunks').then(async ({ body }) => { for await (const chunk of body) box.before(chunk.length + ' '); ${green} })`,
  'a fade by the times of its frames that begins after 250 ms': ruled(
    '#cover { height: 400px; opacity: 0; background: #0f0 }',
    `box.innerHTML = '<div id=cover></div>'; setTimeout(() => { let begun; requestAnimationFrame(function turn(now) {
      const share = Math.min(1, (now - (begun ??= now)) / 300); cover.style.opacity = share
      if (share < 1) requestAnimationFrame(turn)
    }) }, 250)`,
  ),
  'the end of a smooth scroll': markup`<p>A line.</p><div id="strip" style="display:flex;overflow:hidden;width:400px;height:400px">
      <div style="flex:none;width:800px;background:#f00"></div><div style="flex:none;width:400px;background:#0f0"></div></div>${script(
        "for (const time of [500, 1200]) setTimeout(() => strip.scrollBy({ left: 400, behavior: 'smooth' }), time)",
      )}`,
  'a late response of a service worker': intro`navigator.serviceWorker.register('/service-worker.js')
      navigator.serviceWorker.oncontrollerchange = () => fetch('/from-worker').then(() => setTimeout(() => { ${green} }, 300))`,
  'the end of animations of SVG': markup`<p>A line.</p><svg width="800" height="400"><rect height="400" fill="#0f0"><animate id="first" attributeName="width" from="0" to="20" dur="0.8s" fill="freeze"/>
      <animate attributeName="width" from="20" to="800" begin="first.end" dur="0.7s" fill="freeze"/></rect></svg>`,
  'what follows ninety frames that change nothing': intro`let frames = 0; requestAnimationFrame(function turn() { if (++frames < 90) requestAnimationFrame(turn); else ${green} })`,
  'a change of SVG after a time': markup`<p>A line.</p><svg width="800" height="400"><rect width="800" height="400" fill="red"><set attributeName="fill" to="#0f0" begin="1.5s"/></rect></svg>`,
  'the end of an animation in an SVG image': page('', '<p>A line.</p><img src="/drawn.svg">'),
}
/** What was missing without a warning. */
const MISSING: Pages = {
  // A single-page application that asks who the reader is, then for its settings, and so on.
  'content of an application that starts with four requests, one after the other': intro`(async () => { for (const name of ['who', 'settings', 'rights', 'data']) await fetch('/in-800/' + name); ${green} })()`,
  'images that data names': markup`<p>A line.</p>${script(`fetch('/late-data').then(() => { document.body.insertAdjacentHTML('beforeend', '<img src=/image>') })`)}`,
  'content that a server pushed after a second': intro`new WebSocket(location.origin.replace('http', 'ws') + '/socket-pushes').onmessage = () => { ${green} }`,
  'content of a stream whose first event came after a second': intro`new EventSource('/in-1000-event').onmessage = () => { ${green} }`,
  'what follows words that idle callbacks add one by one': intro`let words = 0; requestIdleCallback(function turn() {
      box.before(++words + ' '); if (words < 30) requestAnimationFrame(() => requestIdleCallback(turn)); else ${green}
    })`,
}
const stage = await openStage(
  t,
  {
    ...atPaths(INTROS),
    '/still': page('', BOX),
    // Each frame takes the browser much longer than usual.
    '/slow-frames': ruled(
      '#veil { position: fixed; inset: 0; backdrop-filter: blur(40px) hue-rotate(0deg); z-index: -1 } #below { position: fixed; inset: 0; z-index: -2 }',
      `box.insertAdjacentHTML('afterend', '<div id=below></div>' + '<div id=veil></div>'.repeat(12))
      let begun; const turn = (now) => {
      const share = Math.min(1, (now - (begun ??= now)) / 1100)
      below.style.background = 'rgb(0,0,' + Math.round(255 * share) + ')'
      box.style.background = 'rgb(' + Math.round(255 * (1 - share)) + ',' + Math.round(255 * share) + ',0)'
      if (share < 1) requestAnimationFrame(turn)
    }; requestAnimationFrame(turn)`,
    ),
    // A heavy page on a busy machine: 18 frames of 300 ms, and each counts as a short one.
    '/slow-intro': intro`let frames = 0; const turn = () => {
      const request = new XMLHttpRequest(); request.open('GET', '/data-in-300', false); request.send()
      const share = Math.min(1, ++frames / 18)
      box.style.background = 'rgb(' + Math.round(255 * (1 - share)) + ',' + Math.round(255 * share) + ',0)'
      if (share < 1) requestAnimationFrame(turn)
    }; requestAnimationFrame(turn)`,
    '/data-in-300': serving('text/plain', 'x', 300),
    '/data': serving('text/plain', 'x', 150),
    '/slow-data': serving('text/plain', 'x', 600),
    '/never': () => {},
    '/spinner': ruled(
      '@keyframes turn { to { transform: rotate(1turn) } } #spin { width: 40px; height: 40px; background: #00f; animation: turn 1s linear infinite } #box { background: #0f0 }',
      "box.insertAdjacentHTML('beforebegin', '<div id=spin></div>')",
    ),
    '/marquee': markup`<p>A line.</p><marquee style="display:block"><div style="width:400px;height:400px;background:#0f0"></div></marquee>`,
    // A spinner, a cursor that is hidden in the first half of each second, a slideshow, and a spinner of SVG.
    '/endless': markup`<style>@keyframes turn { to { rotate: 1turn } } @keyframes blink { 50% { background: #0f0 } } @keyframes slide { 0%, 20% { opacity: 1 } 25%, 95% { opacity: 0 } }
      div { position: absolute; width: 100px; height: 100px } #spin { left: 20px; top: 20px; background: conic-gradient(red, blue); animation: turn 1s linear infinite }
      #cursor { left: 200px; top: 0; animation: blink 1s step-end infinite } .slide { left: 400px; top: 0; background: #f00; opacity: 0; animation: slide 20s infinite }
      svg { position: absolute; left: 0; top: 200px }</style><p>A line.</p><div id="spin"></div><div id="cursor"></div><div class="slide" style="background:#0f0"></div>
      ${[5, 10, 15].map((seconds) => `<div class="slide" style="animation-delay:${seconds}s"></div>`).join('')}
      <svg width="200" height="200"><rect width="90" height="90"><animateTransform attributeName="transform" type="rotate" from="0 90 90" to="360 90 90" dur="1s" repeatCount="indefinite"/></rect></svg>`,
    // The glow is outside of the button.
    '/glow': markup`<style>@keyframes glow { to { box-shadow: 0 0 0 60px #00f } } #play { margin: 100px; width: 60px; height: 60px; animation: glow 1s infinite }</style><div id="play"></div>
      ${script('setInterval(() => { document.body.title = Date.now() }, 100)')}`,
    '/restless': markup`<p>A line.</p><canvas id="box" width="400" height="400"></canvas>${script(`const pen = box.getContext('2d'); const turn = () => {
      pen.fillStyle = 'hsl(' + Math.round(Math.random() * 360) + ' 90% 50%)'; pen.fillRect(0, 0, 400, 400); requestAnimationFrame(turn)
    }; turn()`)}`,
    '/ticker': ruled('#box { background: #0f0 }', 'const turn = () => requestAnimationFrame(turn); turn()'),
    '/arrived': intro`setTimeout(() => { ${green} }, 700)`,
    '/late.woff2': (_, response) => {
      setTimeout(() => response.writeHead(404).end(), 300)
    },
    ...atPaths(SHOWN),
    ...atPaths(MISSING),
    // The timer is due in page time, long before it would be due in real time.
    '/loop': intro`addEventListener('load', () => setTimeout(() => { const begun = Date.now(); while (Date.now() - begun < 40); ${green} }, 1000))`,
    '/loop-elsewhere': (request, response) => {
      const url = `http://elsewhere.example:${new URL(`http://${request.headers.host}`).port}/loop`
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(page('', `<iframe src="${url}" style="width:800px;height:600px;border:0"></iframe>`))
    },
    '/endless-task': intro`fetch('/loop').then(() => setTimeout(() => { for (;;); ${green} }, 300))`,
    // Each tick takes several times as long as the time between two ticks.
    '/slow-ticks': markup`<p>A line.</p><canvas id="box" width="400" height="400"></canvas>${script(`const pen = box.getContext('2d'); let hue = 0; setInterval(() => {
      for (let i = 0, sum = 0; i < 3e7; i++) sum += i % 7
      pen.fillStyle = 'hsl(' + hue++ + ' 90% 50%)'; pen.fillRect(0, 0, 400, 400)
    }, 4)`)}`,
    '/large.png': serving('image/png', large),
    '/five-events': (_, response) =>
      sendFive(response.writeHead(200, { 'content-type': 'text/event-stream' }), (number) => `data: ${number}\n\n`),
    '/five-chunks': (_, response) => sendFive(response.writeHead(200, { 'content-type': 'text/plain' }), String),
    ...Object.fromEntries(['who', 'settings', 'rights', 'data'].map((name) => [`/in-800/${name}`, serving('text/plain', 'x', 800)])),
    '/late-data': serving('text/plain', 'x', 1_400),
    '/image': servingGreen(400, 400, 1_300),
    '/socket-pushes': (request, response) => {
      const accept = createHash('sha1')
        .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64')
      response.writeHead(101, { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-accept': accept }).flushHeaders()
      setTimeout(() => request.socket.write(Buffer.from([0x81, 1, 0x78])), 1_000)
    },
    '/in-1000-event': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      setTimeout(() => response.write('data: 1\n\n'), 1_000)
    },
    '/rows': markup`<style>div { opacity: 0; transition: opacity .4s; height: 20px; background: #0f0 }</style>${'<div></div>'.repeat(13)}${script(
      "[...document.querySelectorAll('div')].forEach((row, i) => setTimeout(() => { row.style.opacity = 1 }, 200 * i))",
    )}`,
    '/fading-rows': FADING_ROWS,
    '/service-worker.js': js(`onactivate = (event) => event.waitUntil(clients.claim())
      onfetch = (event) => event.respondWith(new Promise((resolve) => setTimeout(() => resolve(new Response('x')), 300)))`),
    '/pending': page('background:#0f0', `<p>A line.</p>${script("fetch('/never?token=1')")}`),
    '/drawn.svg': serving(
      'image/svg+xml',
      '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="400"><style>rect { animation: appear 1.2s .3s both } @keyframes appear { from { transform: translateX(800px) } }</style><rect width="800" height="400" fill="#0f0"/></svg>',
    ),
    '/classic': withWorker('new Worker("/worker.js")'),
    '/module': withWorker('new Worker("/module.js", { type: "module" })'),
    '/inline': withWorker('new Worker(URL.createObjectURL(new Blob(["postMessage(1)"])))'),
    '/fetching': withWorker('new Worker("/fetching.js")'),
    '/nested-fetching': withWorker('new Worker("/outer-fetching.js")'),
    '/ended': page(
      'background:#0f0',
      '<p>A page.</p><script>const worker = new Worker("/hanging.js"); worker.onmessage = () => worker.terminate()</script>',
    ),
    '/absent': page('background:#0f0', '<p>A page.</p><script>new Worker("/none.js")</script>'),
    '/framed': page('background:#0f0', '<p>A page.</p><iframe src="/classic"></iframe>'),
    '/foreign': (request, response) => {
      const { port } = new URL(`http://${request.headers.host}`)
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(page('background:#0f0', `<p>A page.</p><iframe src="http://other.example:${port}/classic"></iframe>`))
    },
    '/worker.js': js('postMessage(1)'),
    '/module.js': js('import { say } from "/said.js"; say()'),
    '/said.js': js('export const say = () => postMessage(1)'),
    '/fetching.js': js('fetch("/late").then((answer) => answer.text()).then(() => postMessage(1))'),
    '/outer-fetching.js': js('const inner = new Worker("/fetching.js"); inner.onmessage = () => postMessage(1)'),
    '/hanging.js': js('fetch("/never"); fetch("/worker.js").then(() => postMessage(1))'),
    '/late': serving('text/plain', 'green', 1_200),
  },
  { usual: { viewportWidth: 800, viewportHeight: 600 } },
)

const MIDDLE = [200, 250] as const
/** It is true on a busy machine, which is none of the page. */
const LONG_WAIT = /^the wait took \d+ ms, because the page was gaining content or receiving data$/

for (const what of Object.keys(INTROS)) {
  t.test(`a screenshot shows the end of an intro animation: ${what}`, async (t) => {
    const { pixels, findings } = await stage.shoot(pathOf(what))
    t.ok(isNear(pixels.at(...MIDDLE), GREEN), `${pixels.at(...MIDDLE)}`)
    t.strictSame(findings.warnings, [])
  })
}

for (const what of Object.keys({ ...SHOWN, ...MISSING })) {
  t.test(`a screenshot shows ${what}`, async (t) => {
    const { pixels, findings } = await stage.shoot(pathOf(what))
    t.ok(isNear(pixels.at(...MIDDLE), GREEN), `${pixels.at(...MIDDLE)}`)
    const warnings = findings.warnings.filter((warning) => !LONG_WAIT.test(warning))
    if (what in SHOWN) t.strictSame(warnings, [])
  })
}

t.test('a heavy page raised a false alarm, because the comparison saw the middle of its intro animation', async (t) => {
  for (const path of ['/slow-intro', '/slow-frames']) {
    const { pixels, findings } = await stage.shoot(path, { compareTo: 'scr_00000000000000000000000000' })
    t.ok(isNear(pixels.at(...MIDDLE), GREEN), `${path} ${pixels.at(...MIDDLE)}`)
    t.strictSame(findings.warnings, [], path)
  }
})

t.test('option stability_timeout: 0 takes the screenshot as soon as the page has loaded', async (t) => {
  const { pixels } = await stage.shoot(TIMER, { stabilityTimeout: 0 })
  t.ok(isNear(pixels.at(...MIDDLE), RED))
  t.ok(isNear((await stage.shoot(TIMER, { stabilityTimeout: 1_000 })).pixels.at(...MIDDLE), GREEN))
  t.ok(
    isNear((await stage.shoot(pathOf('a timer beside idle frame callbacks'), { stabilityTimeout: 200 })).pixels.at(...MIDDLE), RED),
    'bounded',
  )
})

t.test('endless animations and idle frame callbacks add no warning', async (t) => {
  for (const path of ['/spinner', '/glow', '/ticker', '/still']) t.strictSame((await stage.shoot(path)).findings.warnings, [], path)
})

t.test('a marquee was at another place in each picture', async (t) => {
  for (const options of [{}, { stabilityTimeout: 0, disableAnimations: true }]) {
    const shots = [await stage.shoot('/marquee', options), await stage.shoot('/marquee', { ...options, delay: 300 })]
    for (const { pixels, findings } of shots) {
      t.strictSame([pixels.at(199, 250), pixels.at(201, 250), pixels.at(598, 250), pixels.at(601, 250)], [WHITE, GREEN, GREEN, WHITE])
      t.strictSame(findings.warnings, [])
    }
  }
})

t.test('endless animations were at another place in each picture, and two loads of a comparison agreed by chance', async (t) => {
  const [now, later] = [await stage.shoot('/endless'), await stage.shoot('/endless', { delay: 300 })]
  t.ok(now.picture.equals(later.picture))
  t.strictSame([now.pixels.at(250, 50), now.pixels.at(450, 50)], [GREEN, GREEN], 'a cursor is visible, and a slideshow shows one slide')
})

t.test('a page that is never stable is captured at the time limit, with a warning that names what moved', async (t) => {
  const { findings } = await stage.shoot('/restless', { stabilityTimeout: 500 })
  t.match(findings.warnings, [/^the page was still moving .*canvas/])
})

for (const path of ['/loop', '/loop-elsewhere']) {
  for (const [tab, options] of Object.entries({
    'a tab that was opened ahead': {},
    'a tab with another time': { fixedTime: '2026-01-15T12:00:00Z' },
  })) {
    t.test(`a page was loaded twice, because a script waited in a loop: ${path} in ${tab}`, async (t) => {
      const before = stage.seen.filter((request) => request.path === path).length
      const { pixels, findings } = await stage.shoot(path, { ...options })
      t.ok(isNear(pixels.at(...MIDDLE), GREEN), `${pixels.at(...MIDDLE)}`)
      t.strictSame(findings.warnings, [])
      t.equal(stage.seen.filter((request) => request.path === path).length - before, 1)
    })
  }
}

t.test('a script that never ends is stopped, and the page is not loaded again', async (t) => {
  const { pixels, findings } = await stage.shoot('/endless-task')
  t.ok(isNear(pixels.at(...MIDDLE), RED), `${pixels.at(...MIDDLE)}`)
  t.strictSame(findings.warnings, ['a script of the page did not end within 8 seconds and was stopped'])
  t.equal(stage.seen.filter((request) => request.path === '/endless-task').length, 1)
})

t.test('a page in a tab without a virtual clock is complete, too', async (t) => {
  const { pixels, findings } = await stage.shoot('/loop', {}, { isRealTime: true })
  t.ok(isNear(pixels.at(...MIDDLE), GREEN), `${pixels.at(...MIDDLE)}`)
  t.strictSame(findings.warnings, [])
})

t.test('a page whose timers take longer than their time needed half a minute', async (t) => {
  const { findings } = await stage.shoot('/slow-ticks')
  t.match(findings.warnings.at(-1), /^the scripts of the page took longer than its timers allow/)
})

t.test('rows that appear one after the other were missing at the end of the wait', async (t) => {
  const { pixels } = await stage.shoot('/rows')
  for (let row = 0; row < 13; row++) t.ok(isNear(pixels.at(400, 20 * row + 10), GREEN), `row ${row}: ${pixels.at(400, 20 * row + 10)}`)
})

t.test('rows that fade in one after the other, beside a clock, were missing', async (t) => {
  for (let capture = 0; capture < 4; capture++) {
    const { pixels } = await stage.shoot('/fading-rows')
    for (let row = 0; row < 5; row++) t.ok(isNear(pixels.at(400, 40 * row + 20), GREEN), `row ${row}: ${pixels.at(400, 40 * row + 20)}`)
  }
})

t.test('a warning names the request that the page still waits for', async (t) => {
  const { findings } = await stage.shoot('/pending')
  t.match(findings.warnings, [/^the page was still waiting for http:\/\/127\.0\.0\.1:\d+\/never when the picture was taken$/])
})

const quiet = { waitUntil: ['networkidle' as const], networkIdleTimeout: 8_000 }
const TABS = [
  { name: 'a tab that was opened ahead', options: {} },
  { name: 'a tab of its own', options: { locale: 'de-DE' } },
]

for (const { name, options } of TABS) {
  for (const path of ['/module', '/inline']) {
    t.test(`a page with a dedicated worker reaches networkidle: in ${name} for ${path}`, async (t) => {
      const { findings, pixels } = await stage.shoot(path, { ...quiet, ...options })
      t.strictSame(findings.warnings, [])
      t.strictSame(pixels.at(...MIDDLE), GREEN)
    })
  }

  t.test(`networkidle waits in ${name} for the requests of a worker, nested or not`, async (t) => {
    for (const path of ['/fetching', '/nested-fetching']) {
      const { findings, pixels } = await stage.shoot(path, { ...quiet, ...options })
      t.strictSame(findings.warnings, [], path)
      t.strictSame(pixels.at(...MIDDLE), GREEN, path)
    }
  })

  t.test(`networkidle is reached in ${name} when a worker ended during a request, or has no script`, async (t) => {
    for (const path of ['/ended', '/absent']) t.strictSame((await stage.shoot(path, { ...quiet, ...options })).findings.warnings, [], path)
  })

  t.test(`networkidle is reached in ${name} when a frame has a worker, of the page's site or of another`, async (t) => {
    for (const path of ['/framed', '/foreign']) {
      const { findings } = await stage.shootAt(`http://page.example:${new URL(stage.site.url('/')).port}${path}`, { ...quiet, ...options })
      t.strictSame(findings.warnings, [], path)
    }
  })
}

/** Lets the page's process run for two fifths of the time, as on a busy machine. */
function starveRenderers(): () => void {
  const signal = (name: NodeJS.Signals) => {
    for (const pid of ownRenderers())
      try {
        process.kill(pid, name)
      } catch {
        // It has ended meanwhile.
      }
  }
  let turns = 0
  const timer = setInterval(() => signal(turns++ % 5 < 2 ? 'SIGCONT' : 'SIGSTOP'), 10)
  return () => {
    clearInterval(timer)
    signal('SIGCONT')
  }
}

t.test('a decoded picture on a canvas was missing in a screenshot that a busy machine took', async (t) => {
  const stop = starveRenderers()
  try {
    const { pixels } = await stage.shoot(pathOf('a decoded picture on a canvas'))
    t.strictSame(pixels.at(...MIDDLE), GREEN)
  } finally {
    stop()
  }
})
