// Full pages show content that appears on scroll. Each page here was once captured with missing parts.

import t from 'tap'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { type Pages, serving, servingGreen } from '../../capture-runner/stage/page-server.ts'
import { BLUE, GREEN, isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { atPaths, markup, openStage, page, pathOf } from '../options.ts'

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

/** A part of ten sections that appear when they are seen, each with a lazy image. */
const latePart = Array.from(
  { length: 10 },
  (_, i) =>
    `<section class="late" style="height:300px"><div style="height:200px">Part ${i}</div><img loading="lazy" src="/green.svg?${i}" width="100" height="80"></section>`,
).join('')
const late = (arrive: string) =>
  markup`<style>.late div { opacity: 0; transition: opacity .3s; background: #0f0 } .late.on div { opacity: 1 } img { display: block }</style>
     <main style="min-height:100vh"><p style="height:100px;margin:0">Top</p></main><footer style="height:100px;background:#00f">End</footer><script>
      const watch = new IntersectionObserver((entries) => { for (const entry of entries) if (entry.isIntersecting) entry.target.classList.add('on') })
      const add = (html) => {
        document.querySelector('main').insertAdjacentHTML('beforeend', html)
        for (const section of document.querySelectorAll('.late:not(.on)')) watch.observe(section)
      }
      const part = \`${latePart}\`
      ${arrive}</script>`
const feed = (most: number) =>
  markup`<div id="feed"></div><div id="end">More</div><script>
      let pages = 0
      const add = () => fetch('/part').then(() => {
        pages++
        feed.insertAdjacentHTML('beforeend', '<p style="height:600px;margin:0;background:#0f0">Post</p>'.repeat(2))
        watch.unobserve(end)
        if (pages < ${most}) watch.observe(end)
        else end.textContent = 'The end'
      })
      const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && add())
      watch.observe(end)</script>`
const BACKGROUND = 'background: #f00 linear-gradient(#0f0, #0f0) no-repeat 0 50% / 100% 800px'
/** Bands that are filled while they are near the middle of the window. @param move a statement with the `band`, its `index`, its `shift` in pixels and `isSeen` */
const movedBands = (style: string, move: string) =>
  markup`<style>.band { height: 500px; background: #f00; ${style} }</style>${'<div class="band"><div>Band</div></div>'.repeat(8)}<script>const move = () => {
      for (const [index, band] of document.querySelectorAll('.band').entries()) {
        const { top, height } = band.getBoundingClientRect(), isSeen = top < innerHeight && top + height > 0
        const shift = (top + height / 2 - innerHeight / 2) * .2
        ${move}
      }
    }; addEventListener('scroll', move); addEventListener('resize', move); move()</script>`
const toggled = (condition: string) =>
  markup`<style>${HIDDEN}</style>${sections()}<script>const look = () => {
      for (const section of document.querySelectorAll('section')) section.classList.toggle('on', ${condition})
    }; addEventListener('scroll', look); addEventListener('resize', look); look()</script>`
/** A hero as tall as the window that moves with the scroll, above sections. @param move a statement with the hero `h` */
const movedHero = (style: string, move: string) =>
  markup`<style>#h { height: 100vh; background: #0f0; ${style} } section { height: ${HEIGHT}px; background: #00f; position: relative }</style><div id="h"></div>${sections(5)}<script>
      const move = () => { ${move} }; addEventListener('scroll', move); move()</script>`
/** Sections that scripts show when they are near the top of the window, some time after a scroll. */
const lookedAtLate = (schedule: string) =>
  markup`<style>${HIDDEN}</style>${sections()}<script>
      let timer = 0
      const look = () => {
        timer = 0
        for (const section of document.querySelectorAll('section')) {
          const { top, bottom } = section.getBoundingClientRect()
          if (top < 550 && bottom > 0 && innerHeight < 1000) section.classList.add('on')
        }
      }
      look(); addEventListener('scroll', () => { ${schedule} })</script>`
/** Like AdminLTE 2: a script makes content as tall as the window. */
const filled = (onResize: string) =>
  markup`<div style="overflow-y:auto;background:#0f0"><header style="height:50px"></header><main id="main"><div style="height:700px"></div></main><footer style="height:50px;background:#f00"></footer></div><script>
      const fill = () => { main.style.minHeight = innerHeight - 100 + 'px' }
      fill(); addEventListener('resize', ${onResize})</script>`

/** Twelve sections that appear on scroll. */
const REVEALED: Pages = {
  'sections that appear once': page(
    '',
    `<style>${HIDDEN}</style>${sections()}${observe("if (entry.isIntersecting) entry.target.classList.add('on')")}`,
  ),
  // Like AOS: by scroll events, the window's height and the elements' positions.
  'sections that appear by scroll events': markup`<style>${HIDDEN}</style>${sections()}<script>const look = () => {
      for (const section of document.querySelectorAll('section')) section.classList.toggle('on', section.offsetTop < scrollY + innerHeight - 120 || innerHeight > 3000)
    }; addEventListener('scroll', look); addEventListener('resize', look); look()</script>`,
  'sections on view timelines': markup`<style>${SHOWN} @keyframes in { from { opacity: 0 } to { opacity: 1 } }
      section div { animation: in linear both; animation-timeline: view(); animation-range: entry 0% cover 40% }</style>${sections()}`,
  'sections on scroll timelines': markup`<style>${SHOWN} @keyframes in { from { opacity: 0 } to { opacity: 1 } }
      section div { animation: in linear both; animation-timeline: scroll(root); animation-range: 10px 20px } #s0 div { animation: none }</style>${sections()}`,
  // Like Motion: each animation ends with a style of its own, so one that hides must not end after one that shows.
  'sections that scripts animate each time': markup`<style>${SHOWN} section div { opacity: 0 }</style>${sections()}${observe(
    `const section = entry.target
        if (!entry.isIntersecting && !section.wasSeen) continue
        section.wasSeen = true
        const animation = section.firstChild.animate({ opacity: entry.isIntersecting ? [0, 1] : 0 }, { duration: 800, fill: 'both' })
        animation.finished.then(() => { animation.commitStyles(); animation.cancel() })`,
  )}`,
  'sections at which a script looks 200 ms after a scroll': lookedAtLate('timer ||= setTimeout(look, 200)'),
  'sections at which a script looks in a frame 150 ms after the last scroll': lookedAtLate(
    'clearTimeout(timer); timer = setTimeout(() => requestAnimationFrame(look), 150)',
  ),
  'sections of a page that a timer opens': page(
    '',
    `<p>Soon.</p><script>setTimeout(() => { location.href = '${pathOf('sections that appear once')}' }, 700)</script>`,
  ),
  'sections that appear in the upper 80 % of the window': toggled('section.getBoundingClientRect().top < innerHeight * .8'),
  'sections that appear in the middle half of the window': markup`<style>${HIDDEN}</style>${sections()}<script>
      const watch = new IntersectionObserver((entries) => { for (const entry of entries) entry.target.classList.toggle('on', entry.isIntersecting) }, { rootMargin: '-25%' })
      for (const section of document.querySelectorAll('section')) watch.observe(section)</script>`,
}
/** Bands that move with the scroll. */
const MOVED: Pages = {
  // Each band is filled while it is near the middle of the window.
  parallax: markup`<style>.band { height: 500px; overflow: hidden; position: relative; background: #f00 } .band div { position: absolute; top: -30%; width: 100%; height: 160%; background: #0f0 }</style>
      ${'<div class="band"><div>Band</div></div>'.repeat(8)}<script>const move = () => {
        for (const band of document.querySelectorAll('.band')) {
          const { top, height } = band.getBoundingClientRect()
          band.firstChild.style.transform = 'translateY(' + (top + height / 2 - innerHeight / 2) * .2 + 'px)'
        }
      }; addEventListener('scroll', move); addEventListener('resize', move); move()</script>`,
  'parallax-top': movedBands(
    'position: relative; overflow: hidden',
    "band.firstChild.style.cssText = 'position:absolute;height:800px;width:100%;background:#0f0;top:' + (shift - 150) + 'px'",
  ),
  'parallax-margin': movedBands(
    'overflow: hidden',
    "band.firstChild.style.cssText = 'height:800px;background:#0f0;margin-top:' + (shift - 150) + 'px'",
  ),
  'parallax-background': movedBands(BACKGROUND, "band.style.backgroundPositionY = shift - 150 + 'px'"),
  'parallax-percent': movedBands(BACKGROUND, "band.style.backgroundPosition = '0 ' + (50 - shift / 3) + '%'"),
  'parallax-calc': movedBands(BACKGROUND, "band.style.backgroundPosition = 'left calc(50% + ' + shift + 'px)'"),
  // Like jarallax: bands are filled only while they are in the window.
  'parallax-in-view': markup`<style>.band { height: 500px; overflow: hidden; background: #f00 } .band div { height: 900px; background: #0f0 }</style>
      ${'<div class="band"><div></div></div>'.repeat(8)}<script>const move = () => {
        for (const band of document.querySelectorAll('.band')) {
          const { top, bottom } = band.getBoundingClientRect()
          if (bottom > 0 && top < innerHeight) band.firstChild.style.transform = 'translateY(' + (-200 - (top + 250 - innerHeight / 2) * .3) + 'px)'
        }
      }; addEventListener('scroll', move); addEventListener('resize', move); move()</script>`,
  'parallax-seen': movedBands(BACKGROUND, "if (isSeen) band.style.backgroundPositionY = shift - 150 + 'px'"),
  'parallax-fixed': movedBands(BACKGROUND, "band.style.backgroundPositionY = -150 + scrollY - index * 500 + 'px'"),
  'parallax-two': movedBands(
    `${BACKGROUND}; background-image: linear-gradient(#0f0, #0f0), linear-gradient(#0f0, #0f0)`,
    "band.style.backgroundPosition = '0 ' + (shift - 150) + 'px, 0 ' + (shift - 120) + 'px'",
  ),
  'parallax-curve': movedBands(BACKGROUND, "band.style.backgroundPositionY = -150 - shift * Math.abs(shift) / 60 + 'px'"),
  'parallax-frames': movedBands(
    'background: linear-gradient(#0f0 500px, #f00 0 800px, #0f0 0) no-repeat 0 0 / 100% 1300px',
    "band.style.backgroundPositionY = (scrollY % 1140 > 500) * -800 + 'px'",
  ),
}
/** Heroes that move with the scroll, above sections. */
const HEROES: Pages = {
  'hero-transform': movedHero('', "h.style.transform = 'translate3d(0,' + scrollY / 3 + 'px,0)'"),
  'hero-top': movedHero('position: relative', "h.style.top = scrollY * .4 + 'px'"),
  'hero-variable': movedHero(
    'position: relative; top: calc(var(--scroll) * .5px)',
    "document.documentElement.style.setProperty('--scroll', scrollY)",
  ),
  'hero-fixed': movedHero(
    'position: fixed; top: 0; width: 100%; z-index: -1; margin-bottom: 0',
    "h.style.transform = 'translateY(' + -scrollY * .3 + 'px)'; document.body.style.paddingTop = '600px'",
  ),
}
const stage = await openStage(t, {
  ...atPaths(REVEALED),
  ...atPaths(MOVED),
  ...atPaths(HEROES),
  '/filled': filled('fill'),
  '/filled-late': filled('() => setTimeout(fill, 100)'),
  '/late-0': late('add(part); add(part); add(part)'),
  '/late-timer': late('add(part); setTimeout(() => add(part), 400); setTimeout(() => add(part), 1200)'),
  '/late-fetch': late(
    "add(part); setTimeout(() => fetch('/part').then(() => add(part)), 300); setTimeout(() => fetch('/part').then(() => add(part)), 1050)",
  ),
  '/green.svg': servingGreen(100, 80),
  '/feed': feed(5),
  '/endless': feed(1_000),
  '/reloads': markup`<div style="height:2000px;background:#0f0">Text</div><script>addEventListener('resize', () => location.reload())</script>`,
  '/reloads-on-scroll': markup`<div style="height:2000px;background:#0f0">Text</div><script>addEventListener('scroll', () => location.reload())</script>`,
  '/redraws': markup`<canvas id="chart" width="400" height="2000" style="display:block"></canvas><script>
      const draw = () => { const pen = chart.getContext('2d'); pen.fillStyle = '#0f0'; pen.fillRect(0, 0, 400, 2000) }
      draw(); addEventListener('resize', () => { chart.width = 400; setTimeout(draw, 400) })</script>`,
  '/without-scripts': markup`<style>#note { display: none; height: 100px; background: #f00 } @media (scripting: none) { #note { display: block } }
      @media (scripting: enabled) { #main { background: #0f0 } }</style><noscript>Turn on scripts.</noscript><div id="note"></div><div id="main" style="height:2000px"></div><script>1</script>`,
  '/content-visibility': markup`<style>section { height: ${HEIGHT}px; content-visibility: auto; contain-intrinsic-size: auto ${HEIGHT}px } section div { height: ${HEIGHT}px; background: #0f0 }</style>${sections(25)}`,
  '/fixed-background': page(
    'background: linear-gradient(#0f0, #0f0) fixed',
    `<div style="height:3000px"></div><div style="height:500px;background:linear-gradient(#00f, #00f) fixed"></div>`,
  ),
  '/header': markup`<style>header { position: sticky; top: 0; height: 100px; background: #0f0; transition: background 1.5s } header.away { background: #f00 }</style>
     <header id="bar"></header><div style="height:4000px"></div>
     <script>addEventListener('scroll', () => bar.classList.toggle('away', scrollY > 50))</script>`,
  // Like menus of documentation: highlights the entry of the last section in the window.
  '/marked': markup`<style>${SHOWN} nav { position: fixed; top: 0; left: 0; z-index: 1; width: 300px } a { display: block; height: 40px; background: #00f; transition: background 1s }
      a.active { background: #f00 }</style><nav>${Array.from({ length: SECTIONS }, (_, i) => `<a href="#s${i}">${i}</a>`).join('')}</nav>${sections()}
      <script>let marked
        const mark = () => {
          const inside = [...document.querySelectorAll('section')].filter((section) => section.getBoundingClientRect().bottom < innerHeight)
          marked?.classList.remove('active')
          marked = document.querySelector('a[href="#' + inside.at(-1)?.id + '"]')
          marked?.classList.add('active')
        }
        addEventListener('scroll', mark); addEventListener('resize', mark); mark()</script>`,
  // Like AdminLTE: a taller window makes the side menu smaller, and a script keeps it small.
  '/side-menu': markup`<style>aside { position: absolute; top: 0; left: 0; width: 400px; height: 1300px; background: #0f0 } @media (min-height: 1000px) { aside { height: 500px } }</style>
      <aside id="side"></aside><script>addEventListener('resize', () => { side.style.height = '500px' })</script>`,
  // Like Material for MkDocs: a script gives the part of the menu the height of the window, later than it learns of the size.
  ...Object.fromEntries(
    ['requestAnimationFrame', '((act) => setTimeout(act, 30))', '((act) => setTimeout(act, 300))'].map((later, index) => [
      `/side-part-${index}`,
      markup`<style>main { display: flex } section { height: ${HEIGHT}px; background: #0f0 } aside { width: 100px; overflow-y: auto; align-self: flex-start }</style>
          <main><div style="flex:1">${sections(4)}</div><aside id="side"><p>Chapters</p></aside></main><script>
            const fit = () => { side.style.height = innerHeight - 50 + 'px' }; fit(); addEventListener('resize', () => ${later}(fit))</script>`,
    ]),
  ),
  // Like Node.js' documentation: the header is smaller while it sticks to the window.
  '/pinned': markup`<style>header { position: sticky; top: -1px; background: #f00 } header div { height: 100px } .pinned #more { display: none } section { height: ${HEIGHT}px; background: #0f0 }</style>
      <header id="bar"><div></div><div id="more"></div></header><main>${sections(40)}</main><script>
        new IntersectionObserver(([entry]) => bar.classList.toggle('pinned', entry.intersectionRatio < 1), { threshold: [1] }).observe(bar)</script>`,
  '/fetched': markup`<style>section { height: ${HEIGHT}px } section div { height: ${HEIGHT}px; background: #f00 }</style>${sections(15)}${observe(
    "if (entry.isIntersecting) { watch.unobserve(entry.target); fetch('/part').then(() => { entry.target.firstChild.style.background = '#0f0' }) }",
  )}`,
  '/part': serving('text/plain', 'x', 150),
  '/window-tall': markup`<style>.hero { height: 100vh; background: #f00 } .most { height: 50vh; background: #00f } section { height: ${HEIGHT}px } </style>
     <div class="hero"></div><div class="most"></div><div id="js" style="background:#f00"></div>${sections(4)}
     <script>const fit = () => { js.style.height = innerHeight + 'px' }; addEventListener('resize', fit); fit()</script>`,
  '/late-below-drawing': markup`<style>${HIDDEN}</style><svg style="display:block;width:100%;height:100vh;background:#00f"></svg><main></main><script>
      setTimeout(() => {
        document.querySelector('main').innerHTML = \`${sections(4)}\`
        const watch = new IntersectionObserver((entries) => { for (const entry of entries) if (entry.isIntersecting) entry.target.classList.add('on') })
        for (const section of document.querySelectorAll('section')) watch.observe(section)
      }, 1200)</script>`,
  '/spacing': markup`<div style="position:fixed;inset:0;background:#f00;z-index:-1"></div><main style="margin-top:100vh;background:#0f0">${sections(4)}</main><style>section { height: ${HEIGHT}px }</style>`,
  '/footer-of-window': markup`${'<p style="height:700px;margin:0;background:#0f0">Text</p>'.repeat(2)}<footer style="position:absolute;bottom:0">End</footer>`,
  // Like skrollr: the page is as tall as the scroll that it needs in this window.
  '/page-of-window': markup`<style>${SHOWN}</style>${sections(4)}<script>
      const fit = () => { document.body.style.height = innerHeight + 1400 + 'px' }; addEventListener('resize', fit); fit()</script>`,
  '/canvas-of-window': markup`<canvas id="stars" style="position:fixed;inset:0;z-index:-1"></canvas><div style="height:2000px">Text</div><script>
      const draw = () => {
        stars.width = innerWidth
        stars.height = innerHeight
        const pen = stars.getContext('2d')
        pen.fillStyle = '#0f0'
        pen.fillRect(0, 0, stars.width, stars.height)
      }
      draw(); addEventListener('resize', draw)</script>`,
  '/chart-in-line': markup`<div id="frame" style="height:60vh"><canvas id="chart"></canvas></div><div style="height:2000px;background:#00f">Text</div><script>
      new ResizeObserver(() => {
        chart.width = frame.clientWidth
        chart.height = frame.clientHeight
        setTimeout(() => {
          const pen = chart.getContext('2d')
          pen.fillStyle = '#0f0'
          pen.fillRect(0, 0, chart.width, chart.height)
        }, 60)
      }).observe(frame)</script>`,
})

const full = { fullPage: true, stabilityTimeout: 2_000, viewportWidth: 400, viewportHeight: 600 } satisfies CaptureOptions
const count = async (path: string, options: CaptureOptions = full, total = SECTIONS) => {
  const { pixels, findings } = await stage.shoot(path, options)
  const shown = Array.from({ length: total }, (_, i) => isNear(pixels.at(200, i * HEIGHT + 250), GREEN))
  return { shown: shown.filter(Boolean).length, warnings: findings.warnings }
}

const SEEN = [
  ...Object.keys(REVEALED).map((what) => [what, pathOf(what), SECTIONS] as const),
  ['sections with content-visibility: auto', '/content-visibility', 25],
  ['sections fetched when they are seen', '/fetched', 15],
] as const
for (const [what, path, total] of SEEN) {
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

t.test('complaint: blocks of 100vh are stretched in full pages: they keep the height of the window', async (t) => {
  const { pixels } = await stage.shoot('/window-tall', full)
  t.equal(pixels.height, 600 + 300 + 600 + 4 * HEIGHT)
  t.ok(isNear(pixels.at(200, 599), RED) && isNear(pixels.at(200, 601), BLUE) && isNear(pixels.at(200, 899), BLUE))
})

t.test('a full page is as tall as its content, although a script makes it as tall as the window', async (t) => {
  for (const path of ['/filled', '/filled-late']) {
    const { pixels, findings } = await stage.shoot(path, full)
    t.equal(pixels.height, 50 + 700 + 50, path)
    t.ok(isNear(pixels.at(200, 740), GREEN) && isNear(pixels.at(200, 760), RED))
    t.strictSame(findings.warnings, [])
  }
})

t.test('content that arrived below a drawing as tall as the window was missing, because the drawing filled the tall window', async (t) => {
  const { pixels, findings } = await stage.shoot('/late-below-drawing', full)
  t.equal(pixels.height, 600 + 4 * HEIGHT)
  t.ok(isNear(pixels.at(200, 590), BLUE) && isNear(pixels.at(200, 600 + 3 * HEIGHT + 250), GREEN))
  t.strictSame(findings.warnings, [])
})

t.test('spacing and footers of the window raised a false alarm that the page kept growing', async (t) => {
  for (const [path, height] of [
    ['/spacing', 600 + 4 * HEIGHT],
    ['/footer-of-window', 1_400],
  ] as const) {
    const { pixels, findings } = await stage.shoot(path, full)
    t.equal(pixels.height, height)
    t.strictSame(findings.warnings, [], path)
  }
})

t.test('a full page ended with thousands of empty pixels, because a script made the page itself taller with the window', async (t) => {
  t.equal((await stage.shoot('/page-of-window', full)).pixels.height, 4 * HEIGHT)
  for (const index of [0, 1, 2]) t.equal((await stage.shoot(`/side-part-${index}`, full)).pixels.height, 4 * HEIGHT, `${index}`)
})

t.test('a full page of content that arrives late is that of the same content from the start', async (t) => {
  const { pixels, picture } = await stage.shoot('/late-0', full)
  t.equal(pixels.height, 100 + 30 * 300 + 100)
  t.ok(isNear(pixels.at(200, 100 + 29 * 300 + 100), GREEN) && isNear(pixels.at(50, 100 + 29 * 300 + 240), GREEN))
  for (const [path, delay] of [
    ['/late-timer', 0],
    ['/late-fetch', 0],
    ['/late-fetch', 2_200],
  ] as const) {
    const shot = await stage.shoot(path, { ...full, delay })
    t.strictSame(shot.findings.warnings, [])
    t.ok(shot.picture.equals(picture), `${path} after ${delay}: ${shot.pixels.height} px`)
  }
})

t.test('a full page follows a feed to its end, and warns of one without', async (t) => {
  const { pixels, findings } = await stage.shoot('/feed', full)
  t.ok(pixels.height > 5 * 1_200 || findings.warnings.length > 0, `${pixels.height} px`)
  const endless = await stage.shoot('/endless', full)
  t.match(endless.findings.warnings, [/^the page kept growing when its end was in view/])
})

t.test('a full page shows elements that move with the scroll as in the middle of the window', async (t) => {
  for (const path of Object.keys(atPaths(MOVED))) {
    const { pixels } = await stage.shoot(path, full)
    const empty = Array.from({ length: 8 * 10 }, (_, i) => i * 50 + 25).filter((y) => !isNear(pixels.at(200, y), GREEN))
    t.strictSame(empty, [], path)
  }
})

t.test('a hero that moves with the scroll lay behind the content below it', async (t) => {
  for (const path of Object.keys(atPaths(HEROES))) {
    const { pixels } = await stage.shoot(path, full)
    t.ok([10, 300, 590].every((y) => isNear(pixels.at(200, y), GREEN)) && isNear(pixels.at(200, 690), BLUE), path)
  }
})

t.test('a page that loads again when it is resized or scrolled gives a picture with a warning', async (t) => {
  for (const path of ['/reloads', '/reloads-on-scroll']) {
    const { pixels, findings } = await stage.shoot(path, full)
    t.equal(pixels.height, 2_000)
    t.ok(isNear(pixels.at(200, 1_900), GREEN))
    t.match(findings.warnings, [/^the page navigated or loaded again while it was prepared/], path)
  }
})

t.test('a page that redraws when it is resized is drawn, with and without a wait', async (t) => {
  for (const stabilityTimeout of [0, 2_000]) {
    const { pixels } = await stage.shoot('/redraws', { ...full, stabilityTimeout })
    t.ok(isNear(pixels.at(200, 1_900), GREEN), `${stabilityTimeout}`)
  }
})

t.test('a canvas that a script makes as large as the window keeps its width', async (t) => {
  const { pixels } = await stage.shoot('/canvas-of-window', full)
  t.ok(isNear(pixels.at(390, 10), GREEN) && isNear(pixels.at(390, 590), GREEN))
})

t.test('a chart in a line of text does not grow again and again', async (t) => {
  const { pixels } = await stage.shoot('/chart-in-line', full)
  t.equal(pixels.height, 2_360)
  t.ok(isNear(pixels.at(200, 180), GREEN))
})

t.test('a full page shows nothing that is for browsers without scripts', async (t) => {
  const { pixels } = await stage.shoot('/without-scripts', full)
  t.equal(pixels.height, 2_000)
  t.ok(isNear(pixels.at(200, 50), GREEN))
})
