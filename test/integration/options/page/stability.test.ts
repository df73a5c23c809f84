// Screenshots show the stable page after its intro animation. Each page here was once captured during the animation.

import t from 'tap'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import { type Pages, serving } from '../../capture-runner/stage/page-server.ts'
import { GREEN, isNear, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { atPaths, markup, openStage, page, pathOf } from '../options.ts'

const BOX = '<style>#box { width: 400px; height: 400px; background: #f00 }</style><p>A line.</p><div id="box"></div>'
const script = (text: string) => `<script>${text}</script>`
const green = "box.style.background = '#0f0'"

/** A page with a box, and a rule or a script that makes it green. */
const ruled = (rule: string, text = '') => page('', `<style>${rule}</style>${BOX}${text ? script(text) : ''}`)
const intro = (texts: TemplateStringsArray, ...values: string[]) => ruled('', String.raw({ raw: texts }, ...values))

const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
t.teardown(() => names.close())
const TIMER = pathOf('a timer of 700 ms')
const SHOWN: Pages = {
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
const stage = await openStage(
  t,
  {
    ...atPaths(SHOWN),
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
  },
  { guard: { dnsServers: [names.address] } },
)

const small = { viewportWidth: 800, viewportHeight: 600, stabilityTimeout: 2_000 } satisfies CaptureOptions
const MIDDLE = [200, 250] as const

for (const what of Object.keys(SHOWN)) {
  t.test(`a screenshot shows the end of an intro animation: ${what}`, async (t) => {
    const { pixels, findings } = await stage.shoot(pathOf(what), small)
    t.ok(isNear(pixels.at(...MIDDLE), GREEN), `${pixels.at(...MIDDLE)}`)
    t.strictSame(findings.warnings, [])
  })
}

t.test('a heavy page raised a false alarm, because the comparison saw the middle of its intro animation', async (t) => {
  for (const path of ['/slow-intro', '/slow-frames']) {
    const { pixels, findings } = await stage.shoot(path, { ...small, compareTo: 'scr_00000000000000000000000000' })
    t.ok(isNear(pixels.at(...MIDDLE), GREEN), `${path} ${pixels.at(...MIDDLE)}`)
    t.strictSame(findings.warnings, [], path)
  }
})

t.test('option stability_timeout: 0 takes the screenshot as soon as the page has loaded', async (t) => {
  const { pixels } = await stage.shoot(TIMER, { ...small, stabilityTimeout: 0 })
  t.ok(isNear(pixels.at(...MIDDLE), RED))
  t.ok(isNear((await stage.shoot(TIMER, { ...small, stabilityTimeout: 1_000 })).pixels.at(...MIDDLE), GREEN))
  t.ok(
    isNear(
      (await stage.shoot(pathOf('a timer beside idle frame callbacks'), { ...small, stabilityTimeout: 200 })).pixels.at(...MIDDLE),
      RED,
    ),
    'bounded',
  )
})

t.test('endless animations and idle frame callbacks add no warning', async (t) => {
  for (const path of ['/spinner', '/glow', '/ticker', '/still']) t.strictSame((await stage.shoot(path, small)).findings.warnings, [], path)
})

t.test('a marquee was at another place in each picture', async (t) => {
  for (const options of [small, { ...small, stabilityTimeout: 0, disableAnimations: true }]) {
    const shots = [await stage.shoot('/marquee', options), await stage.shoot('/marquee', { ...options, delay: 300 })]
    for (const { pixels, findings } of shots) {
      t.strictSame([pixels.at(199, 250), pixels.at(201, 250), pixels.at(598, 250), pixels.at(601, 250)], [WHITE, GREEN, GREEN, WHITE])
      t.strictSame(findings.warnings, [])
    }
  }
})

t.test('endless animations were at another place in each picture, and two loads of a comparison agreed by chance', async (t) => {
  const [now, later] = [await stage.shoot('/endless', small), await stage.shoot('/endless', { ...small, delay: 300 })]
  t.ok(now.picture.equals(later.picture))
  t.strictSame([now.pixels.at(250, 50), now.pixels.at(450, 50)], [GREEN, GREEN], 'a cursor is visible, and a slideshow shows one slide')
})

t.test('a page that is never stable is captured at the time limit, with a warning that names what moved', async (t) => {
  const { findings } = await stage.shoot('/restless', { ...small, stabilityTimeout: 500 })
  t.match(findings.warnings, [/^the page was still moving .*canvas/])
})
