// App shells: pages as tall as the window, where an inner panel scrolls instead of the page.

import t from 'tap'
import { openStage, page } from '../options.ts'

const shell = (panel: string) => page('height:100vh;display:flex', `<nav style="width:200px;flex:none;background:#00f">Menu</nav>${panel}`)
const tall = '<div style="height:5000px">Much to read.</div>'
/** A scrolling list, as beside a page's content. */
const list = '<div style="width:300px;height:200px;overflow-y:auto"><div style="height:900px">Names</div></div>'

const stage = await openStage(t, {
  '/shell': shell(`<main style="flex:1;overflow-y:auto">${tall}</main>`),
  '/clipped': shell(`<main style="flex:1;overflow-y:hidden">${tall}</main>`),
  '/hidden': shell(`<main style="flex:1">Short.</main><div style="position:fixed;inset:0;visibility:hidden;overflow-y:auto">${tall}</div>`),
  '/list': shell(`<main style="flex:1">${list}</main>`),
  '/page': page('', `${list}${tall}`),
})
const small = { viewportWidth: 800, viewportHeight: 600 }
const warningsOf = async (path: string, options = {}) =>
  (await stage.shoot(path, { ...small, fullPage: true, ...options })).findings.warnings

t.test('a full page of an app shell adds a warning that names the option to expand the panel', async (t) => {
  const hint =
    'the picture shows one window: the page scrolls in an inner panel. Set full_page_scroll_container to auto to capture all of it'
  t.strictSame(await warningsOf('/shell'), [hint])
  t.strictSame(await warningsOf('/shell', { fullPageScrollContainer: 'auto' }), [])
})

t.test('there is no warning if the page itself scrolls, the panel is small or does not scroll, or without full_page', async (t) => {
  for (const path of ['/page', '/list', '/clipped', '/hidden']) t.strictSame(await warningsOf(path), [], path)
  t.strictSame(await warningsOf('/shell', { fullPage: false }), [])
})
