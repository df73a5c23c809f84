// The browser's identity in the page, its frames, frames of other sites and all kinds of workers, and in the requests of each of them. All must be
// consistent.

import t from 'tap'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { LOOPBACK_POLICY } from '../capture-runner/stage/studio.ts'
import { openStage } from './options.ts'

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36'
const FACTS = `({
  userAgent: navigator.userAgent, platform: navigator.platform, languages: navigator.languages.join(),
  hinted: navigator.userAgentData?.platform ?? null, brands: navigator.userAgentData?.brands.map(({ brand, version }) => brand + ' ' + version).join() ?? null })`
/** The contexts that the page queries, in the order of their responses. */
const PLACES = ['page', 'frame', 'foreign frame', 'srcdoc frame', 'worker', 'blob worker', 'service worker'] as const

const js =
  (text: string) =>
  (_: unknown, response: import('node:http').ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'text/javascript' }).end(text)

/** A text as a string literal for a script of a page. */
const inScript = (text: string): string => JSON.stringify(text).replaceAll('</', '<\\/')

const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
t.teardown(() => names.close())
const stage = await openStage(
  t,
  {
    '/': `<!doctype html><body><p>Text.</p><script type="module">
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
  },
  { guard: { dnsServers: [names.address] } },
)

/** A frame of another site with a trustworthy origin. */
const WITH_LOCALHOST = { ...LOOPBACK_POLICY, rules: { ...LOOPBACK_POLICY.rules, allowedHosts: ['localhost'] } }

interface Fact {
  userAgent: string
  platform: string
  languages: string
  hinted: string | null
  brands: string | null
}
let answers: Fact[] = []

const cases = [
  { name: 'its own identity', options: {} },
  { name: 'that of user_agent', options: { userAgent: WINDOWS } },
  { name: 'that of user_agent_platform and locale', options: { userAgentPlatform: 'MacIntel', locale: 'de-AT' } },
  { name: 'that of a device', options: { device: 'Pixel 7' } },
] as const

for (const { name, options } of cases) {
  t.test(`the browser reports ${name} in every frame and worker and to every server, and never Headless`, async (t) => {
    answers = []
    stage.seen.length = 0
    await stage.shoot('/', { ...options, waitForSelector: '#done', waitForSelectorTimeout: 30_000 }, { policy: WITH_LOCALHOST })
    const [page] = answers
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
