import t from 'tap'
import { servePages, serving } from '../../capture-runner/stage/page-server.ts'
import { BLUE, GREEN, isNear, WHITE } from '../../capture-runner/stage/pixels.ts'
import { policyWith } from '../../capture-runner/stage/studio.ts'
import { openStage, page, SMALL_WINDOW, telling } from '../options.ts'

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const FACTS = `({
  userAgent: navigator.userAgent, platform: navigator.platform, languages: navigator.languages.join(),
  hinted: navigator.userAgentData?.platform ?? null, brands: navigator.userAgentData?.brands.map(({ brand, version }) => brand + ' ' + version).join() ?? null })`
/** The contexts that the page queries, in the order of their responses. */
const PLACES = ['page', 'frame', 'foreign frame', 'srcdoc frame', 'worker', 'blob worker', 'service worker'] as const

const js = (text: string) => serving('text/javascript', text)

/** A text as a string literal for a script of a page. */
const inScript = (text: string): string => JSON.stringify(text).replaceAll('</', '<\\/')

/** Headers of requests to other hosts, as `authorization pass`. */
const elsewhere = new Map<string, string>()
const others = await servePages({
  '/other.css': ({ headers }, response) => {
    elsewhere.set(headers.host?.split(':')[0] ?? '', `${headers.authorization ?? '-'} ${headers['x-pass'] ?? '-'}`)
    response.writeHead(200, { 'content-type': 'text/css' }).end('')
  },
})
const styleOf = (host: string) => `<link rel="stylesheet" href="${others.url('/other.css').replace('127.0.0.1', host)}">`
const stage = await openStage(
  t,
  {
    '/facts': telling(FACTS),
    '/everywhere': `<!doctype html><body><p>Text.</p><script type="module">
      const told = (target) => new Promise((done) => { target.onmessage = ({ data }) => done(data) })
      const framed = (source) => new Promise((done) => {
        const frame = document.createElement('iframe'); frame[source.startsWith('<') ? 'srcdoc' : 'src'] = source
        addEventListener('message', ({ source: from, data }) => from === frame.contentWindow && done(data)); document.body.append(frame)
      })
      const serviced = async () => {
        const answer = told(navigator.serviceWorker); navigator.serviceWorker.startMessages()
        const registration = await navigator.serviceWorker.register('/service.js')
        if (!registration) return null
        const { active } = await navigator.serviceWorker.ready
        active.postMessage('who?')
        return answer
      }
      const facts = JSON.stringify(${FACTS})
      const answers = await Promise.all([JSON.parse(facts), framed('/frame'), framed('http://localhost:' + location.port + '/frame'),
        framed(${inScript(`<script>parent.postMessage(${FACTS}, '*')</script>`)}), told(new Worker('/worker.js')),
        told(new Worker(URL.createObjectURL(new Blob([${inScript(`postMessage(${FACTS})`)}])))), serviced()])
      document.title = 'told'
      await fetch('/answers', { method: 'POST', body: JSON.stringify(answers) })
      document.body.id = 'done'
    </script>`,
    '/shared': '<!doctype html><p>Text.<script>document.title = typeof SharedWorker</script>',
    '/frame': `<!doctype html><script>parent.postMessage(${FACTS}, '*')</script>`,
    '/worker.js': js(`fetch('/by-worker').then(() => postMessage(${FACTS}))`),
    '/by-worker': (_, response) => void response.end('x'),
    '/service.js': js(`onmessage = ({ source }) => source.postMessage(${FACTS})`),
    '/answers': (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        answers = JSON.parse(Buffer.concat(chunks).toString()) as Fact[]
        response.end()
      })
    },
    '/green.css': serving('text/css', 'body { background: #0f0 }'),
    '/deep/blue.css': serving('text/css', 'body { background: #00f }'),
    '/from': page('', '<p>text'),
    '/image': page('', '<img src="/picture.png"><p>text'),
    '/picture.png': (_, response) => void response.writeHead(404).end(),
    '/with-others': page('', '<p>text', styleOf('api.first.example') + styleOf('third.example')),
    '/stored': telling('JSON.stringify([localStorage.getItem("theme"), localStorage.length, window.first])', '').replace(
      '<body>',
      '<script>window.first = localStorage.getItem("theme")</script><body>',
    ),
  },
  { usual: SMALL_WINDOW },
)
t.teardown(() => others.close())

t.test('option user_agent: sends no client hints for another browser', async (t) => {
  t.match(await stage.ask('/facts', { userAgent: FIREFOX }), { userAgent: FIREFOX, platform: 'Linux x86_64' })
  t.equal(stage.lastSeen('/facts').headers['sec-ch-ua'], undefined)
})

t.test('every request has a language, which the page also reports', async (t) => {
  t.match(await stage.ask('/facts'), { languages: 'en-US,en' })
  t.equal(stage.lastSeen('/facts').headers['accept-language'], 'en-US,en')
})

t.test('option accept_language: is sent with every request and does not change the page’s language', async (t) => {
  await stage.shoot('/image', { acceptLanguage: 'fr-CH, fr;q=0.9' })
  t.equal(stage.lastSeen('/image').headers['accept-language'], 'fr-CH, fr;q=0.9')
  t.equal(stage.lastSeen('/picture.png').headers['accept-language'], 'fr-CH, fr;q=0.9')
  t.match(await stage.ask('/facts', { acceptLanguage: 'fr' }), { languages: /^en-US/ })
})

t.test('option headers_scope: sends headers to one origin, one site or all', async (t) => {
  const privateOptions = { authorization: 'Bearer 1', headers: { 'X-Pass': 'p' } }
  const path = '/with-others'
  const seenBy = async (headersScope: 'same_origin' | 'same_site' | 'all') => {
    elsewhere.clear()
    const url = stage.site.url(path).replace('127.0.0.1', 'www.first.example')
    await stage.takeAt(url, { headersScope }, { privateOptions })
    t.match(stage.lastSeen(path).headers, { authorization: 'Bearer 1', 'x-pass': 'p' })
    return [elsewhere.get('api.first.example'), elsewhere.get('third.example')]
  }
  t.strictSame(await seenBy('same_origin'), ['- -', '- -'])
  t.strictSame(await seenBy('same_site'), ['Bearer 1 p', '- -'])
  t.strictSame(await seenBy('all'), ['Bearer 1 p', 'Bearer 1 p'])
})

t.test('option local_storage: is set before the first script, only for the page’s own origin', async (t) => {
  const privateOptions = { localStorage: { theme: 'dark "mode"', other: '' } }
  t.strictSame(JSON.parse(String(await stage.ask('/stored', {}, { privateOptions }))), ['dark "mode"', 2, 'dark "mode"'])
  t.strictSame(JSON.parse(String(await stage.ask('/stored', {}))), [null, 0, null], 'not in the next capture')
})

/** A frame of another site with a trustworthy origin. */
const WITH_LOCALHOST = policyWith({ allowedHosts: ['localhost'] })

interface Fact {
  userAgent: string
  platform: string
  languages: string
  hinted: string | null
  brands: string | null
}
let answers: Fact[] = []

const cases = [
  { name: 'its own identity', options: {}, facts: { platform: 'Linux x86_64' } },
  { name: 'that of user_agent', options: { userAgent: WINDOWS }, facts: { userAgent: WINDOWS, platform: 'Win32', hinted: 'Windows' } },
  {
    name: 'that of user_agent_platform and locale',
    options: { userAgentPlatform: 'MacIntel', locale: 'de-AT' },
    facts: { platform: 'MacIntel', hinted: 'macOS', languages: /^de-AT/ },
  },
  { name: 'that of a device', options: { device: 'Pixel 7' }, facts: { userAgent: /Pixel 7/, hinted: 'Android' } },
] as const

for (const { name, options, facts } of cases) {
  // proves: user_agent, user_agent_platform
  t.test(`the browser reports ${name} in every frame and worker and to every server, and never Headless`, async (t) => {
    answers = []
    stage.seen.length = 0
    await stage.shoot('/everywhere', { ...options, waitForSelector: '#done', waitForSelectorTimeout: 30_000 }, { policy: WITH_LOCALHOST })
    const [page] = answers
    t.match(page, facts)
    t.equal(answers.length, PLACES.length)
    for (const [index, place] of PLACES.entries()) {
      const { userAgent, brands, hinted } = page ?? {}
      // The browser cannot set another platform or language for a worker.
      if (/^(blob )?worker$/.test(place)) t.match(answers[index], { userAgent, brands, hinted }, place)
      else if (place !== 'service worker') t.strictSame(answers[index], page, place)
    }
    const service = answers[PLACES.indexOf('service worker')]
    if (name === 'its own identity') t.match(service, { userAgent: page?.userAgent, platform: page?.platform })
    else t.equal(service, null, 'a page with another browser identity gets no service worker')
    t.notMatch(JSON.stringify([answers, stage.seen]), /headless/i)
    const [, major = ''] = /Chrome\/(\d+)/.exec(page?.userAgent ?? '') ?? []
    t.match(page?.brands ?? '', new RegExp(`Chromium ${major}`), 'hints and user agent have the same version')
    for (const { path, headers } of stage.seen) {
      t.equal(headers['user-agent'], page?.userAgent, path)
      if (headers['sec-ch-ua'] !== undefined) {
        t.match(headers['sec-ch-ua'], `"Chromium";v="${major}"`, path)
        t.equal(headers['sec-ch-ua-platform'], `"${page?.hinted}"`, path)
      }
      if (headers['accept-language'] !== undefined) t.equal(headers['accept-language'].split(',')[0], page?.languages.split(',')[0], path)
    }
    t.ok(
      stage.seen.some(({ headers }) => headers['sec-ch-ua'] !== undefined),
      'hints were sent',
    )
  })
}

t.test('a page has no shared workers, because they would report a headless browser', async (t) => {
  const { findings } = await stage.shoot('/shared')
  t.equal(findings.pageTitle, 'undefined')
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
})
