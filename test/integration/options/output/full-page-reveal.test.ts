// Full pages show content that appears on scroll. Each page here was once captured with missing parts.

import t from 'tap'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { BLUE, GREEN, isNear, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options.ts'

const SECTIONS = 12
const HEIGHT = 500
const sections = (count = SECTIONS) =>
  Array.from({ length: count }, (_, i) => `<section id="s${i}"><div>Section ${i}</div></section>`).join('')
const SHOWN = `section { height: ${HEIGHT}px; overflow: hidden } section div { height: ${HEIGHT}px; background: #0f0 }`
const HIDDEN = `${SHOWN} section div { opacity: 0; transition: opacity .4s, transform .4s; transform: translateY(40px) } section.on div { opacity: 1; transform: none }`
const observe = (act: string) => `<script>
  const watch = new IntersectionObserver((entries) => { for (const entry of entries) { ${act} } })
  for (const section of document.querySelectorAll('section')) watch.observe(section)
</script>`

const stage = await openStage(t, {
  '/once': page('', `<style>${HIDDEN}</style>${sections()}${observe("if (entry.isIntersecting) entry.target.classList.add('on')")}`),
  '/reset': page('', `<style>${HIDDEN}</style>${sections()}${observe("entry.target.classList.toggle('on', entry.isIntersecting)")}`),
  // Like AOS: by scroll events, the window's height and the elements' positions.
  '/by-scroll': page(
    '',
    `<style>${HIDDEN}</style>${sections()}<script>const look = () => {
      for (const section of document.querySelectorAll('section')) section.classList.toggle('on', section.offsetTop < scrollY + innerHeight - 120 || innerHeight > 3000)
    }; addEventListener('scroll', look); addEventListener('resize', look); look()</script>`,
  ),
  '/view-timeline': page(
    '',
    `<style>${SHOWN} @keyframes in { from { opacity: 0 } to { opacity: 1 } }
      section div { animation: in linear both; animation-timeline: view(); animation-range: entry 0% cover 40% }</style>${sections()}`,
  ),
  '/content-visibility': page(
    '',
    `<style>section { height: ${HEIGHT}px; content-visibility: auto; contain-intrinsic-size: auto ${HEIGHT}px } section div { height: ${HEIGHT}px; background: #0f0 }</style>${sections(25)}`,
  ),
  '/fixed-background': page(
    'background: linear-gradient(#0f0, #0f0) fixed',
    `<div style="height:3000px"></div><div style="height:500px;background:linear-gradient(#00f, #00f) fixed"></div>`,
  ),
  '/header': page(
    '',
    `<style>header { position: sticky; top: 0; height: 100px; background: #0f0; transition: background 1.5s } header.away { background: #f00 }</style>
     <header id="bar"></header><div style="height:4000px"></div>
     <script>addEventListener('scroll', () => bar.classList.toggle('away', scrollY > 50))</script>`,
  ),
  // Like menus of documentation: highlights the entry of the last section in the window.
  '/marked': page(
    '',
    `<style>${SHOWN} nav { position: fixed; top: 0; left: 0; z-index: 1; width: 300px } a { display: block; height: 40px; background: #00f; transition: background 1s }
      a.active { background: #f00 }</style><nav>${Array.from({ length: SECTIONS }, (_, i) => `<a href="#s${i}">${i}</a>`).join('')}</nav>${sections()}
      <script>let marked
        const mark = () => {
          const inside = [...document.querySelectorAll('section')].filter((section) => section.getBoundingClientRect().bottom < innerHeight)
          marked?.classList.remove('active')
          marked = document.querySelector('a[href="#' + inside.at(-1)?.id + '"]')
          marked?.classList.add('active')
        }
        addEventListener('scroll', mark); addEventListener('resize', mark); mark()</script>`,
  ),
  // Like AdminLTE: a taller window makes the side menu smaller, and a script keeps it small.
  '/side-menu': page(
    '',
    `<style>aside { position: absolute; top: 0; left: 0; width: 400px; height: 1300px; background: #0f0 } @media (min-height: 1000px) { aside { height: 500px } }</style>
      <aside id="side"></aside><script>addEventListener('resize', () => { side.style.height = '500px' })</script>`,
  ),
  // Like Node.js' documentation: the header is smaller while it sticks to the window.
  '/pinned': page(
    '',
    `<style>header { position: sticky; top: -1px; background: #f00 } header div { height: 100px } .pinned #more { display: none } section { height: ${HEIGHT}px; background: #0f0 }</style>
      <header id="bar"><div></div><div id="more"></div></header><main>${sections(40)}</main><script>
        new IntersectionObserver(([entry]) => bar.classList.toggle('pinned', entry.intersectionRatio < 1), { threshold: [1] }).observe(bar)</script>`,
  ),
  '/fetched': page(
    '',
    `<style>section { height: ${HEIGHT}px } section div { height: ${HEIGHT}px; background: #f00 }</style>${sections(15)}${observe(
      "if (entry.isIntersecting) { watch.unobserve(entry.target); fetch('/part').then(() => { entry.target.firstChild.style.background = '#0f0' }) }",
    )}`,
  ),
  '/part': (_, response) => {
    setTimeout(() => response.end('x'), 150)
  },
  '/window-tall': page(
    '',
    `<style>.hero { height: 100vh; background: #f00 } .most { height: 50vh; background: #00f } section { height: ${HEIGHT}px } </style>
     <div class="hero"></div><div class="most"></div><div id="js" style="background:#f00"></div>${sections(4)}
     <script>const fit = () => { js.style.height = innerHeight + 'px' }; addEventListener('resize', fit); fit()</script>`,
  ),
  '/canvas-fits': page(
    '',
    `<canvas id="map" style="display:block;width:100vw;height:100vh"></canvas><p style="position:absolute;top:0">A map.</p><script>
      const draw = () => { map.width = innerWidth; map.height = innerHeight; const pen = map.getContext('2d'); pen.fillStyle = '#0f0'; pen.fillRect(0, 0, 9999, 9999) }
      draw(); let resized = 0; addEventListener('resize', () => { map.width = map.width; setTimeout(draw, 300) })</script>`,
  ),
  '/bar': page(
    '',
    '<div style="position:fixed;bottom:0;height:50px;width:100%;background:#f00"></div><div style="height:3000px;background:#0f0"></div>',
  ),
})

const full = { fullPage: true, stabilityTimeout: 2_000, viewportWidth: 400, viewportHeight: 600 } satisfies CaptureOptions
const count = async (path: string, options: CaptureOptions = full, total = SECTIONS) => {
  const { pixels, findings } = await stage.shoot(path, options)
  const shown = Array.from({ length: total }, (_, i) => isNear(pixels.at(200, i * HEIGHT + 250), GREEN))
  return { shown: shown.filter(Boolean).length, warnings: findings.warnings }
}

for (const [path, what, total] of [
  ['/once', 'sections that appear once', SECTIONS],
  ['/reset', 'sections that hide again when they are left', SECTIONS],
  ['/by-scroll', 'sections that appear by scroll events', SECTIONS],
  ['/view-timeline', 'sections on view timelines', SECTIONS],
  ['/content-visibility', 'sections with content-visibility: auto', 25],
  ['/fetched', 'sections fetched when they are seen', 15],
] as const) {
  t.test(`a full page contains content that appears on scroll: ${what}`, async (t) => {
    t.strictSame(await count(path, full, total), { shown: total, warnings: [] })
  })
}

t.test('fixed backgrounds reach the end of a full page', async (t) => {
  const { pixels } = await stage.shoot('/fixed-background', full)
  for (const y of [100, 900, 2_900]) t.ok(isNear(pixels.at(200, y), GREEN), `${y}`)
  t.ok(isNear(pixels.at(200, 3_200), BLUE))
})

t.test('a header has finished its transition after the return to the top', async (t) => {
  const { pixels } = await stage.shoot('/header', full)
  t.strictSame(pixels.at(200, 50).slice(0, 3), GREEN)
})

t.test('a full page highlights the menu entry of the top section', async (t) => {
  const { pixels } = await stage.shoot('/marked', full)
  const marked = Array.from({ length: SECTIONS }, (_, i) => i).filter((i) => !isNear(pixels.at(200, 40 * i + 5), BLUE))
  t.strictSame(marked, [0])
})

t.test('a side menu taller than the window is complete, although a script reacted to the tall window', async (t) => {
  const { pixels } = await stage.shoot('/side-menu', full)
  t.equal(pixels.height, 1_300)
  t.ok(isNear(pixels.at(200, 1_290), GREEN))
})

t.test('a header that shrinks on scroll has its full size', async (t) => {
  const { pixels } = await stage.shoot('/pinned', full)
  t.ok(isNear(pixels.at(200, 190), RED) && isNear(pixels.at(200, 210), GREEN))
  t.equal(pixels.height, 200 + 40 * HEIGHT)
})

t.test('blocks as tall as the window are not stretched by the tall window', async (t) => {
  const { pixels } = await stage.shoot('/window-tall', full)
  t.equal(pixels.height, 600 + 300 + 600 + 4 * HEIGHT)
  t.ok(isNear(pixels.at(200, 599), RED) && isNear(pixels.at(200, 601), BLUE) && isNear(pixels.at(200, 899), BLUE))
})

t.test('a canvas stays visible in a full page that fits the window', async (t) => {
  const { pixels } = await stage.shoot('/canvas-fits', full)
  t.ok(isNear(pixels.at(200, 300), GREEN))
})

t.test('fixed elements appear once, also after the tall window', async (t) => {
  const { pixels } = await stage.shoot('/bar', full)
  t.ok(isNear(pixels.at(200, 575), GREEN) && isNear(pixels.at(200, 2_990), RED))
  t.notOk(isNear(pixels.at(200, 300), WHITE))
})
