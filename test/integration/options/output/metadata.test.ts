// Metadata in the record.

import { createHash } from 'node:crypto'
import t from 'tap'
import { openStage, page } from '../options.ts'

const head = `<meta property="og:title" content="A title"><meta name="twitter:card" content="summary"><meta name="description" content="Described">
  <link rel="icon" href="/small.png" sizes="16x16"><link rel="icon" href="/large.png" sizes="192x192">`
const body = `<p style="font-family:monospace">Fixed.</p><p style="font-family:serif">Seraphs.</p>
  <a href="/first">1</a><a href="https://example.com/second#part">2</a><a href="/first">1 again</a><a href="javascript:void 0">none</a>`
const halves = 'background:linear-gradient(90deg,#ff0000 70%,#0000ff 70%)'
const stage = await openStage(t, {
  '/full': page(halves, body, head),
  '/mirrored': page('background:linear-gradient(90deg,#0000ff 30%,#ff0000 30%)', body, head),
  '/blocking': page('', '<p>Text.</p><img src="/blocked/1.png"><img src="/blocked/2.png"><img src="/open/3.png">'),
  '/bare': page('', '<p>Text.</p>'),
  '/from': (_, response) => response.writeHead(302, { location: '/via' }).end(),
  '/via': (_, response) => response.writeHead(302, { location: '/answer' }).end(),
  '/answer': (_, response) => {
    response.writeHead(203, { 'content-type': 'text/html', 'x-served-by': 'a test', 'set-cookie': 'secret=1' })
    response.end(page('', '<p>Text.</p>'))
  },
})
const { shoot, site } = stage

// proves: metadata_page_title, metadata_http_response_status_code
t.test('title, status and final URL are always recorded', async (t) => {
  for (const options of [{}, { metadataPageTitle: true, metadataHttpResponseStatusCode: true }]) {
    const { findings } = await shoot('/from', options)
    t.match(findings, { pageTitle: 'A page', httpStatus: 203, finalUrl: site.url('/answer') })
    t.strictSame(findings.page, {})
  }
})

t.test('option metadata_final_url: records the redirects', async (t) => {
  const { findings } = await shoot('/from', { metadataFinalUrl: true })
  t.strictSame(findings.page, { redirects: [site.url('/from'), site.url('/via')] })
  t.strictSame((await shoot('/bare', { metadataFinalUrl: true })).findings.page, { redirects: [] })
})

t.test('option metadata_http_response_headers: records the page’s headers without its cookies', async (t) => {
  const { responseHeaders = {} } = (await shoot('/from', { metadataHttpResponseHeaders: true })).findings.page
  t.match(responseHeaders, { 'x-served-by': 'a test', 'content-type': 'text/html' })
  t.notOk('set-cookie' in responseHeaders || 'location' in responseHeaders)
})

t.test('option metadata_image_size: is recorded', async (t) => {
  t.strictSame((await shoot('/bare', { metadataImageSize: true })).findings.page, { imageSize: true })
})

t.test('option metadata_open_graph: records Open Graph, Twitter tags and the description', async (t) => {
  const { openGraph } = (await shoot('/full', { metadataOpenGraph: true })).findings.page
  t.strictSame(openGraph, { 'og:title': 'A title', 'twitter:card': 'summary', description: 'Described' })
})

t.test('option metadata_icon: records the largest icon, else /favicon.ico', async (t) => {
  t.equal((await shoot('/full', { metadataIcon: true })).findings.page.icon, site.url('/large.png'))
  t.equal((await shoot('/bare', { metadataIcon: true })).findings.page.icon, site.url('/favicon.ico'))
})

t.test('option metadata_fonts: records the font families that are really used', async (t) => {
  const { fonts = [] } = (await shoot('/full', { metadataFonts: true })).findings.page
  t.ok(fonts.length >= 2, fonts.join())
  t.ok(fonts.some((font) => /mono/i.test(font)) && !fonts.includes('monospace'), fonts.join())
})

t.test('option metadata_timings: records the page’s load timings', async (t) => {
  const { timings = {} } = (await shoot('/full', { metadataTimings: true })).findings.page
  t.ok((timings.response_start ?? 0) > 0 && (timings.load ?? 0) >= (timings.response_start ?? 0), JSON.stringify(timings))
})

t.test('option metadata_links: records the URLs of the page’s links, each once', async (t) => {
  const { links } = (await shoot('/full', { metadataLinks: true })).findings.page
  t.strictSame(links, [site.url('/first'), 'https://example.com/second#part'])
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

t.test('option metadata_palette: records the image’s main colors, the most frequent first', async (t) => {
  const { palette } = (await shoot('/full', { metadataPalette: true })).findings.page
  t.match(palette?.slice(0, 2), ['#ff0000', '#0000ff'])
})

const distance = (a = '', b = ''): number => {
  let bits = BigInt(`0x${a}`) ^ BigInt(`0x${b}`)
  let count = 0
  for (; bits > 0n; bits >>= 1n) count += Number(bits & 1n)
  return count
}
