import type { ServerResponse } from 'node:http'
import sharp from 'sharp'
import t from 'tap'
import { assertSome } from '../../support/accepts.ts'
import { openStage } from '../options/options.ts'

// URLs that return a PDF. The browser itself printed the files.

const SHEETS = `<!doctype html><html lang="en"><title>Two sheets</title><style>
  @page { size: 400px 600px; margin: 0 } body { margin: 0 } section { height: 600px; overflow: hidden; break-after: page } section:last-child { break-after: auto }
</style><section style="background:#00a000"><h1>First</h1></section><section style="background:#a00000"><p lang="ja">二枚目</section>`

/** A PDF whose catalog is encrypted with an unknown password. */
const ENCRYPTED = [
  '%PDF-1.4',
  '1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj',
  '2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj',
  '3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]>> endobj',
  `4 0 obj <</Filter/Standard/V 1/R 2/P -4/O<${'41'.repeat(32)}>/U<${'42'.repeat(32)}>>> endobj`,
  `trailer <</Size 5/Root 1 0 R/Encrypt 4 0 R/ID[<${'43'.repeat(16)}><${'43'.repeat(16)}>]>>`,
  '%%EOF',
].join('\n')

const LETTERS = 'BT /F1 24 Tf 20 70 Td (abc) Tj ET BT /F2 24 Tf 20 20 Td <93fa967b8cea> Tj ET'

/** Symbol and a Japanese font, which are not embedded in the file. */
const WITHOUT_FONTS = [
  '%PDF-1.4',
  '1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj',
  '2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj',
  '3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 160 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>>> endobj',
  `4 0 obj <</Length ${LETTERS.length}>> stream\n${LETTERS}\nendstream endobj`,
  '5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Symbol>> endobj',
  '6 0 obj <</Type/Font/Subtype/Type0/BaseFont/KozMinPro-Regular/Encoding/90ms-RKSJ-H/DescendantFonts[7 0 R]>> endobj',
  '7 0 obj <</Type/Font/Subtype/CIDFontType0/BaseFont/KozMinPro-Regular/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 4>>/FontDescriptor 8 0 R>> endobj',
  '8 0 obj <</Type/FontDescriptor/FontName/KozMinPro-Regular/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 880/Descent -120/StemV 80>> endobj',
  'trailer <</Size 9/Root 1 0 R>>',
  '%%EOF',
].join('\n')

/** 100,000 pixels tall in a window of 800. */
const TALL = WITHOUT_FONTS.replace('[0 0 160 100]', '[0 0 160 20000]')

let printed: Buffer = Buffer.alloc(0)
/** Credentials of the requests for `/members`. */
const signedIn: unknown[] = []
let asked = 0
let silences = 0

const pdf = (response: ServerResponse, body: Buffer | string, headers: Record<string, string> = {}) =>
  void response.writeHead(200, { 'content-type': 'application/pdf', ...headers }).end(body)

const stage = await openStage(
  t,
  {
    '/sheets': SHEETS,
    '/file.pdf': (_, response) => pdf(response, printed),
    '/attached': (_, response) => pdf(response, printed, { 'content-disposition': 'attachment; filename=a.pdf' }),
    '/moved': (_, response) => void response.writeHead(302, { location: '/file.pdf' }).end(),
    '/members': ({ headers }, response) => {
      const { cookie, authorization, 'user-agent': agent } = headers
      signedIn.push({ cookie, authorization, agent })
      pdf(response, printed)
    },
    '/without-fonts': (_, response) => pdf(response, WITHOUT_FONTS),
    '/tall': (_, response) => pdf(response, TALL),
    '/encrypted': (_, response) => pdf(response, ENCRYPTED),
    '/damaged': (_, response) => pdf(response, '%PDF-1.4\n%%EOF'),
    '/once': (_, response) => {
      asked += 1
      if (asked === 1) pdf(response, printed)
      else response.writeHead(403).end()
    },
    '/silent': (_, response) => {
      silences += 1
      if (silences === 1) pdf(response, printed)
    },
    '/large': (_, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf' })
      const part = Buffer.alloc(1024 * 1024, 32)
      for (let mebibytes = 0; mebibytes < 66; mebibytes++) response.write(part)
      response.end()
    },
  },
  { usual: { viewportWidth: 800, viewportHeight: 500 } },
)
printed = (await stage.take('/sheets', { format: 'pdf', pdfPreferCssPageSize: true, pdfPrintBackground: true })).picture

const GREEN = [0, 160, 0]
const RED = [160, 0, 0]

for (const path of ['/file.pdf', '/attached', '/moved']) {
  t.test(`a PDF is shown as a page: ${path}`, async (t) => {
    const { picture, pixels, findings } = await stage.shoot(path)
    t.strictSame([pixels.size, pixels.at(790, 490)], [[800, 500], GREEN])
    assertSome(t, (await sharp(picture).stats()).channels, ({ stdev }) => stdev > 1, 'the heading is drawn')
    t.equal(findings.pageTitle, 'Two sheets')
    t.strictSame(findings.warnings, [])
  })
}

t.test('a PDF as a full page shows all its pages, one below the other', async (t) => {
  const { pixels, findings } = await stage.shoot('/file.pdf', { fullPage: true, deviceScaleFactor: 2 })
  t.strictSame([pixels.size, pixels.at(1590, 2390), pixels.at(1590, 2410)], [[1600, 4800], GREEN, RED])
  t.strictSame(findings.warnings, [])
})

t.test('a PDF as a full page ends at full_page_max_height, with a warning', async (t) => {
  const { pixels, findings } = await stage.shoot('/file.pdf', { fullPage: true, fullPageMaxHeight: 1000 })
  t.equal(pixels.height, 1000)
  t.match(findings.warnings.join(), /first 1 of the 2 pages of the PDF/)
})

t.test('a PDF is also shown in other formats and in a Playwright tab', async (t) => {
  for (const options of [{ format: 'jpeg' }, { format: 'webp', locale: 'de-DE' }] as const) {
    const [red = 0, green = 0] = (await stage.shoot('/file.pdf', options)).pixels.at(790, 490)
    t.ok(green > 140 && red < 20, options.format)
  }
})

t.test('a PDF without embedded fonts is drawn with others, even if only a CMap names the letters', async (t) => {
  const { picture } = await stage.take('/without-fonts')
  for (const top of [0, 250]) {
    const { channels } = await sharp(picture)
      .extract({ left: 0, top, width: 800, height: 250 })
      .toBuffer()
      .then((half) => sharp(half).stats())
    t.ok((channels[0]?.stdev ?? 0) > 10, `letters are drawn below ${top}`)
  }
})

t.test('a PDF with an extremely tall page is drawn', async (t) => {
  t.strictSame((await stage.shoot('/tall', { fullPage: true })).pixels.size, [800, 25_000])
})

t.test('a PDF is fetched with the page’s credentials', async (t) => {
  const privateOptions = { cookies: [{ name: 'member', value: '1' }], headers: { Authorization: 'Bearer 2' } }
  const { pixels } = await stage.shoot('/members', { userAgent: 'Reader/3' }, { privateOptions })
  t.strictSame(pixels.at(790, 490), GREEN)
  const expected = { cookie: 'member=1', authorization: 'Bearer 2', agent: 'Reader/3' }
  t.strictSame(signedIn, [expected, expected])
})

t.test('a PDF that does not arrive within the timeout fails with TIMEOUT', async (t) => {
  const error = await stage.fail('/silent', { timeout: 2000 }, { signal: AbortSignal.timeout(20_000) })
  t.equal(error.code, 'TIMEOUT')
})

const FAILURES = [
  { path: '/encrypted', message: /the PDF needs a password/ },
  { path: '/damaged', message: /the PDF is damaged/ },
  { path: '/once', message: /not on a second request/ },
  { path: '/large', message: /the PDF is larger than 64 MiB/ },
  { path: '/file.pdf', message: /javascript_enabled/, options: { javascriptEnabled: false } },
  { path: '/file.pdf', message: /a PDF \(application\/pdf\), not a page/, options: { format: 'pdf' } },
] as const

for (const { path, message, ...more } of FAILURES) {
  t.test(`a PDF that cannot be shown fails with a reason: ${message.source}`, async (t) => {
    const error = await stage.fail(path, 'options' in more ? more.options : {})
    t.equal(error.code, 'UNSUPPORTED_CONTENT')
    t.match(error.message, message)
  })
}
