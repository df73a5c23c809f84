// Odd values of every option that reaches a command of the browser. Each is refused by the schema, refused for good with the name of the option, or works.
// None looks like a fault of the runner, and the browser stays.

import { setTimeout } from 'node:timers/promises'
import { CaptureOptions } from '@tintype/crds/options/catalog'
import { contradictions } from '@tintype/crds/options/contradictions'
import { PrivateOptions, privateContradictions } from '@tintype/crds/options/private'
import { isRetryable } from '@tintype/crds/schema/errors'
import t from 'tap'
import type { ContextPlan } from '../../../capture-runner/src/plan/context.ts'
import { DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { servePages } from '../capture-runner/stage/page-server.ts'
import { openStudio } from '../capture-runner/stage/studio.ts'

const FACTS = `JSON.stringify({ zone: [new Date(2026, 0, 5), new Date(2026, 6, 5)].map((date) => -date.getTimezoneOffset()), language: navigator.language })`

const [studio, site] = await Promise.all([
  openStudio({ maxCaptures: 1_000 }),
  servePages({ '/': `<!doctype html><p>A page.</p><script>document.title = ${FACTS}</script>` }),
])
t.teardown(async () => {
  await studio.close()
  await site.close()
})
const url = site.url('/')

/** True if the gateway refuses the options. */
function isRefused(options: object, secrets: object): boolean {
  const [plain, secret] = [CaptureOptions.strict().safeParse(options), PrivateOptions.safeParse(secrets)]
  if (!plain.success || !secret.success) return true
  const all = { ...plain.data, ...secret.data }
  return contradictions.some(({ holds }) => holds(all)) || privateContradictions.some(({ holds }) => holds(secret.data))
}

/** Texts that are odd anywhere. */
const TEXTS = [
  '',
  ' ',
  '\n',
  'a\nb',
  '\0',
  '\t',
  '\x7f',
  '\ud800',
  'é',
  '日本',
  '"',
  ';',
  ',',
  '%00',
  '../..',
  '<b>',
  '1e9',
  '-1',
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
  ...[
    { name: '__Host-a', secure: true },
    { name: '__Host-a', secure: true, domain: 'localhost' },
    { name: '__Http-a' },
    { secure: true, sameSite: 'None' },
    { domain: 'xn--' },
  ],
  ...[
    { domain: 'com' },
    { domain: '1.2.3' },
    { domain: '999.1.1.1' },
    { path: '//' },
    { path: '/\ud800' },
    { expires: 0 },
    { value: '\ud800' },
  ],
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
      ...{
        pageZoom: at([0.25, 5, 1, 1.1], index),
        mediaFeatures: { a: '/', 'prefers-color-scheme': 'pink' },
        blankPageAction: 'accept' as const,
      },
      userAgentPlatform: at([' ', '"', ';'], index),
    }
    const secrets = {
      ...cookie(at(COOKIES, index)),
      headers: { 'X-Odd': at(HEADERS, index), '%': 'a', Range: 'x' },
      basicAuthUsername: at(TEXTS.slice(0, 18), index),
      basicAuthPassword: at(TEXTS.slice(0, 18), index + 7),
      localStorage: { [at(TEXTS, index)]: '\ud800', length: '1' },
    }
    t.notOk(isRefused(options, secrets))
    const shot = await studio.shoot(url, options, { privateOptions: secrets })
    t.match(JSON.parse(shot.findings.pageTitle ?? 'null'), { zone })
  })
}

t.test('a locale whose language the browser does not know adds a warning, and others add none', async (t) => {
  const warningsOf = async (locale: string) => (await studio.shoot(url, { locale })).findings.warnings
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
    const taken = await studio.shoot(url, { ...options, format: 'pdf' }).catch((error: unknown) => error)
    const label = JSON.stringify(options)
    if (isPrinted) t.match(taken, { picture: Buffer }, label)
    else t.match(taken, { code: 'INVALID_OPTIONS', message: /^the browser cannot print this: .*Check pdf_width, pdf_height and/ }, label)
  }
})

/** Values that only the browser can read, with the error code; undefined: they work. */
const READ_BY_THE_BROWSER: [values: CaptureOptions[], code?: string][] = [
  [
    [' ', 'xpath=//p', '/*', '\ud800>', ':has(:has(p))', 'div['.repeat(200)].map((selector) => ({ hideSelectors: [selector] })),
    'INVALID_SELECTOR',
  ],
  [['constructor', 'calc(1)', 'var(--x)'].map((maskColor) => ({ maskSelectors: ['p'], maskColor })), 'INVALID_OPTIONS'],
  [[{ format: 'pdf', pdfPageRanges: '999' }], 'INVALID_OPTIONS'],
  [
    ['p::before', '\\', `${':is('.repeat(200)}p${')'.repeat(200)}`, '日本', 'p '.repeat(500)].map((selector) => ({
      hideSelectors: [selector],
    })),
  ],
]
t.test('odd selectors, colors and page ranges fail for good, or work, and the browser stays', async (t) => {
  const { browserPid } = await studio.shoot(url)
  for (const [values, code] of READ_BY_THE_BROWSER) {
    for (const options of values) {
      const label = JSON.stringify(options).slice(0, 80)
      t.notOk(isRefused(options, {}), label)
      const failure = await studio.shoot(url, options).then(
        () => undefined,
        (error: unknown) => error,
      )
      t.equal((failure as CaptureError | undefined)?.code, code, label)
    }
  }
  t.equal((await studio.shoot(url)).browserPid, browserPid)
})

t.test('headers that the browser refuses fail the capture at once, without a wait for its timeout', async (t) => {
  for (const [name, value] of [
    ['Set-Cookie', 'a=b'],
    ['Accept-Encoding', ''],
  ] as const) {
    const failure = await studio.shootInVain(url, undefined, { privateOptions: { headers: { [name]: value } } })
    t.match(failure, { code: 'INVALID_OPTIONS', message: `the browser refused headers or authorization: Unsafe header: ${name}` })
  }
})

t.test('a browser that refuses an option is not replaced, and the capture is not tried again', async (t) => {
  const wrong: Record<string, Partial<ContextPlan>> = {
    'Invalid timezone ID: Mars/Olympus': { timezone: 'Mars/Olympus' },
    'Invalid locale name': { locale: '!' },
    'geolocation.latitude: precondition -90 <= LATITUDE <= 90 failed.': { geolocation: { latitude: 91, longitude: 0, accuracy: 0 } },
  }
  const lend = (plan: Partial<ContextPlan>) => studio.browsers.lend('another', { ...DEFAULT_CONTEXT, ...plan }, AbortSignal.timeout(30_000))
  const first = await lend({})
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
  while (second.tab.browser.contexts().length > 0) await setTimeout(20)
  t.pass('no context of a refused plan remains')
  await Promise.all([first, second].map((lease) => studio.browsers.takeBack(lease, true)))
})
