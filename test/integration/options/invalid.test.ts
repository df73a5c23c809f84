// Invalid and odd values of options. Invalid selectors, scripts, colors and templates fail the capture before the page is requested, with their own error
// codes and without another attempt. Each odd value of an option that reaches a command of the browser is refused by the schema, refused for good with the
// name of the option, or works. None looks like a fault of the runner, and the browser stays.

import { setTimeout } from 'node:timers/promises'
import { CaptureOptions } from '@tintype/crds/options/catalog'
import { contradictions, privateContradictions } from '@tintype/crds/options/contradictions'
import { PrivateOptions } from '@tintype/crds/options/private'
import { isRetryable } from '@tintype/crds/schema/errors'
import t, { type Test } from 'tap'
import type { ContextPlan } from '../../../capture-runner/src/plan/context.ts'
import { DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { serving } from '../capture-runner/stage/page-server.ts'
import { isNear } from '../capture-runner/stage/pixels.ts'
import { markup, openStage, page, SMALL_WINDOW, telling } from './options.ts'

const MASK = [255, 0, 255] as const

const stage = await openStage(
  t,
  {
    '/boxes': page('background:#fff', '<div id="one" style="height:100px;background:#f00"></div><div id="two">Two</div>'),
    '/contents': page('', '<div id="none" style="display:contents"><p style="height:100px;margin:0;background:#f00">Secret</p></div>'),
    '/fixed': markup`<p id="low" style="position:absolute;margin:0;top:50vh;height:100px;width:100%;background:#f00"></p><div style="height:2000px">`,
    '/broken.js': serving('text/javascript', 'let = = 1'),
    '/broken.css': serving('text/css', '<h1>Not found</h1>'),
    '/sheet.css': serving('text/css', 'p { color: red }'),
    '/facts': telling('({ zone: [new Date(2026, 0, 5), new Date(2026, 6, 5)].map((date) => -date.getTimezoneOffset()) })'),
  },
  { maxCaptures: 1_000, usual: SMALL_WINDOW },
)

const INVALID = 'div['
const selectorOptions: Record<string, CaptureOptions> = {
  selector: { selector: INVALID },
  wait_for_selector: { waitForSelector: INVALID },
  wait_for_selector_gone: { waitForSelectorGone: INVALID },
  click: { click: INVALID },
  click_all: { clickAll: INVALID },
  hover: { hover: INVALID },
  scroll_into_view: { scrollIntoView: INVALID },
  'hide_selectors[1]': { hideSelectors: ['p', INVALID] },
  'mask_selectors[0]': { maskSelectors: [INVALID] },
  'fail_if_selector_present[0]': { failIfSelectorPresent: [INVALID] },
  full_page_scroll_container: { fullPage: true, fullPageScrollContainer: INVALID },
}

/** Checks that the capture fails before it requests the page. */
const failBefore = async (t: Test, options: CaptureOptions, error: { code: string; message: RegExp }) => {
  const asked = stage.seen.length
  const failure = await stage.fail('/boxes', { ...options, bestAttempt: true, errorOnSelectorNotFound: false })
  t.match(failure, error)
  t.notOk(isRetryable(failure.code), 'there is no other attempt')
  t.notOk(
    stage.seen.slice(asked).some(({ path }) => path === '/boxes'),
    'the page is not requested',
  )
}

for (const [option, options] of Object.entries(selectorOptions)) {
  t.test(`an invalid ${option} fails once, as INVALID_SELECTOR`, async (t) => {
    const name = option.replace(/[[\]]/g, '\\$&')
    await failBefore(t, options, { code: 'INVALID_SELECTOR', message: new RegExp(`^${name} is not a CSS selector: div\\[$`) })
  })
}

t.test('an unclosed hide_selectors entry is rejected, because it would swallow the rules after it', async (t) => {
  for (const selector of ['div[a', '.a /*', '[a="b']) {
    await failBefore(t, { hideSelectors: [selector, '#one'] }, { code: 'INVALID_SELECTOR', message: /^hide_selectors\[0\] does not end/ })
  }
})

/** Selectors that the browser can read, also odd ones. */
const READABLE = [
  ...['p::before', '*|p', ':is(..)', 'div:has(> p)', '#\\31 23', 'a\ud800', '\\', '日本'],
  ...[`${':is('.repeat(200)}p${')'.repeat(200)}`, 'p '.repeat(500)],
]
t.test('odd selectors that the browser supports are accepted, others fail for good, and the browser stays', async (t) => {
  const { findings, browserPid } = await stage.shoot('/boxes', {
    hideSelectors: READABLE,
    selector: 'div[id="one"',
    failIfSelectorPresent: ['p::before'],
    blankPageAction: 'accept',
  })
  t.strictSame(findings.warnings, [])
  const unreadable = [' ', 'xpath=//p', '/*', '\ud800>', ':has(:has(p))', 'div['.repeat(200)]
  for (const selector of [...READABLE, ...unreadable]) t.notOk(isRefused({ hideSelectors: [selector] }, {}), selector)
  for (const selector of unreadable)
    t.match(await stage.fail('/boxes', { hideSelectors: [selector] }), { code: 'INVALID_SELECTOR' }, selector)
  t.equal((await stage.shoot('/boxes')).browserPid, browserPid)
  const { message } = await stage.fail('/boxes', { selector: `p${'['.repeat(1000)}` })
  t.ok(message.length < 300, 'messages shorten a long selector')
})

const scriptOptions: Record<string, CaptureOptions> = {
  scripts: { scripts: 'if (' },
  init_script: { initScript: 'await 1' },
  wait_for_function: { waitForFunction: '1 +' },
}
for (const [option, options] of Object.entries(scriptOptions)) {
  t.test(`a syntax error in ${option} fails once, as INVALID_SCRIPT`, async (t) => {
    const message = new RegExp(`^${option} is not JavaScript: SyntaxError: `)
    await failBefore(t, { ...options, failOnScriptError: false }, { code: 'INVALID_SCRIPT', message })
    t.match(await stage.fail('/boxes', { ...options, javascriptEnabled: false }), { code: 'INVALID_SCRIPT' })
  })
}

t.test('a syntax error in a file of script_urls fails once, as INVALID_SCRIPT', async (t) => {
  const scriptUrls = [stage.site.url('/broken.js')]
  t.match(await stage.fail('/boxes', { scriptUrls }), {
    code: 'INVALID_SCRIPT',
    message: /^script_urls\[0\] is not JavaScript: SyntaxError/,
  })
  const { findings } = await stage.shoot('/boxes', { scriptUrls, failOnScriptError: false })
  t.match(findings.warnings, [/a script failed: SyntaxError/])
})

t.test('valid scripts that look wrong are accepted', async (t) => {
  const scripts = '#!/usr/bin/env node\n"use strict"\nlet a = await 1\nfunction b() { return a }\n<!-- a comment'
  const waitForFunction = '(() => { try { return JSON.parse("") } catch { return true } })()'
  const { findings } = await stage.shoot('/boxes', { scripts, initScript: 'let c = 2 // a comment', waitForFunction })
  t.strictSame(findings.warnings, [])
})

t.test('an init_script that throws adds a warning', async (t) => {
  const initScript = 'nothing.here()'
  for (const options of [{ initScript }, { initScript, pressKey: 'Escape' }] satisfies CaptureOptions[]) {
    t.match((await stage.shoot('/boxes', options)).findings.warnings, [/^init_script threw: ReferenceError/])
  }
})

t.test('the timeout of a wait_for_function that throws names the error', async (t) => {
  const options = { waitForFunction: 'JSON.parse("")', waitForSelectorTimeout: 200 }
  t.match(await stage.fail('/boxes', options), { code: 'TIMEOUT', message: /it threw SyntaxError: Unexpected end of JSON input/ })
})

t.test('mask_selectors without a match add a warning', async (t) => {
  const { findings } = await stage.shoot('/boxes', { maskSelectors: ['#one', '.avatar'] })
  t.strictSame(findings.warnings, ['mask_selectors[1] matched no visible element: .avatar'])
})

t.test('an invalid mask_color is rejected', async (t) => {
  const mask = { maskSelectors: ['#one'] }
  const colors = ['foo', 'inherit', 'initial', 'rgb(1,2)', 'transparent', 'rgba(0, 0, 0, 0)', 'constructor', 'calc(1)', 'var(--x)']
  for (const maskColor of colors) {
    await failBefore(t, { ...mask, maskColor }, { code: 'INVALID_OPTIONS', message: /^mask_color / })
  }
  t.match((await stage.shoot('/boxes', { ...mask, maskColor: 'rgba(0,0,0,0.5)' })).findings.warnings, [/^mask_color is translucent/])
})

t.test('masks cover elements that other options move or hide', async (t) => {
  const mask = { maskSelectors: ['#low'] }
  const tall = await stage.shoot('/fixed', {
    ...mask,
    fullPage: true,
    captureBeyondViewport: false,
    viewportHeight: 400,
    viewportWidth: 400,
  })
  t.notOk(holds(tall.pixels, [255, 0, 0]), 'a taller window moves elements that are placed by its height')
  const isolated = await stage.shoot('/boxes', {
    maskSelectors: ['#one'],
    selector: '#one',
    selectorIsolate: true,
    blankPageAction: 'accept',
  })
  t.strictSame(isolated.pixels.at(5, 5), MASK)
  t.strictSame(
    (await stage.shoot('/contents', { maskSelectors: ['#none'] })).pixels.at(5, 5),
    MASK,
    'a box-less element has its content covered',
  )
})

t.test('styles without a valid rule add a warning', async (t) => {
  const { findings } = await stage.shoot('/boxes', { styles: 'color: red', styleUrls: [stage.site.url('/broken.css')] })
  t.match(findings.warnings, [
    /^styles contains no rule that the browser supports/,
    /^a style sheet contains no rule that the browser supports: .*broken.css/,
  ])
  for (const styles of [
    '/* nothing yet */',
    '',
    `@import url(${stage.site.url('/sheet.css')});`,
    'p { color: red }',
    '@media print { p { color: red } }',
  ]) {
    t.strictSame((await stage.shoot('/boxes', { styles })).findings.warnings, [])
  }
})

t.test('media_features that the browser does not support add a warning', async (t) => {
  const { findings } = await stage.shoot('/boxes', { mediaFeatures: { 'color-gamut': 'p3', 'no-such': 'thing' } })
  t.match(findings.warnings, [/^media_features.no-such had no effect/])
})

/** True if the gateway refuses the options. */
function isRefused(options: object, secrets: object): boolean {
  const [plain, secret] = [CaptureOptions.strict().safeParse(options), PrivateOptions.safeParse(secrets)]
  if (!plain.success || !secret.success) return true
  const all = { ...plain.data, ...secret.data }
  return contradictions.some(({ holds }) => holds(all)) || privateContradictions.some(({ holds }) => holds(secret.data))
}

/** Texts that are odd anywhere. */
const TEXTS = [
  ...['', ' ', '\n', 'a\nb', '\0', '\t', '\x7f', '\ud800', 'é', '日本', '"', ';', ',', '%00', '../..', '<b>', '1e9', '-1'],
  'x'.repeat(9_000),
]
/** Numbers that are odd anywhere; JSON has no NaN, but a manifest in YAML has. */
const NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, 2 ** 53, 2 ** 31, -1e-9, -1]

const cookie = (fields: object) => ({ cookies: [{ name: 'a', value: 'b', ...fields }] })

// Values that the browser must not get.
const REFUSED: Record<string, [options: object, secrets?: object][]> = {
  timezone: [...TEXTS, '+05:30', 'GMT+5', 'Local', 'Factory', 'Mars/Olympus', 'Europe/Wien', 'UTC+1', 'PST', 'SystemV/EST5'].map(
    (timezone) => [{ timezone }],
  ),
  locale: [...TEXTS, 'de_DE', 'C', 'POSIX', 'en-US-u-ca-buddhist', 'xx-invalid-123456789', 'de-1996-1996', 'i-klingon'].map((locale) => [
    { locale },
  ]),
  accept_language: TEXTS.filter((text) => !/^[ -;1]/.test(text) || text === '').map((acceptLanguage) => [{ acceptLanguage }]),
  fixed_time: [...TEXTS, '2026-01-01T24:61Z', '1989-12-31', '2101-01-01T00:00Z', '2026-1-1', '2026-02-30'].map((fixedTime) => [
    { fixedTime },
  ]),
  geolocation: [...NUMBERS.slice(0, 6), 90.0001, -91].map((geolocationLatitude) => [{ geolocationLatitude, geolocationLongitude: 0 }]),
  geolocation_longitude: [...NUMBERS.slice(0, 6), 180.1].map((geolocationLongitude) => [{ geolocationLatitude: 0, geolocationLongitude }]),
  geolocation_accuracy: NUMBERS.map((geolocationAccuracy) => [{ geolocationLatitude: 0, geolocationLongitude: 0, geolocationAccuracy }]),
  viewport_width: [...NUMBERS, 0, 1.5, 7681].map((viewportWidth) => [{ viewportWidth }]),
  device_scale_factor: [...NUMBERS, 0, 0.09, 5.1].map((deviceScaleFactor) => [{ deviceScaleFactor }]),
  page_zoom: [...NUMBERS, 0, 0.2, 6].map((pageZoom) => [{ pageZoom }]),
  user_agent: TEXTS.filter((text) => !/^[ -~]{1,1024}$/.test(text)).map((userAgent) => [{ userAgent }]),
  media_features: ['', 'a\n', 'É', 'a;b'].flatMap((text) => [[{ mediaFeatures: { [text]: 'a' } }], [{ mediaFeatures: { a: text } }]]),
  background_color: [...TEXTS, '#12', '#12345', 'rgb(1,2)', 'rgb(1 2 3)', 'hsl(1,2%,3%)', 'inherit'].map((backgroundColor) => [
    { backgroundColor },
  ]),
  pdf_sizes: [...TEXTS, '-1mm', '10%', 'auto', '1 in', '1e5px', '123456px'].flatMap((length) => [
    [{ pdfWidth: length }],
    [{ pdfMarginTop: length }],
  ]),
  pdf_scale: [...NUMBERS, 0, 0.05, 2.1].map((pdfScale) => [{ pdfScale }]),
  pdf_page_ranges: [...TEXTS, '0', '5-3', '1-', '1,,2', 'a'].map((pdfPageRanges) => [{ pdfPageRanges }]),
  proxy: [...TEXTS, 'http://', 'ftp://a.example', 'http://a.example:99999', 'http://[zz]', 'http://münchen.example:3128'].map((proxy) => [
    { proxy },
  ]),
  referer: [...TEXTS, 'http://', 'http://[zz]/', 'http://a.example:99999/', 'javascript:1'].map((referer) => [{ referer }]),
  headers: [
    ...TEXTS.filter((text) => !/^[\t -~]{0,8192}$/.test(text)).map((value) => [{}, { headers: { 'X-Odd': value } }] as [object, object]),
    ...TEXTS.filter((text) => !/^[-%0-9.a-z]{1,128}$/.test(text)).map((name) => [{}, { headers: { [name]: 'a' } }] as [object, object]),
    ...['Set-Cookie', 'cookie2', 'TE', 'Proxy-Foo', ':authority'].map((name) => [{}, { headers: { [name]: 'a' } }] as [object, object]),
    [{}, { headers: { 'accept-encoding': '*' } }],
  ],
  credentials: ['a:b', ':', 'x'.repeat(1_025)].map((basicAuthUsername) => [{}, { basicAuthUsername, basicAuthPassword: 'b' }]),
  device: [...TEXTS, 'constructor', '__proto__', 'Nokia 3310'].map((device) => [{ device }]),
  selectors: ['', 'x'.repeat(9_000)].flatMap((text) => [[{ selector: text }], [{ hideSelectors: [text] }]]),
  numbers_as_texts: ['1', 'NaN', '', null, true, [], {}].flatMap((value) => [
    [{ viewportWidth: value }],
    [{ geolocationLatitude: value, geolocationLongitude: 0 }],
    [{ delay: value }],
  ]),
  cookies: [
    ...['\n', '\0', ';', '\t', 'x'.repeat(5_000)].map((value) => [{}, cookie({ value })] as [object, object]),
    ...['', ' ', '\n', ';', ',', '=', '"', 'a b'].map((name) => [{}, cookie({ name })] as [object, object]),
    ...['a.example:80', '[::1]', 'münchen.example', '*.a.example', '.', ''].map((domain) => [{}, cookie({ domain })] as [object, object]),
    ...[...NUMBERS.filter((number) => number !== 2 ** 31), 1.5].map((expires) => [{}, cookie({ expires })] as [object, object]),
    [{}, cookie({ sameSite: 'lax' })],
    ...['a', '/?'].map((path) => [{}, cookie({ path })] as [object, object]),
    [{}, cookie({ name: '__Secure-a' })],
    [{}, cookie({ sameSite: 'None' })],
    [{}, cookie({ value: ' a ' })],
    [{}, cookie({ domain: 'a..b' })],
  ],
}
for (const [option, values] of Object.entries(REFUSED)) {
  t.test(`${values.length} odd values of ${option} are refused before they reach a browser`, async (t) => {
    t.strictSame(
      values.filter(([options, secrets = {}]) => !isRefused(options, secrets)),
      [],
    )
  })
}

// Odd values that mean something. The tenth capture has the tenth value of each option, so twenty captures are enough for all of them.
const ZONES: [string, [january: number, july: number]][] = [
  ['utc', [0, 0]],
  ['Asia/Calcutta', [330, 330]],
  ['asia/kathmandu', [345, 345]],
  ['US/Eastern', [-300, -240]],
  ['CST6CDT', [-360, -300]],
  ['Etc/GMT+7', [-420, -420]],
  ['etc/gmt-13', [780, 780]],
  ['Zulu', [0, 0]],
  ['GB-Eire', [0, 60]],
  ['NZ-CHAT', [825, 765]],
  ['EUROPE/LISBON', [0, 60]],
  ['Antarctica/Troll', [0, 120]],
]
const LOCALES = ['DE', 'sr-Latn-RS', 'zh-Hant-HK', 'iw', 'de-AT-1901', 'eng', 'no', 'pt-BR', 'ar-EG', 'und', 'xx-invalid-1234', 'tlh']
const COOKIES = [
  { name: '__Host-a', secure: true },
  { name: '__Host-a', secure: true, domain: 'localhost' },
  { name: '__Http-a' },
  { secure: true, sameSite: 'None' },
  ...['xn--', 'com', '1.2.3', '999.1.1.1'].map((domain) => ({ domain })),
  ...['//', '/\ud800'].map((path) => ({ path })),
  { expires: 0 },
  { value: '\ud800' },
]
const HEADERS = ['', '\t', ' a ', '"', ';', '%', 'x'.repeat(8_000)]
const AGENTS = [' ', '()', 'Chrome/', 'Android 99999999999999999999', 'Mozilla/5.0 (Windows NT', 'x'.repeat(1_024), 'CrOS', '"']
const COLORS = ['rgb(999,0,0)', 'rgba(0,0,0,.5)', '#0000', 'transparent', '#FfF', 'rgb( 1 , 2 , 3 )']
const at = <T>(values: readonly T[], index: number): T => values[index % values.length]!

for (const [index, [timezone, zone]] of ZONES.entries()) {
  t.test(`odd values that are accepted work: time zone ${timezone}, locale ${at(LOCALES, index)} and others`, async (t) => {
    const options = {
      ...{ timezone, locale: at(LOCALES, index), userAgent: at(AGENTS, index), backgroundColor: at(COLORS, index) },
      ...{ geolocationLatitude: at([-90, 90, -0, 1e-320], index), geolocationLongitude: at([180, -180, 0], index) },
      ...{ geolocationAccuracy: at([0, 100_000], index), acceptLanguage: at(['*', ',,', 'de;q=x', '-', '. .', '=;='], index) },
      ...{ viewportWidth: at([1, 7_680, 333], index), viewportHeight: at([10, 1], index), deviceScaleFactor: at([0.1, 5, 1.7], index) },
      ...{ pageZoom: at([0.25, 5, 1, 1.1], index), userAgentPlatform: at([' ', '"', ';'], index) },
      ...{ mediaFeatures: { a: '/', 'prefers-color-scheme': 'pink' }, blankPageAction: 'accept' as const },
    }
    const secrets = {
      ...cookie(at(COOKIES, index)),
      headers: { 'X-Odd': at(HEADERS, index), '%': 'a', Range: 'x' },
      basicAuthUsername: at(TEXTS.slice(0, 18), index),
      basicAuthPassword: at(TEXTS.slice(0, 18), index + 7),
      localStorage: { [at(TEXTS, index)]: '\ud800', length: '1' },
    }
    t.notOk(isRefused(options, secrets))
    t.match(await stage.ask('/facts', options, { privateOptions: secrets }), { zone })
  })
}

t.test('a locale whose language the browser does not know adds a warning, and others add none', async (t) => {
  const warningsOf = async (locale: string) => (await stage.take('/facts', { locale })).findings.warnings
  const unknown = ['locale has no effect on formats if the browser knows no language with this tag']
  for (const locale of ['xx-invalid-1234', 'tlh']) t.strictSame(await warningsOf(locale), unknown, locale)
  for (const locale of ['DE', 'iw', 'zh-Hant-HK']) t.strictSame(await warningsOf(locale), [], locale)
})

/** Sheets that cannot be printed, and odd ones that can. */
const SHEETS: [options: CaptureOptions, isPrinted: boolean][] = [
  [{ pdfWidth: '0' }, false],
  [{ pdfHeight: '0.0px' }, false],
  [{ pdfMarginTop: '200in' }, false],
  [{ pdfMarginLeft: '5in', pdfMarginRight: '5in' }, false],
  [{ pdfWidth: '1in', pdfMarginLeft: '1in', pdfFitOnePage: true }, false],
  [{ pdfWidth: '0.0001in' }, true],
  [{ pdfWidth: '99999in', pdfHeight: '1px' }, true],
  [{ pdfScale: 0.1, pdfPaperFormat: 'a0' }, true],
  [{ pdfScale: 2, pdfHeight: '0.4mm', pdfFitOnePage: true }, true],
]
t.test('odd sheets are printed, or refused for good with what to check', async (t) => {
  for (const [options, isPrinted] of SHEETS) {
    const taken = await stage.take('/facts', { ...options, format: 'pdf' }).catch((error: unknown) => error)
    const label = JSON.stringify(options)
    if (isPrinted) t.match(taken, { picture: Buffer }, label)
    else t.match(taken, { code: 'INVALID_OPTIONS', message: /^the browser cannot print this: .*Check pdf_width, pdf_height and/ }, label)
  }
})

t.test('headers that the browser refuses fail the capture at once, without a wait for its timeout', async (t) => {
  for (const [name, value] of [
    ['Set-Cookie', 'a=b'],
    ['Accept-Encoding', ''],
  ] as const) {
    const failure = await stage.fail('/boxes', {}, { privateOptions: { headers: { [name]: value } } })
    t.match(failure, { code: 'INVALID_OPTIONS', message: `the browser refused headers or authorization: Unsafe header: ${name}` })
  }
})

t.test('a browser that refuses an option is not replaced, and the capture is not tried again', async (t) => {
  const wrong: Record<string, Partial<ContextPlan>> = {
    'Invalid timezone': { timezone: 'Mars/Olympus' },
    'Invalid locale name': { locale: '!' },
  }
  const lend = (plan: Partial<ContextPlan>) => stage.browsers.lend('another', { ...DEFAULT_CONTEXT, ...plan }, AbortSignal.timeout(30_000))
  const first = await lend({})
  const control = await first.tab.openBrowserSession()
  const contexts = async () => (await control.send('Target.getBrowserContexts')).browserContextIds.length
  const before = await contexts()
  for (const [reason, plan] of Object.entries(wrong)) {
    const failure = await lend(plan).then(
      () => undefined,
      (error: unknown) => error,
    )
    t.match(failure, { code: 'INVALID_OPTIONS', message: `the browser refused the value of an option: ${reason}` })
    t.notOk(failure instanceof CaptureError && isRetryable(failure.code))
  }
  const second = await lend({})
  t.equal(second.browser.pid, first.browser.pid)
  // Contexts close in the background.
  while ((await contexts()) > before + 1) await setTimeout(20)
  t.pass('no context of a refused plan remains')
  await Promise.all([first, second].map((lease) => stage.browsers.takeBack(lease, true)))
})

/** True if any pixel has that color. */
function holds(pixels: Awaited<ReturnType<typeof stage.shoot>>['pixels'], color: readonly number[]): boolean {
  for (let y = 0; y < pixels.height; y += 10) if (isNear(pixels.at(5, y), color as never, 8)) return true
  return false
}
