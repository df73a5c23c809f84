import t from 'tap'
import { buildImageProcessing } from '../../../../capture-runner/src/plan/image-processing.ts'
import { type CaptureOptions, withDefaults } from '../../../../crds/src/options/catalog.ts'

const plan = (options: CaptureOptions) => buildImageProcessing(withDefaults(options))

t.test('buildImageProcessing keeps the browser’s file without options', async (t) => {
  const idle: CaptureOptions[] = [
    {},
    { format: 'jpeg' },
    { format: 'webp', imageQuality: 10 },
    { imageFit: 'cover', imageBackground: 'red', imageUpscale: true },
    { imageLossless: true },
    { format: 'webp', imagePaletteColors: 8, imageProgressive: true },
    { format: 'pdf', imageWidth: 100, thumbnailWidth: 100 },
  ]
  for (const options of idle) t.strictSame(plan(options), { fastPng: true }, JSON.stringify(options))
})

t.test('buildImageProcessing plans the requested processing', async (t) => {
  const cases: [CaptureOptions, object][] = [
    [{ format: 'avif' }, { grayscale: false, padding: 0 }],
    [{ imageWidth: 10, imageUpscale: true }, { resize: { width: 10, fit: 'inside', position: 'top', upscale: true } }],
    [{ imageTrim: true, imageTrimThreshold: 3 }, { trimThreshold: 3 }],
    [
      { imagePadding: 5, imageBackground: 'black' },
      { padding: 5, background: { r: 0, g: 0, b: 0, alpha: 1 } },
    ],
    [{ format: 'webp', imageLossless: true }, { lossless: true }],
    [{ imageProgressive: true }, { progressive: true }],
    [{ imagePaletteColors: 8 }, { paletteColors: 8 }],
    [{ imageMaxBytes: 20_000 }, { maxBytes: 20_000 }],
    [{ imageGrayscale: true }, { grayscale: true }],
  ]
  for (const [options, processing] of cases) t.match(plan(options).processing, processing, JSON.stringify(options))
})

t.test('buildImageProcessing plans a thumbnail in the image’s own format if possible', async (t) => {
  t.strictSame(plan({ thumbnailWidth: 100 }).thumbnail, { width: 100, format: 'png' })
  t.strictSame(plan({ thumbnailHeight: 90, format: 'avif' }).thumbnail, { height: 90, format: 'webp' })
  t.strictSame(plan({ thumbnailWidth: 16, thumbnailFormat: 'jpeg' }).thumbnail, { width: 16, format: 'jpeg' })
})
