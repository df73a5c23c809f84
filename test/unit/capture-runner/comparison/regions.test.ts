import t from 'tap'
import type { PictureBox } from '../../../../crds/src/kinds/comparison.ts'
import { BLACK, type Color, Drawing, decode } from '../../../support/drawing.ts'
import { area, compare, GRAY, GREEN, isAt, page, RED } from './drawn-pages.ts'

// What counts as a change, with drawn pictures. ADR 69 has the figures.

type Draw = (drawing: Drawing, x: number, y: number, k: number) => unknown
const text =
  (words: string, size: number, color?: Color): Draw =>
  (d, x, y, k) =>
    d.text(words, x, y, size * k, color)
/** @param by CSS pixels by which it moved */
const box =
  (width: number, height: number, color: Color, by = 0): Draw =>
  (d, x, y, k) =>
    d.box(x + by * k, y + by * k, width * k, height * k, color)
const icon =
  (color: Color): Draw =>
  (d, x, y, k) =>
    d.ring(x + 12 * k, y + 12 * k, 8 * k, 3 * k, color)
const nothing: Draw = () => {}

/** Changes, with where they are, in CSS pixels from the place of the change. */
const CHANGES: readonly (readonly [name: string, area: PictureBox, before: Draw, after: Draw])[] = [
  ['a digit of a small gray price', area(0, 0, 12, 14), text('19.50', 12, GRAY), text('99.50', 12, GRAY)],
  ['an 8 that becomes a 0', area(0, 0, 12, 17), text('8', 15), text('0', 15)],
  ['a new word', area(0, 0, 100, 14), nothing, text('SOLD OUT', 12)],
  ['another word', area(0, 0, 60, 14), text('SOON', 11), text('DONE', 11)],
  ['a badge', area(0, 0, 16, 16), nothing, box(14, 14, RED)],
  ['a dot of four pixels', area(0, 0, 4, 4), nothing, box(2, 2, BLACK)],
  ['the color of an icon', area(0, 0, 24, 24), icon(GREEN), icon(RED)],
  ['a button that moved by two pixels', area(0, 0, 84, 36), box(80, 32, GREEN), box(80, 32, GREEN, 2)],
  ['an image that is missing', area(0, 0, 60, 40), box(60, 40, GRAY), nothing],
  ['one cell of a table', area(40, 0, 60, 14), text('12 34 56 78', 11), text('12 34 57 78', 11)],
  ['a pale banner', area(0, 0, 120, 30), nothing, box(120, 30, [255, 246, 224])],
  ['a line below a link', area(0, 0, 60, 3), nothing, box(60, 1, GRAY)],
]
/** Too small for a compressed picture. */
const TINY = 'a dot of four pixels'

const SIZES = [
  { width: 1_000, height: 600, k: 1 },
  { width: 1_920, height: 1_080, k: 1 },
  { width: 480, height: 7_000, k: 1 },
  { width: 480, height: 25_000, k: 1 },
  { width: 1_170, height: 2_532, k: 3 },
]

t.test('a price that changed was not a change, because it has few pixels', async (t) => {
  for (const { width, height, k } of SIZES) {
    for (const [name, area, before, after] of CHANGES) {
      const [x, y] = [Math.floor(width * 0.6), Math.floor(height * 0.7)]
      const [first, second] = [page(width, height, k), page(width, height, k)]
      before(first, x, y, k)
      after(second, x, y, k)
      const { changed, regions = [], regionCount } = await compare(first, second)
      const wanted = { x: x + area.x * k, y: y + area.y * k, width: area.width * k, height: area.height * k }
      t.ok(changed && regionCount && regions.every((region) => isAt(region, wanted)), `${name}, ${width} × ${height}`, { changed, regions })
    }
  }
})

t.test('a changed price in a jpeg, webp or avif picture was not a change', async (t) => {
  for (const [format, changes] of [
    ['jpeg', CHANGES],
    ['webp', CHANGES],
    ['avif', CHANGES.slice(0, 1)],
  ] as const) {
    for (const [name, area, before, after] of changes.filter(([name]) => name !== TINY)) {
      const [first, second] = [page(480, 240, 1), page(480, 240, 1)]
      before(first, 320, 10, 1)
      after(second, 320, 10, 1)
      const [one, other] = await Promise.all([first, second].map(async (drawing) => decode(await drawing.encode(format, 60))))
      const { changed, regions = [] } = await compare(one!, other!, { noise: 'local' })
      const wanted = { ...area, x: 320 + area.x - 8, y: 10 + area.y - 8, width: area.width + 16, height: area.height + 16 }
      t.ok(changed && regions.every((region) => isAt(region, wanted)), `${name} as ${format}`, { changed, regions })
    }
  }
})

t.test('the noise of a compressed picture was a change', async (t) => {
  const drawing = page(300, 240, 1).box(200, 100, 60, 80, GREEN)
  for (const format of ['jpeg', 'webp', 'avif'] as const) {
    const compressed = await decode(await drawing.encode(format, format === 'avif' ? 50 : 80))
    t.match(await compare(drawing, compressed, { noise: 'everywhere' }), { changed: false }, format)
  }
})

t.test('a background that turned cream was not a change, because each pixel is within the tolerance', async (t) => {
  const cream: Color = [255, 246, 224]
  const white = page(800, 600, 1)
  t.match(await compare(white, page(800, 600, 1, cream)), { changed: true, rule: 'color', regions: [area(0, 0, 800, 600)] })
  t.match(
    await compare(white, page(800, 600, 1).box(100, 500, 24, 24, [252, 252, 252])),
    { changed: false },
    'a small spot that can hardly be seen',
  )
  t.match(await compare(white, page(800, 600, 1, [253, 254, 255])), { changed: false }, 'two levels of 255')
  const [one, other] = await Promise.all([white, page(800, 600, 1, cream)].map(async (drawing) => decode(await drawing.encode('jpeg'))))
  t.match(await compare(one!, other!, { noise: 'local' }), { changed: true, rule: 'regions' }, 'as jpeg')
})

t.test('a pale badge of another color was not a change, because it was too small', async (t) => {
  const badge = (color: Color, width: number, height: number) => page(800, 600, 1).box(100, 500, width, height, color)
  const colors = {
    green: [209, 231, 221],
    red: [248, 215, 218],
    gray: [233, 236, 239],
    yellow: [255, 243, 205],
    off: [233, 233, 234],
    on: [211, 240, 218],
    leaf: [42, 157, 63],
    olive: [74, 157, 47],
  } as const
  for (const [what, from, to, width, height] of [
    ['badge', 'green', 'red', 40, 16],
    ['button', 'gray', 'yellow', 40, 19],
    ['toggle', 'off', 'on', 28, 16],
    ['dot', 'leaf', 'olive', 8, 8],
  ] as const) {
    const found = await compare(badge(colors[from], width, height), badge(colors[to], width, height))
    t.match(found, { changed: true, rule: 'color', regionCount: 1 }, what)
    t.ok(isAt(found.regions![0]!, area(100, 500, width, height)), what)
    const [one, other] = await Promise.all(
      [from, to].map(async (color) => decode(await badge(colors[color], width, height).encode('jpeg'))),
    )
    if (what !== 'dot') t.match(await compare(one!, other!, { noise: 'local' }), { changed: true }, `${what} as jpeg`)
  }
})

t.test('smooth edges that are drawn at another offset are not a change', async (t) => {
  const ring = (offset: number) => page(600, 600, 1).ring(300 + offset, 400, 100, 12, BLACK)
  t.match(await compare(ring(0), ring(0.3)), { changed: false })
})

t.test('regions overlapped', async (t) => {
  const frame = new Drawing(400, 400).box(50, 50, 300, 4, BLACK).box(50, 50, 4, 300, BLACK).box(346, 50, 4, 300, BLACK)
  const inner = frame.box(150, 150, 40, 40, RED).box(250, 150, 40, 40, RED)
  const { regions = [], regionCount } = await compare(new Drawing(400, 400), inner)
  t.strictSame(regions, [area(50, 50, 300, 300)])
  t.equal(regionCount, 1)
})

t.test('a share of pixels decides if one is set', async (t) => {
  const dot = new Drawing(100, 100).box(10, 10, 1, 1, BLACK)
  t.match(await compare(new Drawing(100, 100), dot), { changed: false, rule: 'regions', changedPixels: 0 }, 'fewer than three pixels')
  t.match(await compare(new Drawing(100, 100), dot, { threshold: 0 }), { changed: true, rule: 'share', changedPixels: 1 })
  t.match(await compare(new Drawing(100, 100), dot, { threshold: 0.0001 }), { changed: false, rule: 'share' })
  t.match(await compare(dot, dot), { changed: false, rule: 'identical' })
})
