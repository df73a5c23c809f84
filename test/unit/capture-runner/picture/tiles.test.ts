import sharp from 'sharp'
import t from 'tap'
import { processPicture } from '../../../../capture-runner/src/picture/image-processing.ts'
import { cutPage, isInWindow, targetSize } from '../../../../capture-runner/src/picture/tiles.ts'
import { buildImageProcessing, type ProcessingPlan } from '../../../../capture-runner/src/plan/image-processing.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'
import { type CaptureOptions, withDefaults } from '../../../../crds/src/options/catalog.ts'
import { ImageFormat } from '../../../../crds/src/options/output/formats.ts'
import { assertEvery } from '../../../support/accepts.ts'

const cut = (options: CaptureOptions, contentHeight = 1080, scroll = { scrollX: 0, scrollY: 0 }) =>
  cutPage(buildPlan('https://example.com/', options), { contentWidth: 1920, contentHeight, ...scroll })

const heightOf = ({ tiles }: ReturnType<typeof cut>) => tiles.reduce((sum, { height }) => sum + height, 0)

t.test('cutPage captures the window without a clip at any scroll position, if its scale is 1', async (t) => {
  const window = cut({}, 9_000, { scrollX: 5, scrollY: 700 })
  t.match(window, { isWindow: true, truncated: false, warnings: [], tiles: [{ x: 5, y: 700, width: 1920, height: 1080 }] })
  const scaled = cut({ deviceScaleFactor: 2 })
  t.match(scaled, { isWindow: false, tiles: [{ x: 0, y: 0, width: 1920, height: 1080 }] }, 'with a clip at any other scale')
})

t.test('cutPage captures a full page from its top, up to 8,192 device pixels in one tile, else in as few as possible', async (t) => {
  t.match(cut({ fullPage: true }, 8_192, { scrollX: 3, scrollY: 50 }), { tiles: [{ x: 0, y: 0, height: 8_192 }], truncated: false })
  t.equal(cut({ fullPage: true }, 8_401).tiles.length, 2)
  t.equal(cut({ fullPage: true, deviceScaleFactor: 2 }, 8_201).tiles.length, 4, 'a tile has no more than 16 megapixels')
  t.equal(cut({ fullPage: true }, 25_000).tiles.length, 3)
  t.equal(heightOf(cut({ fullPage: true }, 0)), 1, 'a page without any height')
})

t.test('cutPage places tiles edge to edge on whole device pixels', async (t) => {
  const faults = [0.1, 0.333, 0.75, 1, 1.1, 1.25, 1.33, 1.5, 2, 2.625, 3, 5].flatMap((deviceScaleFactor) => {
    const { tiles } = cut({ fullPage: true, fullPageMaxHeight: 50_000, viewportWidth: 100, deviceScaleFactor }, 50_000)
    const wrong = tiles.filter(({ y, height }, index) => {
      const top = index === 0 ? 0 : tiles[index - 1]!.y + tiles[index - 1]!.height
      return y !== top || !isWholePixel(y * deviceScaleFactor) || height * deviceScaleFactor > 8_400
    })
    const end = tiles.at(-1)!.y + tiles.at(-1)!.height
    return [...wrong, ...(end === 50_000 ? [] : [{ end }])].map((fault) => ({ deviceScaleFactor, ...fault }))
  })
  t.strictSame(faults, [])
})

const isWholePixel = (pixels: number): boolean => Math.abs(pixels - Math.round(pixels)) < 1e-6

t.test('cutPage cuts a full page at the client’s height, and adds a warning', async (t) => {
  const short = cut({ fullPage: true, fullPageMaxHeight: 2_000 }, 3_000)
  t.equal(heightOf(short), 2_000)
  t.match(short, { truncated: true, warnings: ['the page is 3000 pixels tall: the picture ends at full_page_max_height'] })
  t.match(cut({ fullPage: true, fullPageMaxHeight: 3_000 }, 3_000), { truncated: false, warnings: [] })
})

t.test('cutPage cuts an image at the limit of its format', async (t) => {
  const cases: { options: CaptureOptions; height: number }[] = [
    { options: { format: 'webp' }, height: 16_383 },
    { options: { format: 'webp', deviceScaleFactor: 2 }, height: 8_191 },
    { options: { format: 'jpeg', fullPageMaxHeight: 50_000 }, height: 50_000 },
    { options: { format: 'jpeg', fullPageMaxHeight: 50_000, deviceScaleFactor: 2, viewportWidth: 400 }, height: 32_767 },
    { options: { format: 'png', fullPageMaxHeight: 50_000, deviceScaleFactor: 2, viewportWidth: 400 }, height: 50_000 },
    { options: { format: 'webp', viewportWidth: 7_680 }, height: Math.floor(64_000_000 / 7_680) },
    { options: { fullPageMaxHeight: 50_000, viewportWidth: 7_680, deviceScaleFactor: 2 }, height: Math.floor(200_000_000 / (7_680 * 4)) },
    { options: { format: 'webp', imagePadding: 500 }, height: 15_383 },
    { options: { format: 'webp', imagePadding: 500, imageWidth: 100 }, height: 16_383 },
    { options: { format: 'jpeg', fullPageMaxHeight: 50_000, imageProgressive: true }, height: Math.floor(64_000_000 / 1_920) },
    { options: { format: 'png', fullPageMaxHeight: 50_000, imagePaletteColors: 8 }, height: Math.floor(64_000_000 / 1_920) },
    {
      options: { format: 'jpeg', fullPageMaxHeight: 50_000, viewportWidth: 7_680, imagePadding: 10 },
      height: Math.floor(200_000_000 / 7_700) - 20,
    },
  ]
  const pictures = cases.map(({ options }) => {
    const picture = cut({ fullPage: true, ...options }, 60_000)
    return { options, height: heightOf(picture), truncated: picture.truncated }
  })
  t.strictSame(
    pictures,
    cases.map((each) => ({ ...each, truncated: true })),
  )
  t.match(cut({ fullPage: true, format: 'webp' }, 20_000).warnings, [/^the picture ends at 16383 pixels: webp/])
})

t.test('cutPage keeps each tile of a wide image small', async (t) => {
  const { tiles } = cut({ viewportWidth: 7_680, viewportHeight: 7_680 })
  assertEvery(t, tiles, ({ width, height }) => width * height <= 4_096 * 4_096)
})

t.test('cutPage cuts a window that is too tall for its format', async (t) => {
  const window = cut({ format: 'webp', viewportWidth: 100, viewportHeight: 7_680, deviceScaleFactor: 3 })
  t.equal(heightOf(window), 5_461)
  t.match(window, { truncated: true, isWindow: false })
})

t.test('cutPage rejects an image that is too wide for its format', async (t) => {
  t.throws(() => cut({ format: 'webp', viewportWidth: 7_680, viewportHeight: 100, deviceScaleFactor: 3 }), { code: 'TOO_LARGE' })
  t.doesNotThrow(() => cut({ format: 'jpeg', viewportWidth: 7_680, viewportHeight: 100, deviceScaleFactor: 5 }))
})

t.test('cutPage shrinks a tall page to a scale with whole-pixel tiles', async (t) => {
  const small = cut({ fullPage: true, fullPageOverflow: 'scale', viewportWidth: 1_000 }, 60_000)
  t.equal(small.scale, 0.416)
  t.match(small, { truncated: false, warnings: [/^the picture is 42 % of its size/] })
  t.equal(heightOf(small), 60_000)
  assertEvery(t, small.tiles, ({ y }) => isWholePixel(y * small.scale))
  const webp = cut({ fullPage: true, fullPageOverflow: 'scale', format: 'webp', fullPageMaxHeight: 50_000 }, 50_000)
  t.ok(heightOf(webp) * webp.scale <= 16_383 && !webp.truncated)
})

t.test('cutPage fails for a page that is too tall with overflow fail', async (t) => {
  t.throws(() => cut({ fullPage: true, fullPageOverflow: 'fail' }, 26_000), { code: 'TOO_LARGE' })
  t.doesNotThrow(() => cut({ fullPage: true, fullPageOverflow: 'fail' }, 25_000))
})

t.test('cutPage uses one screenshot or sections as configured', async (t) => {
  const shots = (options: CaptureOptions, height: number) => cut({ fullPage: true, viewportWidth: 400, ...options }, height).tiles.length
  t.equal(shots({ fullPageAlgorithm: 'native' }, 16_384), 1)
  t.equal(shots({ fullPageAlgorithm: 'native' }, 16_385), 2)
  const { warnings } = cut({ fullPage: true, fullPageAlgorithm: 'native' }, 16_385)
  t.strictSame(warnings, ['full_page_algorithm is stitch: the page is too tall for one shot'])
  t.equal(shots({ fullPageAlgorithm: 'stitch', fullPageSectionHeight: 1_000 }, 5_000), 5)
  t.equal(shots({ fullPageFixedElements: 'keep' }, 5_000), 2, 'only sections can repeat an element')
})

t.test('cutPage captures a region anywhere, and cuts it at the limit of the format', async (t) => {
  const page = { contentWidth: 1920, contentHeight: 9_000, scrollX: 0, scrollY: 100 }
  const region = { x: 5, y: 2_000, width: 300, height: 40_000 }
  const picture = cutPage(buildPlan('https://example.com/', { format: 'webp' }), page, region)
  t.match(picture, { isWindow: false, truncated: true, tiles: [{ x: 5, y: 2_000, width: 300 }] })
  t.equal(heightOf(picture), 16_383)
})

t.test('cutPage captures the whole width of a page if configured', async (t) => {
  const wide = { contentWidth: 3_000, contentHeight: 1_080, scrollX: 0, scrollY: 0 }
  t.equal(cutPage(buildPlan('https://example.com/', { fullPage: true, fullPageFullWidth: true }), wide).tiles[0]?.width, 3_000)
  t.equal(cutPage(buildPlan('https://example.com/', { fullPage: true }), wide).tiles[0]?.width, 1_920)
})

t.test('isInWindow is true only if the window contains the tile at its scroll position', async (t) => {
  const window = { width: 600, height: 400 }
  const page = { contentWidth: 2_000, contentHeight: 5_000, scrollX: 100, scrollY: 1_000 }
  const whole = { x: 100, y: 1_000, ...window }
  t.ok(isInWindow(whole, window, page))
  t.ok(isInWindow({ ...whole, x: 300, width: 400, y: 1_399, height: 1 }, window, page))
  const outside = [{ x: 99 }, { y: 999 }, { width: 601 }, { height: 401 }, { x: 300 }, { y: 1_001 }]
  assertEvery(t, outside, (part) => !isInWindow({ ...whole, ...part }, window, page))
})

t.test('cutPage: a phone that shows a wide page smaller has it at this size in the picture, in whole tiles', (t) => {
  const phone = buildPlan('https://example.com/', { viewportWidth: 390, viewportHeight: 844, viewportMobile: true, deviceScaleFactor: 2 })
  const page = { contentWidth: 980, contentHeight: 24_000, scrollX: 0, scrollY: 0, scale: 390 / 980 }
  const window = cutPage(phone, page)
  t.match(window.tiles, [{ width: 980, height: (844 * 980) / 390 }])
  t.ok(isNearly(window.scale * 980, 780))
  t.equal(window.isWindow, false)
  t.equal(cutPage({ ...phone, context: { ...phone.context, deviceScaleFactor: 1 } }, page).isWindow, true)
  const full = cutPage({ ...phone, picture: { ...phone.picture, fullPage: true } }, page)
  t.equal(full.tiles.length, 3)
  for (const { y } of full.tiles) t.ok(isNearly(y * full.scale, Math.round(y * full.scale)), `${y}`)
  const element = cutPage(phone, page, { x: 0, y: 0, width: 300, height: 200 })
  t.equal(element.scale, 2, 'an element has its own size')
  t.end()
})

const isNearly = (a: number, b: number): boolean => Math.abs(a - b) < 1e-3

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
