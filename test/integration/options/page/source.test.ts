import t from 'tap'
import { BLUE, GREEN, isNear, WHITE } from '../../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options.ts'

const stage = await openStage(t, {
  '/': page('background:#fff', '<p>Never asked for.'),
  '/green.css': (_, response) => void response.writeHead(200, { 'content-type': 'text/css' }).end('body { background: #0f0 }'),
  '/deep/blue.css': (_, response) => void response.writeHead(200, { 'content-type': 'text/css' }).end('body { background: #00f }'),
  '/from': page('', '<p>text'),
})
const window = { viewportWidth: 600, viewportHeight: 400 }
const ABOUT = 'about:html'

t.test('option html: shows the markup with its scripts, styles and resources', async (t) => {
  const html = `<!doctype html><title>Made</title><link rel="stylesheet" href="${stage.site.url('/green.css')}"><p id="p">text</p>
    <script>document.title += ' of ' + document.getElementById('p').textContent + ', ' + document.compatMode + ' ü'</script>`
  const { pixels, findings } = await stage.shootAt(ABOUT, { ...window, html, waitUntil: ['load', 'networkidle'] })
  t.ok(isNear(pixels.at(300, 200), GREEN))
  t.match(findings, { pageTitle: 'Made of text, CSS1Compat ü', finalUrl: ABOUT, httpStatus: 200 })
  t.equal(stage.lastSeen('/green.css').headers.referer, undefined)
})

t.test('option html: works without scripts and together with options that intercept requests', async (t) => {
  const html = '<body style="background:#00f"><p>text<script>document.body.style.background = "red"</script>'
  t.ok(isNear((await stage.shootAt(ABOUT, { ...window, html, javascriptEnabled: false })).pixels.at(300, 200), BLUE))
  const held = await stage.shootAt(ABOUT, { ...window, html, blockRequests: ['*.png'], styles: 'body { background: #0f0 !important }' })
  t.ok(isNear(held.pixels.at(300, 200), GREEN))
})

t.test('option markdown: is shown as a page, and HTML in it as text', async (t) => {
  const markdown = '# Invoice & more\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>document.title = "obeyed"</script>\n\n<b>bold</b>'
  const scripts = `document.title += [' ', document.querySelectorAll('td').length, document.querySelectorAll('h1').length, document.querySelectorAll('b').length].join('|')`
  const { pixels, findings } = await stage.shootAt(ABOUT, { ...window, markdown, scripts })
  t.match(findings.pageTitle, 'Invoice & more |2|1|0')
  t.ok(isNear(pixels.at(2, 2), WHITE))
})

t.test('option html_base_url: is the base of relative links, and the page’s URL', async (t) => {
  const html = '<link rel="stylesheet" href="blue.css"><p>text'
  const before = stage.seen.length
  const htmlBaseUrl = stage.site.url('/deep/page?x')
  const { pixels, findings } = await stage.shootAt(htmlBaseUrl, { ...window, html, htmlBaseUrl })
  t.ok(isNear(pixels.at(300, 200), BLUE))
  t.equal(findings.finalUrl, htmlBaseUrl)
  t.strictSame(
    stage.seen.slice(before).map(({ path }) => path),
    ['/deep/blue.css'],
    'the page itself is not requested',
  )
})

t.test('option referer: is sent with the request for the page', async (t) => {
  const referer = 'https://www.example.com/search?q=screenshots'
  await stage.shoot('/from', { referer })
  t.equal(stage.lastSeen('/from').headers.referer, referer)
})

t.test('option offline: disables the network for markup', async (t) => {
  const html = `<body style="background:#00f"><link rel="stylesheet" href="${stage.site.url('/green.css')}"><p>text`
  const before = stage.seen.length
  const { pixels } = await stage.shootAt(ABOUT, { ...window, html, offline: true })
  t.ok(isNear(pixels.at(300, 200), BLUE))
  t.equal(stage.seen.length, before)
  t.equal((await stage.fail('/', { offline: true })).code, 'INVALID_OPTIONS', 'a page with a URL needs the network')
})

t.test('missing markup, or html together with markdown, is rejected', async (t) => {
  for (const options of [{}, { html: 'a', markdown: 'b' }, { htmlBaseUrl: 'https://example.com/' }]) {
    await t.rejects(stage.shootAt(ABOUT, options), { code: 'INVALID_OPTIONS' }, JSON.stringify(options))
  }
})
