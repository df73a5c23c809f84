import t from 'tap'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import { servePages } from '../../capture-runner/stage/page-server.ts'
import { openStage, page, telling } from '../options.ts'

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const facts = `({ userAgent: navigator.userAgent, platform: navigator.platform, hinted: navigator.userAgentData?.platform ?? null,
  brands: navigator.userAgentData?.brands.map(({ brand, version }) => brand + ' ' + version).join() ?? null, languages: navigator.languages.join() })`

const dns = await startDnsServer((name) => (name.endsWith('.example') ? { addresses: ['127.0.0.1'] } : undefined))
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
    '/facts': telling(facts),
    '/worker': telling(`new Promise((done) => {
    const worker = new Worker('/worker.js')
    worker.onmessage = ({ data }) => done(data)
  })`),
    '/worker.js': (_, response) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end(`postMessage(${facts})`),
    '/image': page('', '<img src="/picture.png"><p>text'),
    '/picture.png': (_, response) => void response.writeHead(404).end(),
    '/with-others': page('', '<p>text', styleOf('api.first.example') + styleOf('third.example')),
    '/stored': telling('JSON.stringify([localStorage.getItem("theme"), localStorage.length, window.first])', '').replace(
      '<body>',
      '<script>window.first = localStorage.getItem("theme")</script><body>',
    ),
  },
  { guard: { dnsServers: [dns.address] } },
)
t.teardown(() => Promise.all([others.close(), dns.close()]))

/** A worker starts after its page has loaded. */
const ONCE_TOLD = { waitForFunction: 'document.title !== ""' }

t.test('option user_agent: applies to servers, scripts and client hints', async (t) => {
  t.match(await stage.ask('/facts', { userAgent: WINDOWS }), { userAgent: WINDOWS, platform: 'Win32', brands: /Chromium 120/ })
  const { headers } = stage.lastSeen('/facts')
  t.equal(headers['user-agent'], WINDOWS)
  t.match(headers, { 'sec-ch-ua': /"Chromium";v="120"/, 'sec-ch-ua-platform': '"Windows"' })
  t.match(
    await stage.ask('/worker', { userAgent: WINDOWS, ...ONCE_TOLD }),
    { userAgent: WINDOWS, brands: /Chromium 120/ },
    'in workers too',
  )
})

t.test('option user_agent: sends no client hints for another browser', async (t) => {
  t.match(await stage.ask('/facts', { userAgent: FIREFOX }), { userAgent: FIREFOX, platform: 'Linux x86_64' })
  t.equal(stage.lastSeen('/facts').headers['sec-ch-ua'], undefined)
})

t.test('the browser’s own user agent is consistent and never contains Headless', async (t) => {
  const told = JSON.stringify([await stage.ask('/facts'), stage.lastSeen('/facts').headers, await stage.ask('/worker', ONCE_TOLD)])
  t.notMatch(told, /headless/i)
})

t.test('option user_agent_platform: applies to scripts and client hints', async (t) => {
  t.match(await stage.ask('/facts', { userAgentPlatform: 'MacIntel' }), { platform: 'MacIntel' })
  t.equal(stage.lastSeen('/facts').headers['sec-ch-ua-platform'], '"macOS"')
  t.match(await stage.ask('/facts', { userAgent: WINDOWS, userAgentPlatform: 'Win64' }), { platform: 'Win64', userAgent: WINDOWS })
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
  const seenBy = async (headersScope?: 'same_origin' | 'same_site' | 'all') => {
    elsewhere.clear()
    const url = stage.site.url(path).replace('127.0.0.1', 'www.first.example')
    await stage.shootAt(url, headersScope ? { headersScope } : {}, { privateOptions })
    t.match(stage.lastSeen(path).headers, { authorization: 'Bearer 1', 'x-pass': 'p' })
    return [elsewhere.get('api.first.example'), elsewhere.get('third.example')]
  }
  t.strictSame(await seenBy(), ['- -', '- -'])
  t.strictSame(await seenBy('same_origin'), ['- -', '- -'])
  t.strictSame(await seenBy('same_site'), ['Bearer 1 p', '- -'])
  t.strictSame(await seenBy('all'), ['Bearer 1 p', 'Bearer 1 p'])
})

t.test('option local_storage: is set before the first script, only for the page’s own origin', async (t) => {
  const privateOptions = { localStorage: { theme: 'dark "mode"', other: '' } }
  t.strictSame(JSON.parse(String(await stage.ask('/stored', {}, { privateOptions }))), ['dark "mode"', 2, 'dark "mode"'])
  t.strictSame(JSON.parse(String(await stage.ask('/stored', {}))), [null, 0, null], 'not in the next capture')
})
