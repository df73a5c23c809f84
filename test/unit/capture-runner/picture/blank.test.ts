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
