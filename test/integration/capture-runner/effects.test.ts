import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { toSnakeCase } from '@tintype/crds/text/words'
import t from 'tap'
import { openStage, page } from '../options/options.ts'
import { GREEN } from './stage/pixels.ts'

// What an action of the client has changed is in the picture, although a full page is scrolled and laid out in other windows after it. Each page is green
// at a point if it is.

/** A tall page with a red box that is green while it has the class `on`. */
const tall = (body: string, script = '', style = '') =>
  page(
    'height:4000px;position:relative',
    `<style>.box { position: absolute; left: 100px; width: 200px; height: 100px; background: #f00 } .on, .green { background: #0f0 } .shut { display: none } ${style}</style>${body}
    <script>const box = document.querySelector('.box'), on = () => box.classList.add('on'), off = () => box.classList.remove('on'); ${script}</script>`,
  )
const LOW = '<div class="box" id="b" style="top:2400px">x</div>'
const HIGH = '<div class="box" id="b" style="top:100px">x</div>'
const HOVERED = '#b:hover, li:hover .box, .box:hover { background: #0f0 }'
const MENU = '<button id="m">Menu</button><ul class="box" id="b" style="top:100px" hidden><li>x</li></ul>'
const closes = (event: string, options = '') =>
  `m.onclick = () => { b.hidden = !b.hidden; on() }; addEventListener('${event}', () => { b.hidden = true; off() }${options})`

/** A menu that the sheet hides. */
const shut = (top = 100) =>
  `<button id="m" style="position:absolute;top:${top - 50}px">Menu</button><div class="box green shut" id="b" style="top:${top}px">x</div>`
const opensBy = (opens: string, closes: string) => `m.onclick = () => { ${opens} }; addEventListener('scroll', () => { ${closes} })`

/** A menu that the pointer opens and leaves closed, and that a scroll closes soon after. */
const entered = (closes: string, opens = "n.classList.add('open')", shuts = "n.classList.remove('open')") =>
  tall(
    '<nav id="n" style="position:absolute;top:50px;left:100px;width:200px;height:50px">Menu<div class="box green shut" style="top:50px;left:0">x</div></nav>',
    `const open = () => { ${opens} }, shut = () => { ${shuts} }; n.onmouseenter = open; n.onmouseleave = shut; addEventListener('scroll', () => ${closes})`,
    '.open div { display: block }',
  )
/** A message beside a number that a click increases. */
const message = (ends: string, style = '', also = 'c.textContent = 1') =>
  tall(
    '<button id="m">Add</button><b id="c">0</b>',
    `m.onclick = () => { ${also}; document.body.insertAdjacentHTML('beforeend', '<div id="t">Added</div>'); ${ends} }; addEventListener('scroll', () => {})`,
    `@keyframes fade { 70% { opacity: 1 } to { opacity: 0; visibility: hidden } } #t { position: fixed; right: 0; bottom: 0; width: 200px; height: 60px; ${style} }`,
  )

const stage = await openStage(t, {
  '/entered-0': entered('setTimeout(shut, 0)'),
  '/entered-120': entered('setTimeout(shut, 120)'),
  '/entered-frame': entered('requestAnimationFrame(shut)'),
  '/entered-debounced': entered('{ clearTimeout(window.later); later = setTimeout(shut, 150) }'),
  '/entered-style': entered('setTimeout(shut, 60)', "box.style.display = 'block'", "box.style.display = 'none'"),
  '/entered-faded': entered(
    'setTimeout(shut, 120)',
    "box.style.cssText += ';display:block;opacity:1'",
    "box.style.cssText += ';transition:opacity .1s;opacity:0'",
  ),
  '/ends-300': message('setTimeout(() => t.remove(), 300)', '', ''),
  '/ends-800': message('setTimeout(() => t.remove(), 800)', '', ''),
  '/ends-beside': message('setTimeout(() => t.remove(), 800)'),
  '/ends-after-sending': message('setTimeout(() => t.remove(), 500)', '', "fetch('/order', { method: 'POST' })"),
  '/ends-faded': message('setTimeout(() => { t.style.opacity = 0 }, 400)', 'transition: opacity .4s'),
  '/ends-animated': message("setTimeout(() => { t.style.animation = 'fade .4s both' }, 600)"),
  // As on a busy machine: the second message is gone before the runner looks.
  '/ends-at-once': message('if (window.again) queueMicrotask(() => t.remove()); again = true', '', 'onscroll = () => window.t?.remove()'),
  '/ends-later': message('setTimeout(() => t.remove(), 2500)'),
  '/hover': tall(LOW, '', HOVERED),
  '/entered': tall(LOW, 'b.onmouseenter = on; b.onmouseleave = off'),
  '/slow-tip': tall(
    LOW,
    'let later; b.onmouseenter = () => { later = setTimeout(on, 200) }; b.onmouseleave = () => { clearTimeout(later); off() }; addEventListener("scroll", off)',
  ),
  '/nested': tall(
    `<ul><li style="position:absolute;top:2000px"><a id="a">x</a><div class="box" style="left:90px;top:400px">x</div></li></ul>`,
    '',
    HOVERED,
  ),
  '/frame': tall(`<iframe src="/inner" style="position:absolute;border:0;top:2300px;left:0;width:600px;height:300px"></iframe>`),
  '/inner': tall(HIGH, '', `body { height: 100px !important } ${HOVERED}`),
  '/shadow': tall(
    '<div id="host"></div>',
    `host.attachShadow({ mode: 'open' }).innerHTML = '<style>div { position:absolute;left:100px;top:2400px;width:200px;height:100px;background:#f00 } div:hover { background:#0f0 }</style><div id="b">x</div>'`,
  ),
  '/closes-on-scroll': tall(MENU, closes('scroll')),
  '/closes-on-resize': tall(MENU, closes('resize')),
  '/closes-soon-after-resize': tall(
    MENU,
    `m.onclick = () => { b.hidden = !b.hidden; on() }; let later; addEventListener('resize', () => { clearTimeout(later); later = setTimeout(() => { b.hidden = true; off() }, 150) })`,
  ),
  '/closes-once': tall(MENU, closes('scroll').replace('!b.hidden; on()', 'false; on(); m.onclick = null')),
  '/added': tall(
    '<button id="m">Menu</button>',
    `m.onclick = () => document.body.insertAdjacentHTML('beforeend', '<div class="box on menu" style="top:100px">x</div>')
    addEventListener('scroll', () => document.querySelector('.menu')?.remove())`,
  ),
  '/focus': tall(
    `<label id="l"><input id="i"></label><div class="box" style="top:100px">x</div>`,
    "addEventListener('scroll', () => document.activeElement.blur())",
    'label:focus-within + .box { background: #0f0 }',
  ),
  '/typed': tall(
    `<input id="i" autofocus>${HIGH}`,
    "i.oninput = () => box.classList.toggle('on', i.value === 'a'); addEventListener('resize', () => { i.value = ''; off() })",
  ),
  '/sent': tall(MENU, closes('scroll').replace('on() }', "on(); fetch('/order', { method: 'POST' }) }")),
  '/order': (_, response) => void response.end(),
  '/blurred': tall('<input id="i">', "addEventListener('scroll', () => { i.blur(); i.disabled = true })"),
  '/script-once': tall(HIGH, "addEventListener('scroll', () => { off(); window.isOver = true })"),
  '/script': tall(HIGH, "addEventListener('scroll', off)"),
  '/accordion': tall(
    '<details><summary id="m">x</summary><div style="height:900px">y</div></details>',
    "addEventListener('scroll', () => { scrolled.textContent = scrollY })",
    '',
  ).replace('<script>', '<i id="scrolled"></i><script>'),
  '/spinner': tall(
    `<button id="m">x</button>${HIGH}<p id="s"></p>`,
    "m.onclick = () => { clicks = (window.clicks ?? 0) + 1; s.className = 'loading'; fetch('/slow.json').then(() => { s.className = ''; clicks === 1 ? on() : off() }) }; addEventListener('scroll', () => {})",
  ),
  '/slow.json': (_, response) => void setTimeout(() => response.end('{}'), 150),
  '/toast': tall(
    `<button id="m">x</button>${HIGH}<p id="s" hidden>Done</p>`,
    'm.onclick = () => { on(); s.hidden = false; setTimeout(() => { s.hidden = true }, 3000) }',
  ),
  '/sticky': tall(
    `<header id="h">x</header>${LOW}`,
    "b.onclick = on; addEventListener('scroll', () => h.classList.toggle('small', scrollY > 100))",
  ),
  '/style': tall(shut(), opensBy("b.style.display = 'block'", "b.style.display = 'none'")),
  '/expanded': tall(shut(), opensBy("m.ariaExpanded = 'true'", "m.ariaExpanded = 'false'"), '[aria-expanded=true] + #b { display: block }'),
  '/renamed': tall(
    shut(),
    opensBy("b.className = 'box green shut is-open'", "b.className = 'box green shut is-closed'"),
    '#b.is-open { display: block }',
  ),
  '/faded': tall(
    shut(),
    opensBy("b.classList.add('open')", "b.classList.remove('open')"),
    '#b { display: block; opacity: 0; visibility: hidden; transition: all .3s } #b.open { opacity: 1; visibility: visible }',
  ),
  '/debounced': tall(
    shut(),
    opensBy("b.style.display = 'block'", "clearTimeout(window.later); later = setTimeout(() => { b.style.display = 'none' }, 150)"),
  ),
  '/beyond': tall(shut(), opensBy("b.style.display = 'block'", "if (scrollY > 1300) b.style.display = 'none'")),
  '/leaves': tall(
    shut(2400),
    "m.onclick = () => { b.style.display = 'block' }; new IntersectionObserver(([{ isIntersecting }]) => { if (!isIntersecting) b.style.display = 'none' }).observe(m)",
  ),
  '/popover': tall(
    '<button id="m" popovertarget="b">x</button><div id="b" popover>x</div>',
    "addEventListener('scroll', () => b.hidePopover())",
    '#b { position: absolute; inset: 100px auto auto 100px; margin: 0; width: 200px; height: 100px; background: #0f0 }',
  ),
  '/panels': tall(
    '<button class="p">x</button><div class="green"></div><button class="p">y</button><div class="green" id="b"></div>',
    "document.querySelectorAll('.p').forEach((p) => { p.onclick = () => p.classList.toggle('open') }); addEventListener('scroll', () => { if (scrollY > 300) document.querySelectorAll('.p').forEach((p) => { p.className = 'p' }) })",
    '.p { display: block; height: 20px } .p + div { height: 0; overflow: hidden } .open + div { height: 100px }',
  ),
  '/low': tall(
    `<div id="w">${shut(2400)}</div>`,
    "m.onclick = () => w.classList.toggle('open'); addEventListener('scroll', () => w.classList.remove('open'))",
    '.open #b { display: block }',
  ),
  '/portal': tall(
    '<button id="m">x</button><p style="margin-top:1900px;opacity:0" id="later">x</p>',
    `m.onclick = () => document.body.insertAdjacentHTML('beforeend', '<div class="box green portal" style="top:100px">x</div>')
    addEventListener('scroll', () => requestAnimationFrame(() => { later.style.opacity = 1; document.querySelector('.portal')?.remove() }))`,
  ),
  '/suggestions': tall(
    '<input id="i" autofocus><div class="shut" id="b">x</div>',
    "i.oninput = () => { b.style.display = 'block' }; i.onblur = () => { b.style.display = 'none' }; addEventListener('scroll', () => i.blur())",
  ),
  '/message': tall(
    '<button id="m">x</button>',
    `m.onclick = () => {
      fetch('/order', { method: 'POST' })
      document.body.insertAdjacentHTML('beforeend', '<div id="t" style="position:fixed;right:0;width:200px">Sent</div>')
      setTimeout(() => t.remove(), 1200)
    }
    addEventListener('scroll', () => {})`,
  ),
  '/short-message': tall(
    '<button id="m">x</button>',
    `m.onclick = () => {
      document.body.insertAdjacentHTML('beforeend', '<div id="t" style="position:fixed;right:0;width:200px">Copied</div>')
      setTimeout(() => t.remove(), 1500)
    }`,
  ),
  '/skeleton': tall(
    '<button id="m">x</button><main id="c"></main>',
    `m.onclick = () => {
      c.innerHTML = '<div style="height:200px">…</div>'
      setTimeout(() => { c.innerHTML = '<p style="height:180px">Text</p>' }, 400)
    }
    addEventListener('scroll', () => {})`,
  ),
  '/chosen': tall(
    '<button id="m">x</button><ul id="b" hidden><li>y</li></ul><p id="c"></p>',
    "m.onclick = () => { b.hidden = false }; m.onkeydown = () => { b.hidden = true; c.textContent = 'y' }; addEventListener('scroll', () => {})",
  ),
  '/slides': tall(
    '<button id="m">x</button><div id="c" style="width:300px;overflow:hidden;white-space:nowrap"></div>',
    `let at = 0; const go = (to) => { at = to; c.innerHTML = '<div style="height:200px">slide ' + at + '</div>' }
    go(0); m.onclick = () => go(at + 1); setInterval(() => go(at + 1), 450); addEventListener('scroll', () => {})`,
  ),
  '/rows': tall(
    [300, 1100, 1900, 2700].map((top) => `<button class="p" style="position:absolute;top:${top}px">x</button><i hidden>y</i>`).join('') +
      '<header id="h" style="position:fixed;top:0">x</header><p id="up" hidden style="position:fixed;bottom:0">Up</p>',
    `document.querySelectorAll('.p').forEach((p) => { p.onclick = () => { p.nextElementSibling.hidden = false } })
    addEventListener('scroll', () => { h.className = scrollY > 100 ? 'small' : ''; up.hidden = scrollY < 100 })`,
    '.small { background: #ff0; opacity: .5 }',
  ),
  '/later-step': tall(
    '<p id="a" hidden>x</p><button id="m">x</button>',
    "m.onclick = () => { a.hidden = true; m.textContent = 'y' }; addEventListener('scroll', () => {})",
  ),
  '/blinking': tall(
    `<p id="c">x</p><button id="m">x</button>`,
    "m.onclick = () => { m.textContent = 'y' }; setInterval(() => { c.style.opacity = c.style.opacity ? '' : 0 }, 130); addEventListener('scroll', () => {})",
  ),
  '/clock': tall(
    `<p id="c"></p>${LOW}`,
    "b.onclick = on; setInterval(() => { c.textContent = performance.now(); c.classList.toggle('odd') }, 100)",
  ),
})
const noted = ({ warnings }: { warnings: string[] }) => warnings.filter((text) => /undid|undone/.test(text))

/** As wide as the clipped areas, because these pages are tall. */
const NARROW = { viewportWidth: 900 }
const low = { fullPage: true, hover: '#b' }
const kept: Record<string, [options: CaptureOptions, y?: number, x?: number]> = {
  '/hover': [low, 2450],
  '/hover#clip': [{ hover: '#b', clipX: 0, clipY: 2000, clipWidth: 900, clipHeight: 900 }, 450],
  '/hover#without-scripts': [{ ...low, javascriptEnabled: false }, 2450],
  '/entered#clip': [{ hover: '#b', clipX: 0, clipY: 2000, clipWidth: 900, clipHeight: 900 }, 450],
  '/slow-tip': [low, 2450],
  '/nested': [{ fullPage: true, hover: '#a' }, 2450, 180],
  ...Object.fromEntries(
    ['0', '120', 'frame', 'debounced', 'style', 'faded'].map((how) => [`/entered-${how}`, [{ fullPage: true, hover: '#n' }, 150]] as const),
  ),
  ...Object.fromEntries(
    ['300', '800', 'at-once', 'beside', 'after-sending', 'faded', 'animated', 'later'].map(
      (how) => [`/ends-${how}`, [{ fullPage: true, click: '#m' }]] as const,
    ),
  ),
  '/frame': [low, 2450],
  '/shadow': [low, 2450],
  '/closes-on-scroll': [{ fullPage: true, click: '#m' }, 150],
  '/closes-on-resize': [{ fullPage: true, click: '#m' }, 150],
  '/closes-soon-after-resize': [{ fullPage: true, click: '#m' }, 150],
  '/added': [{ fullPage: true, click: '#m' }, 150],
  '/focus': [{ fullPage: true, click: '#i' }, 150],
  '/typed': [{ fullPage: true, pressKey: 'a' }, 150],
  '/script': [{ fullPage: true, scripts: "box.classList.add('on')" }, 150],
  '/spinner': [{ fullPage: true, click: '#m' }, 150],
  '/toast': [{ fullPage: true, click: '#m' }, 150],
  '/sticky': [{ fullPage: true, click: '#b' }, 2450],
  '/style': [{ fullPage: true, click: '#m' }, 150],
  '/style#element': [{ selector: 'body', click: '#m' }, 150],
  '/closes-on-resize#element': [{ selector: 'body', click: '#m' }, 150],
  '/style#scripts': [{ fullPage: true, scripts: "b.style.display = 'block'" }, 150],
  '/expanded': [{ fullPage: true, click: '#m' }, 150],
  '/renamed': [{ fullPage: true, click: '#m' }, 150],
  '/faded': [{ fullPage: true, click: '#m' }, 150],
  '/debounced': [{ fullPage: true, click: '#m' }, 150],
  '/beyond': [{ fullPage: true, click: '#m' }, 150],
  '/leaves': [{ fullPage: true, click: '#m' }, 2450],
  '/popover': [{ fullPage: true, click: '#m' }, 150],
  '/panels': [{ fullPage: true, clickAll: '.p' }, 180],
  '/low': [{ fullPage: true, click: '#m' }, 2450],
  '/portal': [{ fullPage: true, click: '#m' }, 150],
  '/message': [{ fullPage: true, click: '#m' }],
  '/short-message': [{ fullPage: true, click: '#m' }],
  '/skeleton': [{ fullPage: true, click: '#m' }],
  '/chosen': [{ fullPage: true, click: '#m', pressKey: 'Enter' }],
  '/slides': [{ fullPage: true, click: '#m' }],
  '/rows': [{ fullPage: true, clickAll: '.p' }],
  '/later-step': [{ fullPage: true, scripts: 'a.hidden = false', click: '#m' }],
  '/blinking': [{ fullPage: true, click: '#m' }],
  '/clock': [{ fullPage: true, click: '#b' }, 2450],
}
t.test('what actions of the client have changed is in the picture of a full page', async (t) => {
  for (const [path, [options, y = 0, x = 150]] of Object.entries(kept)) {
    const { pixels, findings } = await stage.shoot(path, { ...NARROW, ...options })
    if (y > 0) t.strictSame(pixels.at(x, y), GREEN, path)
    t.strictSame(noted(findings), [], path)
  }
})

const lost: Record<string, [options: CaptureOptions, names: string]> = {
  '/closes-once': [{ fullPage: true, click: '#m' }, '#b'],
  '/closes-once#clip': [{ click: '#m', clipX: 0, clipY: 0, clipWidth: 900, clipHeight: 3000 }, '#b'],
  '/sent': [{ fullPage: true, click: '#m' }, '#b'],
  '/blurred': [{ fullPage: true, click: '#i' }, '#i'],
  '/suggestions': [{ fullPage: true, pressKey: 'a' }, '#b'],
  '/script-once': [{ fullPage: true, scripts: "if (!window.isOver) box.classList.add('on')" }, '#b'],
}
t.test('a warning names what the page has undone for good', async (t) => {
  for (const [path, [options, names]] of Object.entries(lost)) {
    const { findings } = await stage.shoot(path, { ...NARROW, ...options })
    const action = Object.keys(options).find((name) => ['click', 'pressKey', 'scripts'].includes(name))
    const sentence = `the page undid what ${toSnakeCase(action ?? '')} had changed, because it was scrolled or laid out again: ${names}. Set full_page_sweep to false`
    t.strictSame(noted(findings), [sentence], path)
  }
  t.equal(stage.seen.filter(({ method }) => method === 'POST').length, 3, 'an action that sends data is not run again')
})
