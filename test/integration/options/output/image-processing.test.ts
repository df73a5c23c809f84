import { createHash } from 'node:crypto'
import sharp from 'sharp'
import t from 'tap'
import { BLUE, decode, GREEN, isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page } from '../options.ts'

// Image processing after the screenshot, checked by pixels and file, and metadata in the record.

/** Left half red, right half blue, a green line of 100 px at the top; 800 × 400. */
const halves = page(
  'background:linear-gradient(90deg,#f00 400px,#00f 400px)',
  '<div style="height:100px;background:#0f0"></div><div style="height:300px"></div>',
)
/** A red box of 100 × 50 at 60, 40 on white. */
const framed = page('background:#fff', '<div style="position:absolute;left:60px;top:40px;width:100px;height:50px;background:#f00"></div>')
const noise = markup`<canvas id="c" width="800" height="400"></canvas><script>
   const c = document.querySelector('#c').getContext('2d'), d = c.createImageData(800, 400); let s = 7
   for (let i = 0; i < d.data.length; i++) { s ^= s << 13; s ^= s >>> 17; s ^= s << 5; d.data[i] = i % 4 === 3 ? 255 : s }
   c.putImageData(d, 0, 0)</script>`
const gradient = page('background:linear-gradient(90deg,#f00,#ff0,#0f0,#0ff,#00f)', '<p>Text.</p>')
const noteHead = `<meta property="og:title" content="A title"><meta name="twitter:card" content="summary"><meta name="description" content="Described">
  <link rel="icon" href="/small.png" sizes="16x16"><link rel="icon" href="/large.png" sizes="192x192">`
const noteBody = `<p style="font-family:monospace">Fixed.</p><p style="font-family:serif">Seraphs.</p>
  <a href="/first">1</a><a href="https://example.com/second#part">2</a><a href="/first">1 again</a><a href="javascript:void 0">none</a>`
const coloredHalves = 'background:linear-gradient(90deg,#ff0000 70%,#0000ff 70%)'
const stage = await openStage(t, {
  '/halves': halves,
  '/framed': framed,
  '/noise': noise,
  '/gradient': gradient,
  '/bare': page('', '<div style="width:100px;height:100px;background:#0f0"></div>'),
  '/full': page(coloredHalves, noteBody, noteHead),
  '/mirrored': page('background:linear-gradient(90deg,#0000ff 30%,#ff0000 30%)', noteBody, noteHead),
  '/blocking': page('', '<p>Text.</p><img src="/blocked/1.png"><img src="/blocked/2.png"><img src="/open/3.png">'),
  '/plain': page('', '<p>Text.</p>'),
  '/from': (_, response) => response.writeHead(302, { location: '/via' }).end(),
  '/via': (_, response) => response.writeHead(302, { location: '/answer' }).end(),
  '/answer': (_, response) => {
    response.writeHead(203, { 'content-type': 'text/html', 'x-served-by': 'a test', 'set-cookie': 'secret=1' })
    response.end(page('', '<p>Text.</p>'))
  },
})
const { shoot, site } = stage
const size = { viewportWidth: 800, viewportHeight: 400 }
const sizeOf = ({ width, height }: { width: number; height: number }) => [width, height]
const metadataOf = (picture: Buffer) => sharp(picture).metadata()

// proves: image_width, image_height, image_upscale
t.test('image_width and image_height shrink the image, and enlarge it only with image_upscale', async (t) => {
  t.strictSame(sizeOf((await shoot('/halves', { ...size, imageHeight: 200 })).pixels), [400, 200])
  t.strictSame(sizeOf((await shoot('/halves', { ...size, imageWidth: 200, imageHeight: 200 })).pixels), [200, 100])
  t.strictSame(sizeOf((await shoot('/halves', { ...size, imageWidth: 1_600 })).pixels), [800, 400])
  t.strictSame(sizeOf((await shoot('/halves', { ...size, imageWidth: 1_600, imageUpscale: true })).pixels), [1_600, 800])
})

// proves: image_position, image_background
t.test('option image_fit: covers, contains, fills, stays inside or goes outside', async (t) => {
  const both = { ...size, imageWidth: 200, imageHeight: 200 }
  const cover = await shoot('/halves', { ...both, imageFit: 'cover', imagePosition: 'left' })
  t.strictSame(sizeOf(cover.pixels), [200, 200])
  t.ok(isNear(cover.pixels.at(190, 150), RED), 'the left half fills it')
  const right = await shoot('/halves', { ...both, imageFit: 'cover', imagePosition: 'right' })
  t.ok(isNear(right.pixels.at(10, 150), BLUE))
  const contain = await shoot('/halves', { ...both, imageFit: 'contain', imagePosition: 'bottom', imageBackground: '#ff00ff' })
  t.strictSame(sizeOf(contain.pixels), [200, 200])
  t.ok(isNear(contain.pixels.at(100, 50), [255, 0, 255]) && isNear(contain.pixels.at(20, 180), RED), 'padding above')
  const fill = await shoot('/halves', { ...both, imageFit: 'fill' })
  t.strictSame(sizeOf(fill.pixels), [200, 200])
  t.ok(isNear(fill.pixels.at(20, 20), GREEN) && isNear(fill.pixels.at(20, 190), RED))
  t.strictSame(sizeOf((await shoot('/halves', { ...both, imageFit: 'outside' })).pixels), [400, 200])
})

t.test('option background_color: sets the background of a page without one', async (t) => {
  for (const [backgroundColor, color] of [
    ['#336699', [0x33, 0x66, 0x99]],
    ['rgb(1, 2, 3)', [1, 2, 3]],
    ['teal', [0, 128, 128]],
  ] as const) {
    const { pixels } = await shoot('/bare', { ...size, backgroundColor })
    t.ok(isNear(pixels.at(500, 300), color, 1) && isNear(pixels.at(50, 50), GREEN), backgroundColor)
  }
})

// proves: image_trim, image_trim_threshold, image_padding
t.test('image_trim removes a border of one color, image_padding adds one', async (t) => {
  t.strictSame(sizeOf((await shoot('/framed', { ...size, imageTrim: true })).pixels), [100, 50])
  const untouched = await shoot('/framed', { ...size, imageTrim: true, imageTrimThreshold: 255 })
  t.strictSame(sizeOf(untouched.pixels), [800, 400], 'all pixels count as border')
  const { pixels } = await shoot('/framed', { ...size, imageTrim: true, imagePadding: 20, imageBackground: 'navy' })
  t.strictSame(sizeOf(pixels), [140, 90])
  t.ok(isNear(pixels.at(10, 10), [0, 0, 128]) && isNear(pixels.at(20, 20), RED))
})

t.test('option image_lossless: keeps every pixel of a webp and an avif', async (t) => {
  const exact = await shoot('/noise', size)
  for (const format of ['webp', 'avif'] as const) {
    const { pixels } = await shoot('/noise', { ...size, format, imageLossless: true })
    for (let x = 0; x < 800; x += 37) t.strictSame(pixels.at(x, 200).slice(0, 3), exact.pixels.at(x, 200).slice(0, 3), `${format} ${x}`)
  }
})

t.test('option image_progressive: encodes a progressive jpeg and an interlaced png', async (t) => {
  for (const format of ['jpeg', 'png'] as const) {
    t.equal((await metadataOf((await shoot('/halves', { ...size, format })).picture)).isProgressive, false)
    t.equal((await metadataOf((await shoot('/halves', { ...size, format, imageProgressive: true })).picture)).isProgressive, true)
  }
})

t.test('option image_palette_colors: limits the number of colors of a png', async (t) => {
  const { picture, pixels } = await shoot('/gradient', { ...size, imagePaletteColors: 16 })
  t.equal((await metadataOf(picture)).isPalette, true)
  const colors = new Set(Array.from({ length: 800 }, (_, x) => pixels.at(x, 200).join()))
  t.ok(colors.size <= 16 && colors.size > 4, `${colors.size} colors`)
})

t.test('option image_max_bytes: lowers quality and size until the file fits', async (t) => {
  for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
    const { picture, findings } = await shoot('/noise', { viewportWidth: 400, viewportHeight: 200, format, imageMaxBytes: 25_000 })
    t.ok(picture.length <= 25_000, `${format}: ${picture.length}`)
    t.match(findings.warnings, [/^to fit into image_max_bytes: /])
  }
  const roomy = await shoot('/halves', { ...size, format: 'jpeg', imageMaxBytes: 100_000 })
  t.strictSame([roomy.findings.warnings, sizeOf(roomy.pixels)], [[], [800, 400]])
})

t.test('option image_grayscale: removes the colors', async (t) => {
  const { pixels } = await shoot('/halves', { ...size, imageGrayscale: true })
  const [r, g = r, b = r] = pixels.at(10, 200)
  t.ok(r === g && g === b && r !== undefined && r > 20 && r < 200, `${pixels.at(10, 200)}`)
})

t.test('option optimize_for_speed: false makes a smaller png with the same pixels', async (t) => {
  const fast = await shoot('/gradient', size)
  const small = await shoot('/gradient', { ...size, optimizeForSpeed: false })
  t.ok(small.picture.length < fast.picture.length, `${small.picture.length} of ${fast.picture.length}`)
  t.strictSame(small.pixels.at(333, 222), fast.pixels.at(333, 222))
})

// proves: thumbnail_height
t.test('option thumbnail_width: creates a thumbnail beside the screenshot', async (t) => {
  const { pixels, findings } = await shoot('/halves', { ...size, format: 'webp', thumbnailWidth: 100 })
  t.strictSame(sizeOf(pixels), [800, 400], 'the screenshot itself is unchanged')
  const small = await decode(findings.files.get('thumbnail') ?? Buffer.of())
  t.strictSame([small.format, ...sizeOf(small)], ['webp', 100, 50])
  t.ok(isNear(small.at(20, 40), RED, 20) && isNear(small.at(80, 40), BLUE, 20))
  const cropped = await shoot('/halves', { ...size, thumbnailWidth: 100, thumbnailHeight: 20 })
  const top = await decode(cropped.findings.files.get('thumbnail') ?? Buffer.of())
  t.match(top, { format: 'png', width: 100, height: 20 })
  t.ok(isNear(top.at(50, 5), GREEN, 20), 'its top part')
})

t.test('option thumbnail_format: sets the format of the thumbnail', async (t) => {
  for (const [options, wanted] of [
    [{ format: 'avif' }, 'webp'],
    [{ thumbnailFormat: 'jpeg' }, 'jpeg'],
  ] as const) {
    const { findings } = await shoot('/halves', { ...size, ...options, thumbnailWidth: 50 })
    t.equal((await metadataOf(findings.files.get('thumbnail') ?? Buffer.of())).format, wanted)
  }
})

// proves: format
t.test('an avif shows the page, smaller than a jpeg', async (t) => {
  const avif = await shoot('/gradient', { ...size, format: 'avif', imageQuality: 60 })
  const jpeg = await shoot('/gradient', { ...size, format: 'jpeg', imageQuality: 60 })
  t.equal((await metadataOf(avif.picture)).compression, 'av1')
  t.ok(isNear(avif.pixels.at(5, 300), RED, 25) && isNear(avif.pixels.at(795, 300), BLUE, 25))
  t.ok(avif.picture.length < jpeg.picture.length, `${avif.picture.length} of ${jpeg.picture.length}`)
  t.ok(avif.picture.equals((await shoot('/gradient', { ...size, format: 'avif', imageQuality: 60 })).picture), 'the same bytes each time')
})

t.test('text has no colored fringes', async (t) => {
  const { pixels } = await shoot('/framed', {
    ...size,
    styles: 'body::after { content: "Illumination illimitable"; font: 40px sans-serif; color: #000 }',
  })
  for (let y = 0; y < 60; y++) {
    for (let x = 200; x < 500; x++) {
      const [r, g, b] = pixels.at(x, y)
      if (r !== g || g !== b) return t.fail(`${x},${y} is ${r},${g},${b}`)
    }
  }
})

// proves: metadata_page_title, metadata_http_response_status_code
t.test('title, status and final URL are always recorded', async (t) => {
  const { findings } = await shoot('/from', { metadataPageTitle: true, metadataHttpResponseStatusCode: true })
  t.match(findings, { pageTitle: 'A page', httpStatus: 203, finalUrl: site.url('/answer') })
  t.strictSame(findings.page, {})
})

// proves: metadata_http_response_headers
t.test('option metadata_final_url: records the redirects, and the headers of the page without its cookies', async (t) => {
  const { page } = (await shoot('/from', { metadataFinalUrl: true, metadataHttpResponseHeaders: true })).findings
  t.strictSame(page.redirects, [site.url('/from'), site.url('/via')])
  const { responseHeaders = {} } = page
  t.match(responseHeaders, { 'x-served-by': 'a test', 'content-type': 'text/html' })
  t.notOk('set-cookie' in responseHeaders || 'location' in responseHeaders)
})

// proves: metadata_image_size, metadata_final_url, metadata_icon
t.test('a page without redirects and icons has the size of the image, and /favicon.ico', async (t) => {
  const { page } = (await shoot('/plain', { metadataImageSize: true, metadataFinalUrl: true, metadataIcon: true })).findings
  t.strictSame(page, { imageSize: true, redirects: [], icon: site.url('/favicon.ico') })
})

// proves: metadata_open_graph, metadata_icon, metadata_links, metadata_fonts, metadata_timings, metadata_palette
t.test('all metadata of a page are recorded together', async (t) => {
  const { page } = (
    await shoot('/full', {
      ...{ metadataOpenGraph: true, metadataIcon: true, metadataLinks: true },
      ...{ metadataFonts: true, metadataTimings: true, metadataPalette: true },
    })
  ).findings
  t.strictSame(page.openGraph, { 'og:title': 'A title', 'twitter:card': 'summary', description: 'Described' })
  t.equal(page.icon, site.url('/large.png'), 'the largest one')
  t.strictSame(page.links, [site.url('/first'), 'https://example.com/second#part'], 'each once')
  t.match(page.palette?.slice(0, 2), ['#ff0000', '#0000ff'], 'the most frequent first')
  const { fonts = [], timings = {} } = page
  t.ok(fonts.length >= 2 && fonts.some((font) => /mono/i.test(font)) && !fonts.includes('monospace'), `used: ${fonts}`)
  t.ok((timings.response_start ?? 0) > 0 && (timings.load ?? 0) >= (timings.response_start ?? 0), JSON.stringify(timings))
})

t.test('option metadata_content_hash: identifies equal files and similar images', async (t) => {
  const wanted = { metadataContentHash: true, viewportWidth: 400, viewportHeight: 300 }
  const first = await shoot('/full', wanted)
  const { contentHash } = first.findings.page
  t.equal(contentHash?.sha256, createHash('sha256').update(first.picture).digest('hex'))
  const jpeg = (await shoot('/full', { ...wanted, format: 'jpeg' })).findings.page.contentHash
  t.not(jpeg?.sha256, contentHash?.sha256)
  t.ok(distance(jpeg?.perceptual, contentHash?.perceptual) <= 6, 'the same page in another format')
  const other = (await shoot('/mirrored', wanted)).findings.page.contentHash
  t.ok(distance(other?.perceptual, contentHash?.perceptual) > 6, 'another picture')
})

t.test('option metadata_blocked_requests: counts the requests that were blocked', async (t) => {
  const wanted = { metadataBlockedRequests: true, blockRequests: ['*://*/blocked/*'] }
  t.strictSame((await shoot('/blocking', wanted)).findings.page, { blockedRequests: 2 })
  t.strictSame((await shoot('/blocking', { metadataBlockedRequests: true })).findings.page, { blockedRequests: 0 })
})

const distance = (a = '', b = ''): number => {
  let bits = BigInt(`0x${a}`) ^ BigInt(`0x${b}`)
  let count = 0
  for (; bits > 0n; bits >>= 1n) count += Number(bits & 1n)
  return count
}
