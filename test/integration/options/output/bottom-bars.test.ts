// Elements at the bottom of the window in a full page. Each column of the page has one, over green content with a blue end.

import t from 'tap'
import { BLUE, GREEN, isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options.ts'

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

const bars = columns.map(({ html }, index) => html.replaceAll('LEFT', `${index * COLUMN}`)).join('')
const stage = await openStage(t, {
  '/closed': page(
    '',
    `<div style="background:#0f0;height:${HEIGHT}px">Text</div><chat-bar></chat-bar><script>
      document.querySelector('chat-bar').attachShadow({ mode: 'closed' }).innerHTML = '<div style="position:fixed;bottom:0;height:80px;left:0;width:40px;background:#f00"></div>'</script>`,
  ),
  '/bars': page(
    '',
    `<div style="background:#0f0;height:${HEIGHT - 500}px"></div><div style="background:#00f;height:500px"></div>${bars}
     <div style="position:fixed;bottom:-300px;left:700px;width:40px;height:80px;background:#f00"></div>`,
  ),
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
