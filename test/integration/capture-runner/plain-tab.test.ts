// Compares plain tabs with Playwright's. A page and all its frames must see the same browser in both.

import { text } from 'node:stream/consumers'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t from 'tap'
import { DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { openStage } from '../options/options.ts'

/** Properties of the browser that could depend on how a tab was opened. Runs in pages, frames and workers. */
const ASK = `(async () => {
  const facts = {
    userAgent: navigator.userAgent, platform: navigator.platform, language: navigator.language, languages: navigator.languages.join(),
    webdriver: navigator.webdriver ?? null, cores: navigator.hardwareConcurrency, touch: navigator.maxTouchPoints ?? null,
    brands: JSON.stringify(navigator.userAgentData ?? null), online: navigator.onLine,
    hints: JSON.stringify(await navigator.userAgentData?.getHighEntropyValues(['platformVersion', 'architecture', 'model', 'fullVersionList', 'bitness']) ?? null),
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone, locale: Intl.DateTimeFormat().resolvedOptions().locale,
    sharedWorker: 'SharedWorker' in globalThis, serviceWorker: 'serviceWorker' in navigator, notes: globalThis.Notification?.permission ?? null,
  }
  if (typeof document === 'undefined') return facts
  // Chromium sends the window's position to a page's new process some milliseconds after its first scripts may run.
  while (outerWidth === 0) await new Promise((next) => setTimeout(next))
  const matches = (query) => matchMedia(query).matches
  const widthOf = (family) => {
    const line = document.createElement('span')
    line.style.font = '40px ' + family
    line.textContent = 'How wide is this line of text?'
    document.body.append(line)
    const { width } = line.getBoundingClientRect()
    line.remove()
    return width
  }
  const look = ([name, target]) => {
    const { get, set, ...rest } = Object.getOwnPropertyDescriptor(target, name)
    return [name, String(get), Function.prototype.toString.call(get), get.name, get.length, 'prototype' in get, String(set), JSON.stringify(rest)].join()
  }
  const frame = document.body.appendChild(document.createElement('iframe')).contentWindow
  const outerOf = Object.getOwnPropertyDescriptor(window, 'outerWidth').get
  const own = {
    looks: [['outerWidth', window], ['outerHeight', window], ['innerWidth', window], ['outerWidth', frame], ['width', Screen.prototype]].map(look),
    texts: [String(Function.prototype.toString), frame.Function.prototype.toString.call(outerOf), String(outerOf.bind()), String((x) => x)].join(),
    ofFrame: [frame.outerWidth, frame.outerHeight, outerOf.call(frame), frame.screen.width].join(),
    keys: Object.getOwnPropertyNames(window).filter((name) => /outer|screen/i.test(name)).join(),
  }
  frame.frameElement.remove()
  return {
    ...facts, ...own, ofRemovedFrame: frame.outerWidth, inner: [innerWidth, innerHeight].join(), outer: [outerWidth, outerHeight].join(), ratio: devicePixelRatio,
    screen: [screen.width, screen.height, screen.availWidth, screen.availHeight, screen.colorDepth, screen.orientation?.type, screen.orientation?.angle].join(),
    focused: document.hasFocus(), visible: document.visibilityState, storage: typeof localStorage, windows: String(open('/blank')),
    location: (await navigator.permissions.query({ name: 'geolocation' })).state, pdf: navigator.pdfViewerEnabled,
    media: ['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)', '(forced-colors: active)', '(prefers-contrast: more)', 'print', '(hover: hover)',
      '(pointer: fine)', '(any-hover: none)', '(display-mode: browser)'].map(matches).join(),
    fonts: ['serif', 'sans-serif', 'monospace', 'cursive', 'fantasy', 'system-ui', 'Arial'].map(widthOf).join(),
  }
})()`

const worker = `new Promise((done) => {
  const worker = new Worker('/worker.js')
  worker.onmessage = ({ data }) => done(data)
})`
const foreign = `new Promise((done) => {
  addEventListener('message', ({ data }) => done(data))
  const frame = document.createElement('iframe')
  frame.src = 'http://second.example:' + location.port + '/frame'
  document.body.append(frame)
})`

/** Messages of the pages, newest first. A title would be cut off. */
const reported: Record<string, unknown>[] = []
const telling = (expression: string): string =>
  `<!doctype html><body><p>A page.</p><script type="module">
    const body = JSON.stringify(await (${expression}))
    await fetch('/reported', { method: 'POST', body })
    document.title = 'reported'
  </script></body>`

const dns = await startDnsServer((name) => (name.endsWith('.example') ? { addresses: ['127.0.0.1'] } : undefined))
const stage = await openStage(
  t,
  {
    '/page': telling(ASK),
    '/with-worker': telling(worker),
    '/worker.js': (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/javascript' }).end(`${ASK}.then((facts) => postMessage(facts))`),
    '/with-frame': telling(foreign),
    '/reported': async (request, response) => {
      reported.unshift(JSON.parse(await text(request)))
      response.end()
    },
    '/frame': `<body><script type="module">alert('anyone?'); confirm('really?'); parent.postMessage({ ...await ${ASK}, initial: globalThis.initial ?? null }, '*')</script>`,
  },
  { guard: { dnsServers: [dns.address] } },
)
t.teardown(() => dns.close())

/** Forces a Playwright tab without any other effect. */
const BY_PLAYWRIGHT: CaptureOptions = { failOnPageError: true }
const ONCE_REPORTED: CaptureOptions = { waitForFunction: 'document.title === "reported"' }
const at = (path: string) => stage.site.url(path).replace('127.0.0.1', 'first.example')
const ask = async (path: string, options: CaptureOptions): Promise<Record<string, unknown>> => {
  await stage.shootAt(at(path), { ...ONCE_REPORTED, ...options })
  return reported[0] ?? {}
}

const wishes: Record<string, CaptureOptions> = {
  'no options': {},
  'a window and media': { viewportWidth: 700, viewportHeight: 500, darkMode: true, reducedMotion: true, mediaType: 'print' },
}
for (const [name, options] of Object.entries(wishes)) {
  for (const path of ['/page', '/with-worker', '/with-frame']) {
    t.test(`with ${name}, ${path} sees the same in a plain tab as in Playwright’s`, async (t) => {
      const [plain, playwrights] = [await ask(path, options), await ask(path, { ...options, ...BY_PLAYWRIGHT })]
      t.notMatch(plain.userAgent, /Headless/)
      t.equal(plain.sharedWorker, false)
      t.strictSame(plain, playwrights)
    })
  }
}

t.test('init scripts also run in out-of-process frames, and dialogs there do not block', async (t) => {
  t.match(await ask('/with-frame', { initScript: 'globalThis.initial = "set"' }), { initial: 'set', zone: 'UTC' })
})

t.test('a page cannot open a window in any way', async (t) => {
  const lease = await stage.browsers.lend('default', DEFAULT_CONTEXT, AbortSignal.timeout(60_000))
  const { session, browser, mainFrame } = lease.tab
  const html = '<a href="about:blank" target="_blank">One</a><form action="about:blank" target="_blank"></form>'
  await session.send('Page.setDocumentContent', { frameId: mainFrame, html })
  const expression = `open('about:blank'); const link = document.querySelector('a'); link.click()
    link.dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true, cancelable: true })); document.forms[0].submit()`
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression, userGesture: true })
  t.equal(exceptionDetails, undefined)
  await lease.tab.evaluate('1', AbortSignal.timeout(10_000))
  const control = await browser.newBrowserCDPSession()
  const { targetInfos } = await control.send('Target.getTargets')
  const page = targetInfos.find(({ targetId }) => targetId === mainFrame)
  const inContext = targetInfos.filter(({ type, browserContextId }) => type === 'page' && browserContextId === page?.browserContextId)
  t.strictSame(
    inContext.map(({ targetId }) => targetId),
    [mainFrame],
  )
  await control.detach()
  await stage.browsers.takeBack(lease, true)
})

t.test('only a plan that needs Playwright’s page gets it', async (t) => {
  const signal = AbortSignal.timeout(60_000)
  const plain = await stage.browsers.lend('default', DEFAULT_CONTEXT, signal)
  t.equal(plain.tab.page, undefined)
  await stage.browsers.takeBack(plain, true)
  const full = await stage.browsers.lend('default', { ...DEFAULT_CONTEXT, needsPlaywright: true }, signal)
  t.ok(full.tab.page)
  await stage.browsers.takeBack(full, true)
  t.ok(plain.tab.ended.aborted && full.tab.ended.aborted, 'both signals abort when the tabs close')
})

t.test('the window of a plain tab stays small, because every frame is drawn into it, too', async (t) => {
  const plan = { ...DEFAULT_CONTEXT, viewport: { width: 1_000, height: 700 } }
  const lease = await stage.browsers.lend('default', plan, AbortSignal.timeout(60_000))
  const control = await lease.tab.browser.newBrowserCDPSession()
  const { bounds } = await control.send('Browser.getWindowForTarget', { targetId: lease.tab.mainFrame })
  t.match(bounds, { width: 200, height: 200 })
  await control.detach()
  await stage.browsers.takeBack(lease, true)
})
