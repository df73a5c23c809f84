// App shells: pages as tall as the window, of which an inner panel scrolls in the page's stead.

import t from 'tap'
import { openStage, page } from '../options.ts'

const shell = (panel: string) => page('height:100vh;display:flex', `<nav style="width:200px;flex:none;background:#00f">Menu</nav>${panel}`)
const tall = '<div style="height:5000px">Much to read.</div>'
/** A list that scrolls by itself, as pages have beside their content. */
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

t.test('app shells that scroll inside give one window and no hint: a full page names the option that unfolds the panel', async (t) => {
  const hint =
    'the picture shows one window: the page scrolls in an inner panel. Set full_page_scroll_container to auto to capture all of it'
  t.strictSame(await warningsOf('/shell'), [hint])
  t.strictSame(await warningsOf('/shell', { fullPageScrollContainer: 'auto' }), [])
})

t.test('no hint is given where the page itself scrolls, the panel is small or does not scroll, or no full page is asked for', async (t) => {
  for (const path of ['/page', '/list', '/clipped', '/hidden']) t.strictSame(await warningsOf(path), [], path)
  t.strictSame(await warningsOf('/shell', { fullPage: false }), [])
})
