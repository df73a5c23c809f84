import sharp from 'sharp'
import t from 'tap'
import { isBlank, isTooLargeToBeBlank } from '../../../../capture-runner/src/picture/blank.ts'

const paper = { width: 1920, height: 1080, channels: 4 as const }
const picture = (background: object, mark?: { left: number; top: number; width: number; height: number; background: string }) =>
  sharp({ create: { ...paper, background } })
    .composite(mark ? [{ input: { create: { ...mark, channels: 3 } }, left: mark.left, top: mark.top }] : [])
    .png()
    .toBuffer()

t.test('isBlank is true for one color, painted or transparent', async (t) => {
  t.ok(await isBlank(await picture({ r: 255, g: 255, b: 255, alpha: 1 })))
  t.ok(await isBlank(await picture({ r: 12, g: 200, b: 99, alpha: 1 })))
  t.ok(await isBlank(await picture({ r: 0, g: 0, b: 0, alpha: 0 })))
})

t.test('isBlank is false for a page with little content', async (t) => {
  const white = { r: 255, g: 255, b: 255, alpha: 1 }
  t.notOk(await isBlank(await picture(white, { left: 8, top: 8, width: 60, height: 3, background: '#000' })))
  t.notOk(await isBlank(await picture(white, { left: 1900, top: 1070, width: 20, height: 10, background: '#00f' })))
})

/** A page of gray levels. */
async function drawn(levelAt: (x: number, y: number) => number, format: 'png' | 'jpeg' | 'webp' = 'png'): Promise<Buffer> {
  const [width, height] = [640, 1_280]
  const levels = Buffer.from(Array.from({ length: width * height }, (_, at) => levelAt(at % width, Math.floor(at / width))))
  return sharp(levels, { raw: { width, height, channels: 1 } })
    .toFormat(format, { quality: 60 })
    .toBuffer()
}

t.test('a checkerboard of single pixels was one color, because its mean color is the same everywhere', async (t) => {
  const patterns: Record<string, (x: number, y: number) => number> = {
    'a checkerboard of 1 pixel': (x, y) => ((x + y) % 2) * 255,
    'a checkerboard of 2 pixels': (x, y) => ((Math.floor(x / 2) + Math.floor(y / 2)) % 2) * 255,
    'a pale checkerboard': (x, y) => 248 + ((x + y) % 2) * 7,
    'columns of 1 pixel': (x) => (x % 2) * 255,
    'rows of 1 pixel': (_, y) => (y % 2) * 255,
    dithering: (x, y) => ((x * 7 + y * 13) % 4 === 0 ? 0 : 255),
    'a border of 1 pixel': (x, y) => (x % 639 === 0 || y % 1_279 === 0 ? 0 : 255),
    'a small letter': (x, y) => ((x === 300 && y >= 500 && y < 509) || (y === 500 && x > 297 && x < 303) ? 60 : 255),
    'a gradient of 4 levels': (_, y) => 251 + Math.floor(y / 320),
  }
  for (const [name, levelAt] of Object.entries(patterns)) t.notOk(await isBlank(await drawn(levelAt)), name)
})

t.test('control: one color is blank in each format, also if it was compressed with loss', async (t) => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    t.ok(await isBlank(await drawn(() => 255, format)), `white ${format}`)
    t.notOk(await isBlank(await drawn((x, y) => ((Math.floor(x / 2) + Math.floor(y / 2)) % 2) * 255, format)), `squares ${format}`)
    for (const background of ['#0cc863', '#c86432']) {
      const color = sharp({ create: { ...paper, channels: 3, background } })
      t.ok(await isBlank(await color.toFormat(format, { quality: 40 }).toBuffer()), `${background} ${format}`)
    }
  }
})

t.test('isTooLargeToBeBlank is false for every measured one-color file', async (t) => {
  const measured = [
    { pixels: 1920 * 1080, png: 44_075, jpeg: 13_000, webp: 4_280 },
    { pixels: 300 * 200, png: 2_066, jpeg: 1_131, webp: 678 },
    { pixels: 3840 * 2160, png: 164_893, jpeg: 49_360, webp: 15_312 },
  ]
  for (const { pixels, ...sizes } of measured) {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      t.notOk(isTooLargeToBeBlank(sizes[format], pixels, format), `${format} of ${pixels}`)
      t.ok(isTooLargeToBeBlank(sizes[format] * 3, pixels, format))
    }
  }
})
