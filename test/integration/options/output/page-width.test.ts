// The width of full pages. Each page has a blue strip of 60 pixels at its right end, and is green elsewhere.

import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t from 'tap'
import { BLUE, GREEN, isNear } from '../../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options.ts'

const strip = (width: number, style = '') =>
  `<div id="strip" style="display:flex;width:${width}px;height:600px;${style}"><div style="flex:1;background:#0f0"></div><div style="flex:none;width:60px;background:#00f"></div></div>
   <div style="height:2000px;background:#0f0">A line.</div>`
const tagged = (content: string, body: string) => page('', body, `<meta name="viewport" content="${content}">`)

const stage = await openStage(t, {
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
