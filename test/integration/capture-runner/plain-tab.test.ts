// Compares tabs with Playwright's pages. A page, its frames and its workers must see the same browser in both.

import { text } from 'node:stream/consumers'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { type BrowserContextOptions, chromium } from 'playwright'
import t from 'tap'
import {
  buildUserAgent,
  setFontFamilies,
  toEmulatedMedia,
  toInitScripts,
  userAgentOf,
} from '../../../capture-runner/src/browser/emulation.ts'
import { findKeys, pressKeys } from '../../../capture-runner/src/browser/keyboard.ts'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import { buildPlan, type ContextPlan, DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { argumentsOf } from '../../../capture-runner/src/runtime/processes.ts'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { openStage } from '../options/options.ts'
import { CHROMIUM, LOOPBACK_POLICY } from './stage/studio.ts'

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
const guard = createGuard({ ownAddresses: [], dnsServers: [dns.address] })
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

const ONCE_REPORTED: CaptureOptions = { waitForFunction: 'document.title === "reported"' }
const at = (path: string) => stage.site.url(path).replace('127.0.0.1', 'first.example')
const ask = async (path: string, options: CaptureOptions): Promise<Record<string, unknown>> => {
  await stage.shootAt(at(path), { ...ONCE_REPORTED, ...options })
  return reported[0] ?? {}
}

const lend = (plan: ContextPlan = DEFAULT_CONTEXT) => stage.browsers.lend('default', plan, AbortSignal.timeout(60_000))
const first = await lend()
const args = argumentsOf(first.browser.pid).filter((flag) => /^--(?!user-data-dir|tintype-browser)/.test(flag))
await stage.browsers.takeBack(first, true)
/** Playwright's browser, with the flags of the runner's. */
const playwrights = await chromium.launch({ executablePath: CHROMIUM, ignoreDefaultArgs: true, args })
t.teardown(() => playwrights.close())

const toContextOptions = (plan: ContextPlan): BrowserContextOptions => ({
  ...{ viewport: plan.viewport, deviceScaleFactor: plan.deviceScaleFactor, colorScheme: plan.colorScheme, timezoneId: plan.timezone },
  ...{ isMobile: plan.emulated?.mobile ?? false, hasTouch: plan.emulated?.touch ?? false },
  ...{ reducedMotion: plan.reducedMotion ? 'reduce' : 'no-preference', forcedColors: plan.forcedColors ? 'active' : 'none' },
  ...{ contrast: plan.moreContrast ? 'more' : 'no-preference', userAgent: userAgentOf(playwrights.version(), plan.emulated) },
  ...(plan.locale === undefined ? {} : { locale: plan.locale, extraHTTPHeaders: { 'Accept-Language': plan.locale } }),
  ...(plan.geolocation ? { geolocation: plan.geolocation, permissions: ['geolocation'] } : {}),
})

/** What a page of Playwright tells with the same settings. */
async function askPlaywrights(path: string, options: CaptureOptions): Promise<Record<string, unknown>> {
  const { context: plan } = buildPlan(at(path), options)
  await using egress = new AsyncDisposableStack()
  const session = egress.adopt(await guard.openSession(), ({ close }) => close())
  session.arm(LOOPBACK_POLICY)
  const context = egress.adopt(await playwrights.newContext({ ...toContextOptions(plan), proxy: { server: session.proxyUrl } }), (opened) =>
    opened.close(),
  )
  // The windows of Playwright's pages have borders of their own.
  for (const script of toInitScripts({ ...plan, emulated: { mobile: true, touch: false } })) await context.addInitScript(script)
  const page = await context.newPage()
  const devTools = await context.newCDPSession(page)
  const language = plan.locale === undefined ? {} : { acceptLanguage: plan.locale }
  await devTools.send('Emulation.setUserAgentOverride', { ...buildUserAgent(playwrights.version(), plan.emulated), ...language })
  await setFontFamilies(devTools)
  // A page of Playwright loses the type with its process.
  if (plan.mediaType !== undefined) await devTools.send('Emulation.setEmulatedMedia', toEmulatedMedia(plan))
  await page.goto(at(path))
  await page.waitForFunction(ONCE_REPORTED.waitForFunction ?? '')
  return reported[0] ?? {}
}

const wishes: Record<string, CaptureOptions> = {
  'no options': {},
  'a window and media': { viewportWidth: 700, viewportHeight: 500, darkMode: true, reducedMotion: true, mediaType: 'print' },
  'more media': { forcedColors: true, prefersContrast: 'more', deviceScaleFactor: 2 },
  'a phone': { device: 'iPhone 15 Pro' },
  'a wide phone': { device: 'Pixel 7', viewportLandscape: true, timezone: 'Asia/Tokyo' },
  'a touch screen': { viewportHasTouch: true, geolocationLatitude: -33.9, geolocationLongitude: 151.2 },
  'another place': {
    locale: 'de-AT',
    timezone: 'Europe/Vienna',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  },
}
/** Workers of Playwright's pages keep these. */
const OF_WORKERS = ['language', 'languages', 'platform']
const withoutThose = (path: string, facts: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(facts).filter(([name]) => path !== '/with-worker' || !OF_WORKERS.includes(name)))
for (const [name, options] of Object.entries(wishes)) {
  for (const path of ['/page', '/with-worker', '/with-frame']) {
    t.test(`with ${name}, ${path} sees the same in a tab as in Playwright’s page`, async (t) => {
      const [seen, expected] = [await ask(path, options), await askPlaywrights(path, options)]
      t.notMatch(seen.userAgent, /Headless/)
      t.equal(seen.sharedWorker, false)
      t.strictSame(withoutThose(path, seen), withoutThose(path, expected))
    })
  }
}

const KEYS =
  'a A 7 + Shift+a Shift+7 Control+A Control+Shift+a ControlOrMeta+c Enter Shift+Enter Tab Escape PageDown F6 Space Minus Shift+Minus'
const RARE_KEYS =
  'Backquote Shift+Quote Numpad7 Shift+Numpad7 NumpadAdd NumpadEnter Shift+NumpadDecimal ShiftRight Shift+MetaRight AltGraph AudioVolumeUp'
const NOTE_KEYS = `document.querySelector('textarea').focus()
  for (const type of ['keydown', 'keypress', 'keyup', 'beforeinput']) addEventListener(type, (event) => noted.push([type, event.key, event.code, event.keyCode,
    event.location, event.ctrlKey, event.shiftKey, event.altKey, event.metaKey, event.repeat, event.data].join()))`

t.test('keys are the same to a page, and unknown ones are found', async (t) => {
  const lease = await lend()
  t.teardown(() => stage.browsers.takeBack(lease, true))
  const { session, mainFrame: frameId } = lease.tab
  const page = await playwrights.newPage()
  const html = '<textarea></textarea>'
  await Promise.all([page.setContent(html), session.send('Page.setDocumentContent', { frameId, html })])
  await Promise.all([page.evaluate(NOTE_KEYS), session.send('Runtime.evaluate', { expression: NOTE_KEYS })])
  for (const key of `${KEYS} ${RARE_KEYS}`.split(' ')) {
    await Promise.all([page.evaluate('noted = []'), session.send('Runtime.evaluate', { expression: 'noted = []' })])
    await Promise.all([page.keyboard.press(key), pressKeys(session, findKeys(key) ?? [])])
    const { result } = await session.send('Runtime.evaluate', { expression: 'noted', returnByValue: true })
    t.strictSame(result.value, await page.evaluate('noted'), key)
    t.ok(result.value.length > 1, key)
  }
  for (const key of ['NoSuchKey', 'Clear', 'Control+', 'Control+Nothing']) {
    t.equal(findKeys(key), undefined, key)
    await t.rejects(page.keyboard.press(key), /Unknown key/, key)
  }
})

t.test('init scripts also run in out-of-process frames, and dialogs there do not block', async (t) => {
  t.match(await ask('/with-frame', { initScript: 'globalThis.initial = "set"' }), { initial: 'set', zone: 'UTC' })
})

t.test('a page cannot open a window in any way', async (t) => {
  const lease = await lend()
  const { session, mainFrame } = lease.tab
  const html = '<a href="about:blank" target="_blank">One</a><form action="about:blank" target="_blank"></form>'
  await session.send('Page.setDocumentContent', { frameId: mainFrame, html })
  const expression = `open('about:blank'); const link = document.querySelector('a'); link.click()
    link.dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true, cancelable: true })); document.forms[0].submit()`
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression, userGesture: true })
  t.equal(exceptionDetails, undefined)
  await lease.tab.evaluate('1', AbortSignal.timeout(10_000))
  const control = await lease.tab.openBrowserSession()
  const { targetInfos } = await control.send('Target.getTargets')
  const page = targetInfos.find(({ targetId }) => targetId === mainFrame)
  const inContext = targetInfos.filter(({ type, browserContextId }) => type === 'page' && browserContextId === page?.browserContextId)
  t.strictSame(
    inContext.map(({ targetId }) => targetId),
    [mainFrame],
  )
  await stage.browsers.takeBack(lease, true)
})

t.test('the window of a tab stays small, because every frame is drawn into it, too', async (t) => {
  const lease = await lend({ ...DEFAULT_CONTEXT, viewport: { width: 1_000, height: 700 } })
  const control = await lease.tab.openBrowserSession()
  const { bounds } = await control.send('Browser.getWindowForTarget', { targetId: lease.tab.mainFrame })
  t.match(bounds, { width: 200, height: 200 })
  await stage.browsers.takeBack(lease, true)
})
