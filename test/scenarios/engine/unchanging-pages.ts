import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'

// Sixty pages that do not change: fifty with a clock and an advertisement, which their schedules ignore, and ten that draw themselves differently
// each time, of which nothing is ignored.

/** A page that does not change, although no two loads of it are the same. */
export interface UnchangingPage {
  name: string
  html: string
  options: CaptureOptions
}

const WORDS = 'river stone market letter window garden silver morning harbor paper winter bridge candle forest engine'.split(' ')
const text = (seed: number, count: number): string =>
  Array.from({ length: count }, (_, index) => WORDS[(index * 11 + seed * 7 + ((index * index) % 5)) % WORDS.length]).join(' ')

const CONTENTS: readonly ((seed: number) => string)[] = [
  (seed) =>
    `<article style="columns:2;padding:20px;font:17px/1.5 serif"><h2>${text(seed, 4)}</h2><p>${text(seed, 160)}</p><p>${text(seed + 3, 120)}</p></article>`,
  (seed) =>
    `<ul style="display:grid;grid-template-columns:repeat(4,1fr);gap:12px;padding:20px;list-style:none">${Array.from({ length: 12 }, (_, index) => `<li style="border:1px solid #ccc;border-radius:8px;padding:8px"><div style="height:70px;background:linear-gradient(${index * 31 + seed}deg,hsl(${index * 40} 60% 55%),#eee)"></div>${text(index + seed, 3)}<br><b>${index * 7 + 9}.${seed % 10}0</b></li>`).join('')}</ul>`,
  (seed) =>
    `<table border="1" style="margin:20px;border-collapse:collapse;font:13px monospace">${Array.from({ length: 20 }, (_, row) => `<tr>${Array.from({ length: 8 }, (_, column) => `<td>${(row * 37 + column * 91 + seed * 13) % 1_000}`).join('')}`).join('')}</table>`,
  (seed) =>
    `<form style="padding:20px;display:grid;gap:8px;max-width:400px">${Array.from({ length: 6 }, (_, index) => `<label>${text(index + seed, 2)} <input value="${text(index, 1)}"></label>`).join('')}<select><option>one<option>two</select><label><input type="checkbox" checked> yes</label><progress value=".4"></progress><button>Send</button></form>`,
  (seed) =>
    `<canvas id="chart" width="700" height="300" style="margin:20px"></canvas><script>addEventListener('load', () => setTimeout(() => { const c = chart.getContext('2d'); c.strokeStyle = '#06c'; c.lineWidth = 2; c.beginPath(); for (let x = 0; x < 700; x++) c.lineTo(x, 150 + 90 * Math.sin((x + ${seed}) / 40)); c.stroke() }, 300))</script>`,
  (seed) =>
    `<svg width="800" height="320" style="margin:20px">${Array.from({ length: 24 }, (_, index) => `<rect x="${index * 32 + 8}" y="${300 - ((index * 53 + seed * 17) % 260)}" width="20" height="260" rx="4" fill="hsl(${index * 15} 55% 50%)"/>`).join('')}<circle cx="400.5" cy="160.3" r="88.7" fill="none" stroke="#333"/></svg>`,
  (seed) =>
    `<div style="padding:20px"><style>@keyframes in{from{opacity:0;transform:translateY(30px)}to{opacity:1;transform:none}}</style>${Array.from({ length: 5 }, (_, index) => `<p style="animation:in .6s ${index * 0.15}s both;font:20px sans-serif;background:#eef;padding:10px">${text(seed + index, 8)}</p>`).join('')}</div>`,
  (seed) =>
    `<div id="list" style="padding:20px;font:16px sans-serif"></div><script>let n = 0; const add = () => { const p = document.createElement('p'); p.textContent = '${text(seed, 6)} ' + n; list.append(p); if (++n < 8) setTimeout(add, 40 + Math.random() * 60) }; setTimeout(add, Math.random() * 300)</script>`,
  (seed) =>
    `<div style="padding:20px"><i style="display:inline-block;width:32px;height:32px;border:4px solid #ddd;border-top-color:#06c;border-radius:50%;animation:turn 1s linear infinite"></i><style>@keyframes turn{to{transform:rotate(1turn)}}</style><p style="font:18px sans-serif">${text(seed, 50)}</p></div>`,
  (seed) =>
    `<div style="padding:20px;display:flex;gap:10px;flex-wrap:wrap">${Array.from({ length: 8 }, (_, index) => `<img loading="lazy" width="150" height="100" src="/picture?hue=${(seed * 20 + index * 45) % 360}&wait=">`).join('')}<p style="font:15px cursive">${text(seed, 40)}</p></div>`,
]

const CLOCK = `<p id="clock" style="position:absolute;right:10px;top:5px;width:180px;margin:0;font:20px monospace"></p>
<script>const tick = () => { clock.textContent = new Date().toISOString().slice(11, 23) }; tick(); setInterval(tick, 100)</script>`
const ADVERT = `<div id="advert" style="width:300px;height:120px;margin:10px;color:#fff;font:24px sans-serif"></div>
<script>advert.style.background = 'hsl(' + Math.random() * 360 + ' 70% 40%)'; advert.textContent = 'Offer ' + Math.random()</script>`

/** Scripts that draw something else with each load. Each result is new: a choice of three would agree by chance. */
const DRAWS: readonly [string, string][] = [
  [
    'counter of visitors',
    `<p style="font:26px sans-serif">Visitors: <b id="t"></b></p><script>t.textContent = Math.floor(Math.random() * 9e6 + 1e6)</script>`,
  ],
  ['time of the load', `<p style="font:18px monospace" id="t"></p><script>t.textContent = new Date().toISOString()</script>`],
  [
    'random dots',
    `<canvas id="t" width="700" height="300"></canvas><script>const c = t.getContext('2d'); for (let n = 0; n < 300; n++) { c.fillStyle = 'hsl(' + Math.random() * 360 + ' 70% 50%)'; c.fillRect(Math.random() * 690, Math.random() * 290, 6, 6) }</script>`,
  ],
  [
    'shuffled list',
    `<ol id="t" style="font:17px sans-serif"></ol><script>const w = '${text(5, 15)}'.split(' '); t.innerHTML = w.map((x) => [Math.random(), x]).sort((a, b) => a[0] - b[0]).map(([, x]) => '<li>' + x).join('')</script>`,
  ],
  [
    'random identifier',
    `<p style="font:13px monospace">Request <code id="t"></code></p><script>t.textContent = crypto.randomUUID?.() ?? Math.random()</script>`,
  ],
  [
    'random chart',
    `<svg id="t" width="700" height="200"></svg><script>t.innerHTML = Array.from({ length: 30 }, (_, n) => '<rect x="' + n * 23 + '" y="' + Math.random() * 180 + '" width="18" height="200" fill="#4a8"/>').join('')</script>`,
  ],
  [
    'random color',
    `<div id="t" style="width:600px;height:200px"></div><script>t.style.background = 'hsl(' + Math.random() * 360 + ' 60% 60%)'</script>`,
  ],
  [
    'element at a random place',
    `<div style="position:relative;height:300px"><i id="t" style="position:absolute;width:60px;height:60px;background:#c30;border-radius:30px"></i></div><script>t.style.left = Math.random() * 700 + 'px'; t.style.top = Math.random() * 230 + 'px'</script>`,
  ],
  [
    'random words',
    `<blockquote id="t" style="font:22px/1.4 serif;width:600px;height:200px;overflow:hidden"></blockquote><script>const w = '${text(2, 15)}'.split(' '); t.textContent = Array.from({ length: 25 }, () => w[Math.floor(Math.random() * w.length)]).join(' ')</script>`,
  ],
  [
    'moving dots',
    `<canvas id="t" width="700" height="300"></canvas><script>const c = t.getContext('2d'), d = Array.from({ length: 80 }, () => [Math.random() * 700, Math.random() * 300, Math.random() * 4 - 2]); const f = () => { c.clearRect(0, 0, 700, 300); for (const p of d) { p[0] = (p[0] + p[2] + 700) % 700; c.fillRect(p[0], p[1], 5, 5) } requestAnimationFrame(f) }; f()</script>`,
  ],
]

const FORMATS = ['png', 'png', 'jpeg', 'png', 'webp'] as const
const SIZES: readonly CaptureOptions[] = [
  { viewportWidth: 1_000, viewportHeight: 700 },
  { viewportWidth: 1_920, viewportHeight: 1_080 },
  { viewportWidth: 390, viewportHeight: 844, deviceScaleFactor: 3, viewportMobile: true, viewportHasTouch: true },
  { viewportWidth: 1_280, viewportHeight: 800, fullPage: true },
]

const document = (body: string): string =>
  `<!doctype html><meta name="viewport" content="width=device-width"><title>Page</title><body style="margin:0;background:#fff">${body}</body>`
const STEADY = 50
const optionsOf = (index: number): CaptureOptions => ({ ...SIZES[index % SIZES.length], format: FORMATS[index % FORMATS.length]! })

/** The pages, those that draw themselves differently last. */
export const UNCHANGING_PAGES: readonly UnchangingPage[] = [
  ...Array.from({ length: STEADY }, (_, index): UnchangingPage => {
    const parts = [0, 1, 2].map((part) =>
      CONTENTS[(index + part * (1 + Math.floor(index / CONTENTS.length))) % CONTENTS.length]!(index + part),
    )
    return {
      name: `steady ${index}`,
      html: document(`<h1>${text(index, 3)}</h1>${CLOCK}${ADVERT}${[...new Set(parts)].join('')}`),
      options: { ...optionsOf(index), compareIgnore: [{ selector: '#clock' }, { selector: '#advert' }] },
    }
  }),
  ...DRAWS.map(([name, body], index) => ({
    name,
    html: document(`<h1>${text(index, 3)}</h1>${body}<div style="clear:both">${CONTENTS[index % 4]!(index)}</div>`),
    options: optionsOf(index),
  })),
]

/** Pages that never rest. */
export const ENDLESS_PAGES: Readonly<Record<string, string>> = {
  'a page that moves for ever': document(
    `<h1>News</h1><p id="t" style="position:relative;font:20px sans-serif">Ticker</p><script>let x = 0; const f = () => { t.style.left = (x = (x + 3) % 400) + 'px'; requestAnimationFrame(f) }; f()</script><p>${text(1, 80)}</p>`,
  ),
  'a page whose background moves for ever': document(
    `<canvas id="t" width="900" height="500" style="position:fixed;inset:0;z-index:-1"></canvas><script>const c = t.getContext('2d'); let n = 0; const f = () => { c.fillStyle = 'hsl(' + (n += 2) + ' 50% 90%)'; c.fillRect(0, 0, 900, 500); requestAnimationFrame(f) }; f()</script><p>${text(1, 80)}</p>`,
  ),
  'a page that gains content for ever': document(
    `<h1>Log</h1><div id="t"></div><script>let n = 0; setInterval(() => { const p = document.createElement('p'); p.textContent = 'Line ' + ++n; t.append(p) }, 120)</script>`,
  ),
  'a page that loads content for ever': document(
    `<h1>Feed</h1><div id="t"></div><script>const f = async () => { const r = await fetch('/part?' + Math.random()); const p = document.createElement('p'); p.textContent = await r.text(); t.append(p); setTimeout(f, 50) }; f()</script>`,
  ),
  'a page that receives data for ever': document(
    `<h1>Live</h1><b id="t"></b><script>new EventSource('/stream').onmessage = ({ data }) => { t.textContent = data }</script>`,
  ),
}
