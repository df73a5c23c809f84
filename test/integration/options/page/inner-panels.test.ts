// Pages as tall as the window, where a part scrolls instead of the page.

import { createServer } from 'node:http'
import t from 'tap'
import { serving } from '../../capture-runner/stage/page-server.ts'
import { BLUE, GREEN, isNear } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page } from '../options.ts'

const shell = (panel: string) => page('height:100vh;display:flex', `<nav style="width:200px;flex:none;background:#00f">Menu</nav>${panel}`)
const tall = '<div style="height:5000px">Much to read.</div>'
const words = '<p style="margin:0;height:500px">What the harbor has to say of the boats that come and go each day.</p>'.repeat(10)
/** 2,100 px: green, white, and blue at the end. */
const parts = ['#0f0', '#fff', '#00f'].map((color) => `<div style="height:700px;background:${color}"></div>`).join('')
const inner = `<!doctype html><body style="margin:0"><p style="position:absolute">Text</p>${parts}</body>`
const shyParts = parts.replaceAll('style="', 'class="part" style="opacity:0;transform:translateY(60px);')
/** 2,100 px in 21 rows, which appear when they are in the middle of a part that scrolls. */
const shyRows = ['#0f0', '#fff', '#00f'].map((color) => `<div style="height:100px;opacity:0;background:${color}"></div>`.repeat(7)).join('')
/** A script that shows parts at the scroll positions at which they are in the middle of a scroller. */
const showing = (scroller: string) => `<script>
  const show = () => {
    for (const part of document.querySelectorAll('.part')) {
      const { top, bottom } = part.getBoundingClientRect()
      const height = ${scroller}.clientHeight ?? innerHeight
      if (top < height * 0.7 && bottom > height * 0.3) part.style.cssText += ';opacity:1;transform:none'
    }
  }
  ${scroller}.addEventListener('scroll', show)
  show()
</script>`
/** A scrolling list, as beside a page's content. */
const list = '<div style="width:300px;height:200px;overflow-y:auto"><div style="height:900px">Names</div></div>'
const rows = (count: number) => Array.from({ length: count }, (_, i) => `<p style="height:40px;margin:0">Row ${i}</p>`).join('')
const component = (style: string, html: string) =>
  `<app-shell></app-shell><script>document.querySelector('app-shell').attachShadow({ mode: 'open' }).innerHTML = \`<style>${style}</style>${html}\`</script>`
const styled = (style: string, body: string) => page('', body, `<style>${style}</style>`)

/** Rows that a part adds when its end comes near, in pages of 1,400 px. */
const feed = (most: number, trigger: string, load: string) =>
  markup`<main id="panel" style="height:100vh;overflow-y:auto"><div id="feed"></div><div id="end" style="height:1px"></div></main><script>
      let pages = 0, isBusy = false
      const show = () => { pages++; isBusy = false; feed.insertAdjacentHTML('beforeend', '<p style="height:140px;margin:0">Post</p>'.repeat(10)) }
      const add = () => { if (!isBusy && pages < ${most}) { isBusy = true; ${load} } }
      show()
      ${trigger}</script>`
const onScroll = "panel.addEventListener('scroll', () => { if (panel.scrollTop + panel.clientHeight > panel.scrollHeight - 200) add() })"
const onSight = `const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && add(), { root: panel, rootMargin: '200px' })
  watch.observe(end)
  new MutationObserver(() => { watch.unobserve(end); watch.observe(end) }).observe(feed, { childList: true })`
const byTimer = 'setTimeout(show, 250)'
const byRequest = "fetch('/rows-of-feed').then(show)"

const foreign = createServer(({ url }, response) => {
  const body =
    url === '/clear' ? '' : url === '/shell' ? `<body style="margin:0"><main style="height:100vh;overflow:auto">Text${parts}</main>` : inner
  response.setHeader('content-type', 'text/html').end(body)
})
await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.2', resolve))
t.teardown(() => foreign.close())
const { port } = foreign.address() as { port: number }
const foreignFrame = `<body style="margin:0"><iframe src="http://127.0.0.2:${port}/" id="portal" style="display:block;width:100%;height:100vh;border:0"></iframe>`

const stage = await openStage(t, {
  '/body': styled('html { height:100%; overflow:hidden } body { height:100%; overflow-y:auto }', parts),
  '/both': styled('html, body { height:100%; overflow-x:hidden }', parts),
  '/quirks': `<style>html, body { height:100%; margin:0; overflow:auto }</style>${parts}`,
  '/main': shell(`<main style="flex:1;overflow-y:auto">${parts}</main>`),
  '/fixed': page('', `<div style="position:fixed;inset:0;overflow:auto">${parts}</div>`),
  '/under-header': page('', `<header style="height:60px;background:#0f0"></header><div style="height:100vh;overflow:auto">${parts}</div>`),
  '/under-large-header': page('', `<header style="height:200px">Top</header><div style="height:100vh;overflow:auto">${parts}</div>`),
  '/moved': markup`<div style="position:fixed;inset:0;overflow:hidden"><div id="content">${parts.replaceAll('</div>', 'Text</div>')}</div></div><script>
      const fit = () => { document.body.style.height = content.offsetHeight + 'px' }
      const move = () => { content.style.transform = 'translateY(' + -scrollY + 'px)' }
      addEventListener('resize', fit)
      addEventListener('scroll', move)
      fit()</script>`,
  '/grid': page(
    'display:grid;grid-template-rows:auto 1fr auto;height:100vh',
    `<i>Top</i><main style="overflow:auto">${parts}</main><i>End</i>`,
  ),
  '/component': page('', component('main { height:100vh; overflow:auto }', `<main>${parts}</main>`)),
  '/slotted': markup`<app-shell>${parts}</app-shell><script>document.querySelector('app-shell').attachShadow({ mode: 'open' }).innerHTML = '<div style="height:100vh;overflow:auto;contain:strict"><slot></slot></div>'</script>`,
  '/frame': page('', '<iframe src="/inner" style="display:block;width:100%;height:100vh;border:0"></iframe>'),
  '/srcdoc': page('', `<iframe srcdoc='${inner}' style="position:fixed;inset:0;width:100%;height:100%;border:0"></iframe>`),
  '/frame-of-shell': page('', '<iframe src="/main" style="display:block;width:100%;height:100vh;border:0"></iframe>'),
  '/middle-of-part': markup`<main id="panel" style="height:100vh;overflow-y:auto;padding:0">${shyRows}</main><script>
      const watch = new IntersectionObserver((entries) => { for (const { isIntersecting, target } of entries) if (isIntersecting) target.style.opacity = 1 },
        { root: panel, rootMargin: '-25% 0px' })
      for (const row of panel.children) watch.observe(row)</script>`,
  '/late': markup`<script>setTimeout(() => { document.body.innerHTML = '<main style="height:100vh;overflow:auto">${parts}</main>' }, 700)</script>`,
  '/frame-in-frame': markup`<iframe srcdoc='<body style="margin:0"><iframe src="/inner" style="display:block;width:100%;height:100vh;border:0"></iframe>' style="display:block;width:100%;height:100vh;border:0"></iframe>`,
  '/object': page('', '<object data="/inner" type="text/html" style="display:block;width:100%;height:100vh"></object>'),
  '/closed': page('', component('main { height:100vh; overflow:auto }', `<main>${parts}</main>`).replace("'open'", "'closed'")),
  // Its parts are clear until they have been in the middle of the window. Until then, they are lower.
  '/scrolled': page('', `<main style="height:100vh;overflow:auto">${shyParts}</main>${showing("document.querySelector('main')")}`),
  '/scrolled-frame': page('', '<iframe src="/shy" style="display:block;width:100%;height:100vh;border:0"></iframe>'),
  '/shy': page('', shyParts + showing('window')),
  '/below-frame': markup`<main style="height:100vh;overflow:auto">${parts}</main><iframe src="http://127.0.0.2:${port}/clear" style="position:fixed;inset:0;width:100%;height:100%;border:0;pointer-events:none"></iframe>`,
  '/inner': inner,
  '/feed-scroll': feed(3, onScroll, byTimer),
  '/feed-scroll-endless': feed(1_000, onScroll, byRequest),
  '/feed-sight': feed(3, onSight, byRequest),
  '/feed-sight-endless': feed(1_000, onSight, byTimer),
  '/rows-of-feed': serving('text/plain', 'x', 150),
  // What stays as it is.
  '/rows': markup`<div id="list" style="height:100vh;overflow:auto"><div style="height:40000px;position:relative"><div style="position:absolute">${rows(20)}</div></div></div>`,
  '/editor': page('', `<div id="text" style="height:100vh;overflow:auto" contenteditable>${tall}</div>`),
  '/dialog': markup`<div role="dialog" style="position:fixed;inset:20px"><div id="terms" style="height:100%;overflow:auto">${tall}</div></div>`,
  '/panes': page(
    'display:flex;height:100vh',
    `<div style="flex:2;overflow:auto">${tall}</div><div id="mail" style="flex:3;overflow:auto">${tall}</div>`,
  ),
  '/foreign': page('', foreignFrame),
  '/foreign-shell': page('', foreignFrame.replace('/"', '/shell"')),
  '/foreign-inside': page('', '<iframe src="/under-bar" id="own" style="display:block;width:100%;height:100vh;border:0"></iframe>'),
  '/under-bar': page('', `<header style="height:60px">Bar</header>${foreignFrame.replace('100vh', 'calc(100vh - 60px)')}`),
  '/wheel': markup`<main id="app" style="height:100vh;overflow:hidden"><div id="content">${parts.replaceAll('</div>', 'Text</div>')}</div></main><script>
      let y = 0
      addEventListener('wheel', ({ deltaY }) => {
        y = Math.max(0, Math.min(content.offsetHeight - innerHeight, y + deltaY))
        content.style.transform = 'translateY(' + -y + 'px)'
      })</script>`,
  '/small-frame': page('', `<p>Terms</p><iframe srcdoc='${words}' id="terms" style="width:45vw;height:45vh"></iframe>`),
  '/small-part': page('', `<p>Terms</p><div id="terms" style="width:45vw;height:45vh;overflow:auto">${words}</div>`),
  '/clipped': shell(`<main style="flex:1;overflow-y:hidden">${tall}</main>`),
  '/sample': page('', `<p>Code</p><pre style="width:45vw;height:45vh;overflow:auto"><code>${'Line\n'.repeat(200)}</code></pre>`),
  '/chat': markup`<p>Shop</p><div style="position:fixed;right:0;bottom:0;width:45vw;height:45vh"><div style="height:100%;overflow:auto">${tall}</div></div>`,
  '/drawer': markup`<div style="position:relative;height:100vh;overflow:hidden"><p>Text</p><div style="position:absolute;top:100%;height:100%"><p>More</p></div></div>
      <script>addEventListener('wheel', () => {})</script>`,
  '/hidden': shell(`<main style="flex:1">Short.</main><div style="position:fixed;inset:0;visibility:hidden;overflow-y:auto">${tall}</div>`),
  '/list': shell(`<main style="flex:1">${list}</main>`),
  '/page': page('', `${list}${tall}`),
})
const small = { viewportWidth: 800, viewportHeight: 600, fullPage: true } as const

for (const [path, height, what] of [
  ['/body', 2_100, 'the body'],
  ['/both', 2_100, 'the body, where both elements clip their sides'],
  ['/quirks', 2_100, 'the body in quirks mode'],
  ['/main', 2_100, 'a part beside a menu'],
  ['/fixed', 2_100, 'a fixed part'],
  ['/under-header', 2_160, 'a part as tall as the window below a header'],
  ['/under-large-header', 2_300, 'a part as tall as the window below a header of a third of it'],
  ['/moved', 2_100, 'a fixed part that scripts move with the scroll'],
  ['/grid', 2_140, 'a row of a grid'],
  ['/component', 2_100, 'a part in a shadow root'],
  ['/slotted', 2_100, 'a part in a shadow root around the content'],
  ['/frame', 2_100, 'a frame'],
  ['/srcdoc', 2_100, 'a frame with its own markup'],
  ['/frame-of-shell', 2_100, 'a part of a frame'],
  ['/frame-in-frame', 2_100, 'a frame in a frame'],
  ['/object', 2_100, 'an object'],
  ['/below-frame', 2_100, 'a part below a clear frame of another origin'],
  ['/closed', 2_100, 'a part in a closed root'],
  ['/scrolled', 2_100, 'a part that shows its content on scroll'],
  ['/scrolled-frame', 2_100, 'a frame that shows its content on scroll'],
  ['/middle-of-part', 2_100, 'a part that shows its content in its middle'],
  ['/late', 2_100, 'a part that a timer adds'],
] as const) {
  t.test(`a full page shows all that scrolls instead of the page: ${what}`, async (t) => {
    const { pixels, findings } = await stage.shoot(path, small)
    t.ok(Math.abs(pixels.height - height) <= 10, `${pixels.height} px`)
    t.ok(isNear(pixels.at(700, pixels.height - 2_100 + 300), GREEN) && isNear(pixels.at(700, pixels.height - 100), BLUE))
    t.strictSame(findings.warnings, [])
  })
}

for (const [path, part, why] of [
  ['/rows', 'div#list', 'draws only the rows in view. Use a taller viewport.'],
  ['/editor', 'div#text', 'is an editor. Use a taller viewport.'],
  ['/dialog', 'div#terms', 'is in a dialog. Name the part in full_page_scroll_container to capture all of it.'],
  ['/panes', 'div#mail', 'is one of several panes. Name the part in full_page_scroll_container to capture all of it.'],
  ['/foreign', 'iframe#portal', 'is a frame of another origin. Capture the URL of the frame instead.'],
  ['/foreign-shell', 'iframe#portal', 'is a frame of another origin. Capture the URL of the frame instead.'],
  ['/foreign-inside', 'iframe#portal', 'is a frame of another origin. Capture the URL of the frame instead.'],
  [
    '/wheel',
    'main#app',
    'hides text that scripts may show on wheel events. Name the part in full_page_scroll_container to capture all of it.',
  ],
] as const) {
  t.test(`a full page that shows one window of a part names it: ${part} ${why}`, async (t) => {
    const { pixels, findings } = await stage.shoot(path, small)
    t.equal(pixels.height, 600)
    t.strictSame(findings.warnings, [`the picture shows one window: ${part} ${why}`])
  })
}

// proves: full_page_scroll_container
t.test('full_page_scroll_container none leaves the page as it is, auto unfolds smaller parts too', async (t) => {
  const none = await stage.shoot('/main', { ...small, fullPageScrollContainer: 'none' })
  t.strictSame([none.pixels.height, none.findings.warnings], [600, []])
  t.equal((await stage.shoot('/list', { ...small, fullPageScrollContainer: 'auto' })).pixels.height, 900)
})

// proves: full_page_scroll_container
t.test('the part that a warning names is captured whole if full_page_scroll_container names it', async (t) => {
  for (const [path, part, height] of [
    ['/wheel', 'main#app', 2_100],
    ['/small-frame', 'iframe#terms', 5_075],
    ['/small-part', 'div#terms', 5_050],
  ] as const) {
    const { pixels, findings } = await stage.shoot(path, { ...small, fullPageScrollContainer: part })
    t.ok(Math.abs(pixels.height - height) <= 10, `${path}: ${pixels.height} px`)
    t.strictSame(findings.warnings, [], path)
  }
})

for (const [path, how] of [
  ['/feed-scroll', 'with a scroll listener and a timer'],
  ['/feed-sight', 'with an observer and requests'],
] as const) {
  t.test(`a full page follows a feed in a part that scrolls instead of the page, and warns of one without end: ${how}`, async (t) => {
    const { pixels, findings } = await stage.shoot(path, small)
    t.equal(pixels.height, 4_201)
    t.strictSame(findings.warnings, [])
    const endless = await stage.shoot(`${path}-endless`, small)
    t.ok(endless.findings.warnings.some((warning) => warning.startsWith('the page kept growing when its end was in view')))
  })
}

t.test('there is no warning if the page itself scrolls, the panel is small or does not scroll, or without full_page', async (t) => {
  for (const path of ['/page', '/list', '/sample', '/chat', '/drawer', '/clipped', '/hidden'])
    t.strictSame((await stage.shoot(path, small)).findings.warnings, [], path)
  t.strictSame((await stage.shoot('/rows', { ...small, fullPage: false })).findings.warnings, [])
})
