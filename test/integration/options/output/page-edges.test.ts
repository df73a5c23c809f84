import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t from 'tap'
import { BLUE, GREEN, isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page } from '../options.ts'

// Elements at the edges of the window in a full page, and in an element or a region that is taller than it. Each column has one, over green content with
// a blue end.

const COLUMN = 40
const [WIDTH, WINDOW_HEIGHT, HEIGHT] = [800, 600, 3_000]

/** Where the red part of a column is in the picture: its first row, and its height. */
interface Column {
  what: string
  /** Has `LEFT` in place of its left edge. */
  html: string
  at: readonly [top: number, height: number]
  options?: 'hidden'
}

const RED_BAR = 'left:LEFTpx;width:40px;background:#f00;'
const AT_END = [HEIGHT - 80, 80] as const

const columns: readonly Column[] = [
  { what: 'a cookie bar', html: `<div style="position:fixed;bottom:0;height:80px;${RED_BAR}"></div>`, at: AT_END },
  { what: 'a chat button', html: `<div style="position:fixed;bottom:20px;height:60px;${RED_BAR}"></div>`, at: [HEIGHT - 80, 60] },
  { what: 'a bar by its top', html: `<div style="position:fixed;top:calc(100vh - 80px);height:80px;${RED_BAR}"></div>`, at: AT_END },
  {
    what: 'a bar moved up by a transform',
    html: `<div style="position:fixed;top:100%;transform:translateY(-100%);height:80px;${RED_BAR}"></div>`,
    at: AT_END,
  },
  {
    what: 'a bar in a component',
    html: `<div><template shadowrootmode="open"><div style="position:fixed;bottom:0;height:80px;${RED_BAR}"></div></template></div>`,
    at: AT_END,
  },
  {
    what: 'a message in a wrapper that fills the window',
    html: `<div style="position:fixed;inset:0;pointer-events:none"><div style="position:absolute;bottom:0;height:80px;${RED_BAR}"></div></div>`,
    at: AT_END,
  },
  {
    what: 'a wrapper without height',
    html: `<div style="position:fixed;bottom:0;left:0;height:0"><div style="position:absolute;bottom:0;height:80px;${RED_BAR}"></div></div>`,
    at: AT_END,
  },
  {
    what: 'a bar with a margin and a transition',
    html: `<div style="position:fixed;bottom:0;margin-bottom:10px;height:70px;transition:all 3s;${RED_BAR}"></div>`,
    at: [HEIGHT - 80, 70],
  },
  {
    what: 'a bar of important rules',
    html: `<style>#firm { position: fixed !important; top: auto !important; bottom: 0 !important; height: 80px }</style><div id="firm" style="${RED_BAR}"></div>`,
    at: AT_END,
  },
  {
    what: 'a fixed bar in a transformed parent, which scrolls with the page',
    html: `<div style="transform:translateX(0);position:absolute;top:0;left:0;width:100%;height:1000px"><div style="position:fixed;bottom:0;height:80px;${RED_BAR}"></div></div>`,
    at: [920, 80],
  },
  { what: 'a header', html: `<div style="position:fixed;top:0;height:80px;${RED_BAR}"></div>`, at: [0, 80] },
  { what: 'a side menu', html: `<div style="position:fixed;top:0;bottom:0;${RED_BAR}"></div>`, at: [0, WINDOW_HEIGHT] },
  {
    what: 'a bar in a fixed bar',
    html: `<div style="position:fixed;bottom:0;height:40px;${RED_BAR}"><div style="position:fixed;bottom:40px;height:40px;${RED_BAR}"></div></div>`,
    at: AT_END,
  },
  {
    what: 'a sticky footer of an article, which has its place in the page',
    html: `<div style="position:absolute;top:100px;left:LEFTpx;width:40px;height:1900px"><div style="height:1820px"></div><div style="position:sticky;bottom:0;height:80px;background:#f00"></div></div>`,
    at: [1_920, 80],
  },
  {
    what: 'a sticky bar in a scroll box, which stays at the edge of the box',
    html: `<div style="position:absolute;top:100px;left:LEFTpx;width:40px;height:200px;overflow:auto;scrollbar-width:none"><div style="height:900px"></div><div style="position:sticky;bottom:0;height:80px;background:#f00"></div></div>`,
    at: [220, 80],
  },
]

/** The same for an article of 2,000 px at 800 in a page of 3,600 px: where the red part of a column is in its picture. */
const overArticle: readonly { what: string; html: string; at: readonly [top: number | undefined, height: number] }[] = [
  { what: 'a header', html: `<div style="position:fixed;top:0;height:80px;${RED_BAR}"></div>`, at: [undefined, 0] },
  { what: 'a cookie bar', html: `<div style="position:fixed;bottom:0;height:80px;${RED_BAR}"></div>`, at: [undefined, 0] },
  { what: 'a side menu', html: `<div style="position:fixed;top:0;bottom:0;${RED_BAR}"></div>`, at: [undefined, 0] },
  { what: 'a button in the middle', html: `<div style="position:fixed;top:50%;height:40px;${RED_BAR}"></div>`, at: [undefined, 0] },
  { what: 'a header of the page that sticks', html: '', at: [undefined, 0] },
  {
    what: 'a bar in a component',
    html: `<div><template shadowrootmode="closed"><div style="position:fixed;bottom:0;height:80px;${RED_BAR}"></div></template></div>`,
    at: [undefined, 0],
  },
  {
    what: 'a part of the article that sticks to the window',
    html: '<div class="inner" style="position:sticky;top:0;height:80px;width:40px;margin-left:LEFTpx;background:#f00"></div>',
    at: [0, 80],
  },
  {
    what: 'a bar of the article',
    html: `<div class="inner" style="position:fixed;bottom:0;height:80px;${RED_BAR}"></div>`,
    at: [undefined, 0],
  },
  {
    what: 'a layer without content',
    html: `<div style="position:fixed;top:0;height:100%;left:0;width:100%;background:linear-gradient(#f00,#f00) LEFTpx 0/40px no-repeat;pointer-events:none"></div>`,
    at: [0, 2_000],
  },
]
const placed = overArticle.map(({ html }, index) => html.replaceAll('LEFT', `${index * COLUMN}`))
const article = markup`<header style="position:sticky;top:0;height:80px;background:linear-gradient(#f00,#f00) 160px 0/40px no-repeat"></header><div style="height:720px"></div>
   <article style="height:2000px;background:linear-gradient(#0f0 1500px,#00f 0)">${placed.filter((html) => html.includes('inner')).join('')}</article>
   <div style="height:800px"></div>${placed.filter((html) => !html.includes('inner')).join('')}`

const bars = columns.map(({ html }, index) => html.replaceAll('LEFT', `${index * COLUMN}`)).join('')
const strip = (width: number, style = '') =>
  `<div id="strip" style="display:flex;width:${width}px;height:600px;${style}"><div style="flex:1;background:#0f0"></div><div style="flex:none;width:60px;background:#00f"></div></div>
   <div style="height:2000px;background:#0f0">A line.</div>`
const tagged = (content: string, body: string) => page('', body, `<meta name="viewport" content="${content}">`)

const stage = await openStage(t, {
  '/article': article,
  '/modal': markup`<div style="height:3000px"></div><div style="position:fixed;inset:0;overflow:visible;background:#0f0"><div id="terms" style="height:1500px;background:#00f"></div></div>`,
  '/closed': markup`<div style="background:#0f0;height:${HEIGHT}px">Text</div><chat-bar></chat-bar><script>
      document.querySelector('chat-bar').attachShadow({ mode: 'closed' }).innerHTML = '<div style="position:fixed;bottom:0;height:80px;left:0;width:40px;background:#f00"></div>'</script>`,
  '/bars': markup`<div style="background:#0f0;height:${HEIGHT - 500}px"></div><div style="background:#00f;height:500px"></div>${bars}
     <div style="position:fixed;bottom:-300px;left:700px;width:40px;height:80px;background:#f00"></div>`,
  '/untagged': page('', strip(980)),
  '/table': tagged('width=device-width', strip(900)),
  '/odd': tagged('width=device-width', strip(1_003)),
  '/width': tagged('width=500', strip(500)),
  '/fits': tagged('width=device-width, initial-scale=1', strip(390)),
  '/unzoomed': tagged('width=device-width, initial-scale=1, minimum-scale=1', strip(900)),
  '/huge': page('', strip(3_000)),
  '/long': page('', `${strip(980)}<div style="height:22000px;background:#0f0"></div>`),
  '/desktop': page('', strip(2_500)),
  '/hidden': page('overflow-x:hidden', strip(2_500)),
  '/board': page('', `<main style="height:600px;overflow-x:auto">${strip(2_500)}</main>`),
})

t.test('bars at the bottom of the window covered the middle of a full page', async (t) => {
  const size = { fullPage: true, viewportWidth: WIDTH, viewportHeight: WINDOW_HEIGHT }
  const { pixels } = await stage.shoot('/bars', size)
  t.equal(pixels.height, HEIGHT)
  const rowsAt = (x: number) => Array.from({ length: HEIGHT }, (_, y) => y).filter((y) => isNear(pixels.at(x, y), RED, 0))
  for (const [index, { what, at }] of columns.entries()) {
    const rows = rowsAt(index * COLUMN + 20)
    t.strictSame([rows[0], rows.length], at, what)
  }
  t.strictSame(rowsAt(720), [], 'a bar below the window stays hidden')
  t.ok(isNear(pixels.at(750, WINDOW_HEIGHT - 20), GREEN, 0) && isNear(pixels.at(750, HEIGHT - 20), BLUE, 0))
  const cut = await stage.shoot('/bars', { ...size, fullPageMaxHeight: 1_000, stabilityTimeout: 0 })
  t.ok(isNear(cut.pixels.at(20, 925), RED, 0) && !isNear(cut.pixels.at(20, 590), RED), 'at the end of the picture')
})

t.test('a bar in a closed shadow root covered the middle of a full page', async (t) => {
  const { pixels } = await stage.shoot('/closed', { fullPage: true, viewportWidth: WIDTH, viewportHeight: WINDOW_HEIGHT })
  t.ok(isNear(pixels.at(20, WINDOW_HEIGHT - 40), GREEN, 0) && isNear(pixels.at(20, HEIGHT - 40), RED, 0))
})

t.test('bars of the window covered the middle of an element and a region that are taller than the window', async (t) => {
  const size = { viewportWidth: WIDTH, viewportHeight: WINDOW_HEIGHT, stabilityTimeout: 0 }
  const rowsAt = ({ pixels }: Awaited<ReturnType<typeof stage.shoot>>, x: number) =>
    Array.from({ length: pixels.height }, (_, y) => y).filter((y) => isNear(pixels.at(x, y), RED, 0))
  for (const [how, region] of [
    ['selector', { selector: 'article' }],
    ['scrolled', { clipX: 0, clipY: 800, clipWidth: WIDTH, clipHeight: 2_000, scrollY: 1_500 }],
  ] as const) {
    const shot = await stage.shoot('/article', { ...size, ...region })
    t.equal(shot.pixels.height, 2_000)
    for (const [index, { what, at }] of overArticle.entries()) {
      const rows = rowsAt(shot, index * COLUMN + 20)
      t.strictSame([rows[0], rows.length], at, `${how}: ${what}`)
    }
    t.ok(isNear(shot.pixels.at(700, 1_400), GREEN, 0) && isNear(shot.pixels.at(700, 1_900), BLUE, 0))
  }
  const kept = await stage.shoot('/article', { ...size, selector: 'article', fullPageFixedElements: 'keep' })
  t.strictSame([rowsAt(kept, 20).length, rowsAt(kept, 60).length], [80, 80], 'keep leaves them in the middle')
  const hidden = await stage.shoot('/article', { ...size, selector: 'article', fullPageFixedElements: 'hide' })
  t.strictSame([rowsAt(hidden, 6 * COLUMN + 20).length, hidden.findings.warnings], [0, []], 'hide')
  const clip = await stage.shoot('/article', { ...size, clipX: 0, clipY: 300, clipWidth: WIDTH, clipHeight: 2_000 })
  t.strictSame([rowsAt(clip, 60).length, rowsAt(clip, 220).length], [0, 0], 'a region that begins in the window')
  const end = await stage.shoot('/article', { ...size, clipX: 0, clipY: 2_000, clipWidth: WIDTH, clipHeight: 1_600 })
  t.strictSame([rowsAt(end, 60)[0], rowsAt(end, 20).length], [1_520, 0], 'at the end of the page')
})

t.test('bars of the window stay over an element or a region that the window contains, and what holds the element stays', async (t) => {
  const size = { viewportWidth: WIDTH, viewportHeight: WINDOW_HEIGHT, stabilityTimeout: 0 }
  const { pixels } = await stage.shoot('/article', { ...size, clipX: 0, clipY: 0, clipWidth: WIDTH, clipHeight: WINDOW_HEIGHT })
  t.ok(isNear(pixels.at(60, WINDOW_HEIGHT - 40), RED, 0))
  const modal = await stage.shoot('/modal', { ...size, selector: '#terms' })
  t.strictSame([modal.pixels.height, isNear(modal.pixels.at(400, 1_400), BLUE, 0)], [1_500, true])
})

// The width of full pages. Each page has a blue strip of 60 pixels at its right end, and is green elsewhere.

const phone = { viewportWidth: 390, viewportHeight: 844, viewportMobile: true, stabilityTimeout: 0 } satisfies CaptureOptions
const WIDER = (wide: number, shown: number) => [new RegExp(`^the page is ${wide} pixels wide, but the picture shows ${shown} of them`)]

t.test('a full page of a phone was cut where its window shows all', async (t) => {
  for (const [path, wide, warnings] of [
    ['/untagged', 980, []],
    ['/table', 900, []],
    ['/odd', 1_003, []],
    ['/width', 500, []],
    ['/fits', 390, []],
    ['/long', 980, []],
    ['/unzoomed', 900, WIDER(900, 390)],
    ['/huge', 3_000, WIDER(3_000, 1_560)],
  ] as const) {
    const scale = path === '/long' ? 1 : 2
    const { pixels, findings } = await stage.shoot(path, { ...phone, fullPage: true, deviceScaleFactor: scale })
    t.equal(pixels.width, 390 * scale, path)
    t.match(findings.warnings, warnings, path)
    t.equal(findings.warnings.length, warnings.length, `${path}: ${findings.warnings}`)
    const isWhole = warnings.length === 0
    t.equal(isNear(pixels.at(pixels.width - 4, 50), BLUE), isWhole, path)
    if (path === '/untagged') t.ok(isNear(pixels.at(pixels.width - 4, pixels.height - 20), GREEN), `${path}: laid out for its own width`)
    const strips = Math.round((60 / wide) * pixels.width)
    if (isWhole) t.ok(isNear(pixels.at(pixels.width - strips - 4, 50), GREEN), `${path}: at the same scale as the window`)
  }
})

t.test('the window of a phone with more pixels was cut where a phone shows all', async (t) => {
  for (const deviceScaleFactor of [1, 2, 3]) {
    const { pixels } = await stage.shoot('/table', { ...phone, deviceScaleFactor })
    t.strictSame([pixels.width, pixels.height], [390 * deviceScaleFactor, 844 * deviceScaleFactor])
    t.ok(isNear(pixels.at(pixels.width - 8, 50), BLUE), `${deviceScaleFactor}`)
  }
  const { pixels } = await stage.shoot('/table', { ...phone, deviceScaleFactor: 2, selector: '#strip' })
  t.strictSame([pixels.width, pixels.height], [1_800, 1_200], 'an element has its own size')
  t.ok(isNear(pixels.at(1_790, 1_190), BLUE))
})

t.test('a full page that is wider than its picture was cut without a warning', async (t) => {
  const full = { fullPage: true, stabilityTimeout: 0 }
  t.match((await stage.shoot('/desktop', full)).findings.warnings, WIDER(2_500, 1_920))
  t.strictSame((await stage.shoot('/desktop', { ...full, fullPageFullWidth: true })).findings.warnings, [])
  t.strictSame((await stage.shoot('/hidden', full)).findings.warnings, [], 'a reader cannot scroll there')
})

t.test('a board that scrolls sideways was cut in a full page without a warning', async (t) => {
  const full = { fullPage: true, stabilityTimeout: 0 }
  const warning = 'the picture shows 1920 of 2500 pixels of the width of main, which scrolls sideways. Raise viewport_width by 580'
  t.strictSame((await stage.shoot('/board', full)).findings.warnings, [warning])
  t.strictSame((await stage.shoot('/board', { ...full, fullPageFullWidth: true })).findings.warnings, [warning])
  t.strictSame((await stage.shoot('/board', { ...full, viewportWidth: 1_920 + 580 })).findings.warnings, [], 'the advice helps')
})
