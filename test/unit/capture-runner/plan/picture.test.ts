import { CaptureOptions, withDefaults } from '@tintype/crds/options/catalog'
import t from 'tap'
import { buildImageProcessing } from '../../../../capture-runner/src/plan/image-processing.ts'
import { buildPdf, toInches } from '../../../../capture-runner/src/plan/pdf.ts'
import { buildFullPage, buildRegion, hasOwnCanvas, parseColor } from '../../../../capture-runner/src/plan/picture.ts'
import { buildCopy, toCopyKey } from '../../../../capture-runner/src/plan/storage.ts'

const fullPageOf = (options: CaptureOptions) => buildFullPage(withDefaults(options), withDefaults(options).viewportHeight)

t.test('buildFullPage prepares nothing for a screenshot of the window', async (t) => {
  t.match(fullPageOf({ fullPageScroll: true, fullPageScrollContainer: 'auto' }), { sweep: false, eagerImages: false, reach: 1_080 })
  t.notOk('scroll' in fullPageOf({ fullPageScroll: true }) || 'scrollContainer' in fullPageOf({ fullPageScrollContainer: 'auto' }))
})

t.test('buildFullPage unfolds what scrolls where the whole page is wanted', async (t) => {
  t.strictSame(fullPageOf({ fullPage: true, fullPageScrollContainer: 'main' }).scrollContainer, { selector: 'main' })
  t.equal(fullPageOf({ fullPage: true, fullPageScrollContainer: 'auto' }).scrollContainer, 'largest')
  t.equal(fullPageOf({ format: 'pdf' }).scrollContainer, 'filling')
  t.notOk('scrollContainer' in fullPageOf({ fullPage: true, fullPageScrollContainer: 'none' }))
})

t.test('buildFullPage undoes a lock where the screenshot may reach beyond the window, unless the page stays as it is', async (t) => {
  t.strictSame(
    [{ fullPage: true }, { selector: 'p' }, { clipX: 0, clipY: 3_000, clipWidth: 10, clipHeight: 500 }].map(
      (options) => fullPageOf(options).unlocks,
    ),
    [true, true, true],
  )
  t.strictSame(
    [{}, { fullPage: true, fullPageScrollContainer: 'none' }].map((options) => fullPageOf(options).unlocks),
    [false, false],
  )
})

t.test('buildFullPage sweeps a page as far as the screenshot may reach', async (t) => {
  t.match(fullPageOf({ fullPage: true }), { sweep: true, eagerImages: true, reach: 25_000 })
  t.match(fullPageOf({ format: 'pdf' }), { sweep: true, reach: 25_000 })
  t.match(fullPageOf({ clipX: 0, clipY: 3_000, clipWidth: 10, clipHeight: 500 }), { sweep: true, reach: 3_500 })
  t.match(fullPageOf({ clipX: 0, clipY: 0, clipWidth: 10, clipHeight: 500 }), { sweep: false, eagerImages: false })
  t.match(fullPageOf({ selector: 'p' }), { sweep: false, eagerImages: true, reach: 50_000 })
})

t.test('buildFullPage scrolls instead of sweeping, one window at a time, as often as the page may need', async (t) => {
  const { sweep, scroll } = fullPageOf({ fullPage: true, fullPageScroll: true, viewportHeight: 1_000, fullPageScrollDelay: 7 })
  t.strictSame([sweep, scroll], [false, { stepPixels: 1_000, maxScrolls: 25, delayMilliseconds: 7 }])
  t.match(fullPageOf({ fullPage: true, fullPageScroll: true, fullPageScrollBy: 200, fullPageMaxScrolls: 3 }).scroll, {
    stepPixels: 200,
    maxScrolls: 3,
  })
})

const regionOf = (options: CaptureOptions) => buildRegion(withDefaults(options))
const clip = { clipX: 1, clipY: 2, clipWidth: 3, clipHeight: 4 }

t.test('buildRegion plans a rectangle when all four of its values are given', async (t) => {
  t.strictSame(regionOf(clip), { clip: { x: 1, y: 2, width: 3, height: 4 } })
  const incomplete = Object.keys(clip).map((name) => regionOf({ ...clip, [name]: undefined }))
  t.strictSame(incomplete, Array(4).fill({}))
})

const colors: [text: string, color: number[]][] = [
  ['#fff', [255, 255, 255, 1]],
  ['#0f08', [0, 255, 0, 136 / 255]],
  ['#336699', [51, 102, 153, 1]],
  ['#33669980', [51, 102, 153, 128 / 255]],
  ['rgb(1,2,3)', [1, 2, 3, 1]],
  ['rgb( 1 , 2 , 300 )', [1, 2, 255, 1]],
  ['rgba(10, 20, 30, 0.5)', [10, 20, 30, 0.5]],
  ['transparent', [0, 0, 0, 0]],
  ['orange', [255, 165, 0, 1]],
]

for (const [text, [r, g, b, alpha]] of colors) {
  t.test(`parseColor reads ${text}`, async (t) => {
    t.ok(CaptureOptions.safeParse({ imageBackground: text }).success, 'accepted by the schema')
    t.strictSame(parseColor(text), { r, g, b, alpha })
  })
}

t.test('the schema accepts only colors that parseColor supports', async (t) => {
  for (const text of ['#12', '#12345', 'rgb(1,2)', 'rgb(1,2,3', 'mauve', 'url(x)', 'red;', '#ggg', ''])
    t.notOk(CaptureOptions.safeParse({ imageBackground: text }).success, text)
})

t.test('a page without a background is white, unless the client asks for another color or none', async (t) => {
  t.notOk(hasOwnCanvas({ format: 'png', transparent: false }))
  t.ok(hasOwnCanvas({ format: 'png', transparent: true }))
  t.ok(hasOwnCanvas({ format: 'png', transparent: false, canvas: { r: 0, g: 0, b: 0, alpha: 1 } }))
})

const processingOf = (options: CaptureOptions) => buildImageProcessing(withDefaults(options))

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
  for (const options of idle) t.strictSame(processingOf(options), { fastPng: true }, JSON.stringify(options))
})

t.test('buildImageProcessing plans the requested processing', async (t) => {
  const options = {
    ...{ imageWidth: 10, imageUpscale: true, imageTrim: true, imageTrimThreshold: 3, imagePadding: 5, imageBackground: 'black' },
    ...{ imageProgressive: true, imagePaletteColors: 8, imageMaxBytes: 20_000, imageGrayscale: true },
  }
  t.match(processingOf(options).processing, {
    ...{ resize: { width: 10, fit: 'inside', position: 'top', upscale: true }, trimThreshold: 3, padding: 5 },
    ...{ background: { r: 0, g: 0, b: 0, alpha: 1 }, progressive: true, paletteColors: 8, maxBytes: 20_000, grayscale: true },
  })
  t.match(processingOf({ format: 'webp', imageLossless: true }).processing, { lossless: true, grayscale: false, padding: 0 })
  t.ok(processingOf({ format: 'avif' }).processing, 'the browser writes none')
})

t.test('buildImageProcessing plans a thumbnail in the image’s own format if possible', async (t) => {
  t.strictSame(processingOf({ thumbnailWidth: 100 }).thumbnail, { width: 100, format: 'png' })
  t.strictSame(processingOf({ thumbnailHeight: 90, format: 'avif' }).thumbnail, { height: 90, format: 'webp' })
  t.strictSame(processingOf({ thumbnailWidth: 16, thumbnailFormat: 'jpeg' }).thumbnail, { width: 16, format: 'jpeg' })
})

t.test('toInches reads every unit, and pixels without one', async (t) => {
  for (const [length, inches] of [
    ['96', 1],
    ['96px', 1],
    ['1.5in', 1.5],
    ['2.54cm', 1],
    ['25.4mm', 1],
    ['72pt', 1],
    ['6pc', 1],
    ['0', 0],
  ] as const)
    t.equal(toInches(length), inches, length)
})

t.test('buildPdf plans nothing for images', async (t) => {
  t.strictSame(buildPdf(withDefaults({ pdfScale: 2 })), {})
})

t.test('buildPdf prefers width and height to the paper format', async (t) => {
  const { pages } = buildPdf(withDefaults({ format: 'pdf', pdfPaperFormat: 'letter', pdfHeight: '3in' }))
  t.match(pages, { paperWidth: 8.5, paperHeight: 3, printBackground: true, tagged: false, pageRanges: '' })
  const templates = { pdfHeaderTemplate: '<b></b>', pdfFooterTemplate: '<i></i>' }
  t.match(buildPdf(withDefaults({ format: 'pdf', pdfWidth: '2in', pdfPageRanges: '1', ...templates })).pages, {
    ...{ paperWidth: 2, pageRanges: '1', headerTemplate: '<b></b>', footerTemplate: '<i></i>' },
  })
})

t.test('buildPdf has only the margins of the client, because a page may have its own', async (t) => {
  t.strictSame(buildPdf(withDefaults({ format: 'pdf' })).pages?.margins, {})
  const options = { pdfMarginTop: '2in', pdfMarginRight: '0', pdfMarginLeft: '96px' }
  t.strictSame(buildPdf(withDefaults({ format: 'pdf', ...options })).pages?.margins, { top: 2, right: 0, left: 1 })
})

t.test('buildPdf tags a document with an outline', async (t) => {
  t.match(buildPdf(withDefaults({ format: 'pdf', pdfOutline: true })).pages, { tagged: true, outline: true })
})

const names = { id: 'scr_1', url: 'https://www.example.com:8443/a?b', format: 'webp', now: new Date('2026-11-21T23:59:59.999Z') }

t.test('toCopyKey replaces placeholders in braces', async (t) => {
  t.equal(toCopyKey('{id}.{format}', names), 'scr_1.webp')
  t.equal(toCopyKey('a/{host}/{date}/{id}-{id}.{format}', names), 'a/www.example.com/2026-11-21/scr_1-scr_1.webp')
  t.equal(toCopyKey('{host}', { ...names, url: 'about:html' }), 'none')
  t.equal(toCopyKey('{host}', { ...names, url: 'http://[2001:db8::1]/' }), '-2001-db8--1-')
})

t.test('toCopyKey leaves a name in braces as it is when it does not know the name', async (t) => {
  t.equal(toCopyKey('{id}/{title}', names), 'scr_1/{title}')
})

t.test('buildCopy plans a copy if all required options are set', async (t) => {
  const options = { storageBucket: 'abc', storageEndpoint: 'https://s3.example.com' }
  const secrets = { storageAccessKeyId: 'id', storageSecretAccessKey: 'secret' }
  t.strictSame(buildCopy(withDefaults(options), secrets), {
    copy: {
      bucket: 'abc',
      endpoint: 'https://s3.example.com',
      region: 'us-east-1',
      accessKey: 'id',
      secretKey: 'secret',
      path: '{id}.{format}',
    },
  })
  t.match(buildCopy(withDefaults({ ...options, storagePathStyle: false }), secrets), { copy: { pathStyle: false } })
  t.strictSame(buildCopy(withDefaults(options)), {})
  t.strictSame(buildCopy(withDefaults(undefined), secrets), {})
})
