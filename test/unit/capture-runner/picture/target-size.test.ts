import sharp from 'sharp'
import t from 'tap'
import { processPicture } from '../../../../capture-runner/src/picture/image-processing.ts'
import { targetSize } from '../../../../capture-runner/src/picture/tiles.ts'
import { buildImageProcessing, type ProcessingPlan } from '../../../../capture-runner/src/plan/image-processing.ts'
import { type CaptureOptions, withDefaults } from '../../../../crds/src/options/catalog.ts'
import { ImageFormat } from '../../../../crds/src/options/output/formats.ts'

const planOf = (options: CaptureOptions): ProcessingPlan => buildImageProcessing(withDefaults(options)).processing!
const aPicture = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: '#fff' } })

/** Processes a picture of this size as a runner does. */
const process = async (options: CaptureOptions, master: Buffer) => {
  const format = ImageFormat.parse(options.format ?? 'png')
  return processPicture(master, { format, quality: 90, fastPng: true, processing: planOf(options) })
}
const small = await aPicture(100, 100).png().toBuffer()

t.test('targetSize computes the size that the library makes', async (t) => {
  const sides: CaptureOptions[] = [
    { imageWidth: 30 },
    { imageHeight: 70 },
    { imageWidth: 30, imageHeight: 9 },
    { imageWidth: 9, imageHeight: 70 },
  ]
  for (const [width, height] of [
    [20, 10],
    [40, 80],
    [7, 100],
  ] as const) {
    const master = await aPicture(width, height).png().toBuffer()
    for (const imageFit of ['cover', 'contain', 'fill', 'inside', 'outside'] as const) {
      for (const imageUpscale of [false, true]) {
        for (const side of sides) {
          const options: CaptureOptions = { ...side, imageFit, imageUpscale, imagePadding: 2 }
          const { picture } = await process(options, master)
          const made = await sharp(picture).metadata()
          const name = `${width} × ${height} ${JSON.stringify(options)}`
          t.strictSame(targetSize({ width, height }, 'png', planOf(options)), { width: made.width, height: made.height }, name)
        }
      }
    }
  }
})

t.test('a page of 100 × 100 pixels was enlarged beyond the limit of each format', async (t) => {
  const cases: { options: CaptureOptions; message: RegExp }[] = [
    {
      options: { imageWidth: 10_000, imageHeight: 16_383, imageFit: 'fill', imageUpscale: true, format: 'webp' },
      message: /would have 10000 × 16383 pixels: a webp .* 64000000 pixels and 16383 on a side\. Lower image_width/,
    },
    { options: { imageWidth: 10_000, imageUpscale: true, format: 'webp' }, message: /10000 × 10000 pixels: a webp/ },
    { options: { imageWidth: 5_000, imageUpscale: true, format: 'avif' }, message: /avif .* 16000000 pixels/ },
    { options: { imageWidth: 10_000, imageUpscale: true, imageProgressive: true }, message: /png .* 64000000 pixels/ },
    { options: { imageWidth: 10_000, imageUpscale: true, imageProgressive: true, format: 'jpeg' }, message: /jpeg .* 64000000/ },
    { options: { imageWidth: 10_000, imageUpscale: true, imagePaletteColors: 8 }, message: /png .* 64000000 pixels/ },
    { options: { imageHeight: 50_000, imageUpscale: true }, message: /50000 × 50000 pixels: a png .* 200000000 pixels/ },
    { options: { imageWidth: 10_000, imageHeight: 20_001, imageFit: 'contain' }, message: /10000 × 20001/ },
    {
      options: { imageWidth: 10_000, imageHeight: 50_000, imageFit: 'cover', imagePosition: 'entropy', imageUpscale: true },
      message: /50000 × 50000|10000 × 50000/,
    },
  ]
  for (const { options, message } of cases)
    await t.rejects(process(options, small), { code: 'TOO_LARGE', message }, JSON.stringify(options))
})

t.test('the padding of a picture exceeded the limit of the format', async (t) => {
  const plan = planOf({ format: 'webp', imageWidth: 16_000, imageUpscale: true, imagePadding: 200 })
  t.throws(() => targetSize({ width: 1_000, height: 10 }, 'webp', plan), { code: 'TOO_LARGE', message: /16400 × 560/ })
})

t.test('a trimmed picture was enlarged beyond the limit', async (t) => {
  const line = { create: { width: 4, height: 90, channels: 3 as const, background: '#f00' } }
  const master = await aPicture(100, 100)
    .composite([{ input: line, left: 50, top: 5 }])
    .png()
    .toBuffer()
  const options: CaptureOptions = { imageTrim: true, imageWidth: 6_000, imageUpscale: true }
  await t.rejects(process(options, master), { code: 'TOO_LARGE', message: /6000 × 135000/ })
  const { picture } = await process({ ...options, imageWidth: 8 }, master)
  t.match(await sharp(picture).metadata(), { width: 8, height: 180 }, 'a smaller one is made')
})

t.test('targetSize allows to shrink any picture to any size', async (t) => {
  const plan = planOf({ format: 'avif', imageWidth: 10_000, imageHeight: 50_000 })
  t.strictSame(targetSize({ width: 4_000, height: 4_000 }, 'avif', plan), { width: 4_000, height: 4_000 })
})
