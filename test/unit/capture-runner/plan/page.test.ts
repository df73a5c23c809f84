import { type CaptureOptions, withDefaults } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import t from 'tap'
import { buildContext } from '../../../../capture-runner/src/plan/context.ts'
import { buildSignIn } from '../../../../capture-runner/src/plan/identity.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'
import { addressOf, buildSource, SYNTHETIC_ADDRESS } from '../../../../capture-runner/src/plan/source.ts'

const build = (options: CaptureOptions) => buildContext(withDefaults(options))

t.test('buildContext without options is a desktop in UTC', async (t) => {
  t.strictSame(build({}), { viewport: { width: 1920, height: 1080 }, deviceScaleFactor: 1, colorScheme: 'light', timezone: 'UTC' })
})

const effects: [CaptureOptions, object][] = [
  [{ viewportLandscape: true }, { viewport: { width: 1920, height: 1080 } }],
  [{ device: 'iPhone 15 Pro', viewportLandscape: true }, { viewport: { width: 659, height: 393 } }],
  [{ device: 'iPhone 15 Pro', viewportMobile: false }, { emulated: { mobile: false, touch: true, userAgent: /iPhone/ } }],
  [{ viewportHasTouch: true }, { emulated: { mobile: false, touch: true } }],
  [{ timezone: 'asia/tokyo' }, { timezone: 'Asia/Tokyo' }],
  [
    {
      ...{
        viewportHasTouch: true,
        userAgent: 'me',
        userAgentPlatform: 'Win32',
        locale: 'ja',
        acceptLanguage: 'fr',
        fixedTime: '2026-01-01',
      },
      ...{ geolocationLatitude: 1, geolocationLongitude: 2, javascriptEnabled: false, bypassCsp: true, ignoreHttpsErrors: true },
      ...{ mediaType: 'print', reducedMotion: true, forcedColors: true, prefersContrast: 'more', darkMode: true, darkModeForce: true },
    },
    {
      emulated: { mobile: false, touch: true, userAgent: 'me', isExact: true, platform: 'Win32' },
      ...{ locale: 'ja', acceptLanguage: 'fr', fixedTime: '2026-01-01', geolocation: { latitude: 1, longitude: 2, accuracy: 0 } },
      ...{ scriptsOff: true, bypassCsp: true, ignoreCertificates: true, colorScheme: 'dark', forceDark: true },
      ...{ mediaType: 'print', reducedMotion: true, forcedColors: true, moreContrast: true },
    },
  ],
  // An object of an earlier version: the browser refuses it.
  [{ timezone: 'Mars/Olympus' }, { timezone: 'Mars/Olympus' }],
  [
    { prefersContrast: 'less', mediaFeatures: { 'color-gamut': 'p3' } },
    { mediaFeatures: { 'prefers-contrast': 'less', 'color-gamut': 'p3' } },
  ],
]

for (const [options, plan] of effects) {
  t.test(`buildContext applies ${Object.keys(options).join(' and ')}`, async (t) => t.match(build(options), plan))
}

t.test('buildContext omits values that equal the defaults', async (t) => {
  t.strictSame(
    build({ locale: 'en-US', timezone: 'UTC', javascriptEnabled: true, bypassCsp: false, prefersContrast: 'no_preference' }),
    build({}),
  )
})

t.test('buildContext zooms as a browser does: the window has fewer and larger CSS pixels', async (t) => {
  t.match(build({ pageZoom: 1.5 }), { viewport: { width: 1280, height: 720 }, deviceScaleFactor: 1.5, shownHeight: undefined })
  t.match(build({ pageZoom: 0.5, deviceScaleFactor: 2 }), { viewport: { width: 3840, height: 2160 }, deviceScaleFactor: 1 })
  const odd = build({ pageZoom: 1.1 })
  t.match(odd.viewport, { width: 1745, height: 982 })
  t.equal(Math.round((odd.shownHeight ?? 0) * odd.deviceScaleFactor * 1e6) / 1e6, 1080)
  t.match(build({ pageZoom: 2, format: 'pdf' }), { viewport: { width: 1920, height: 1080 }, deviceScaleFactor: 1 })
})

const PAGE = 'http://example.com:8080/a/b?c'
const plain = { path: '/', httpOnly: false, secure: false }

t.test('buildSignIn uses the origin of the URL', async (t) => {
  t.strictSame(buildSignIn(PAGE, { headers: { a: 'b' } }), {
    origin: 'http://example.com:8080',
    cookies: [],
    headers: { a: 'b' },
    headerOptions: ['headers'],
    scope: 'same_origin',
    localStorage: {},
  })
  t.equal(buildSignIn('https://Example.com:443/', { authorization: 'x' })?.origin, 'https://example.com')
})

t.test('buildSignIn converts authorization to a header, and treats a missing password as empty', async (t) => {
  t.strictSame(buildSignIn(PAGE, { authorization: 'Bearer x', headers: { a: 'b' } })?.headers, { a: 'b', Authorization: 'Bearer x' })
  t.strictSame(buildSignIn(PAGE, { basicAuthUsername: 'u' })?.basicAuth, { username: 'u', password: '' })
})

t.test('buildSignIn sets a cookie for the page’s host, or for the cookie’s domain', async (t) => {
  const cookies = [
    { name: 'a', value: '1' },
    { name: 'b', value: '2', secure: true },
    { name: 'c', value: '3', domain: '.example.org', path: '/x', httpOnly: true, sameSite: 'Lax' as const, expires: 5 },
  ]
  t.strictSame(buildSignIn(PAGE, { cookies })?.cookies, [
    { ...plain, name: 'a', value: '1', url: 'http://example.com:8080/' },
    { ...plain, name: 'b', value: '2', url: 'https://example.com:8080/', secure: true },
    { name: 'c', value: '3', domain: '.example.org', path: '/x', httpOnly: true, secure: false, sameSite: 'Lax', expires: 5 },
  ])
})

t.test('buildPlan has no sign-in without private options', async (t) => {
  t.notOk('signIn' in buildPlan(PAGE, {}))
  t.notOk('signIn' in buildPlan(PAGE, {}, {}))
})

const ADDRESS = 'https://example.com/'

const urls: [Parameters<typeof addressOf>[1], string][] = [
  [{ markdown: '# a' }, SYNTHETIC_ADDRESS],
  [{ html: '<p>', htmlBaseUrl: 'https://base.example/' }, 'https://base.example/'],
  [{ htmlBaseUrl: 'https://base.example/' }, ADDRESS],
]
for (const [options, url] of urls) {
  t.test(`addressOf sends the browser to ${url} with ${JSON.stringify(options)}`, async (t) => {
    t.equal(addressOf(ADDRESS, options), url)
  })
}

const sources: [CaptureOptions, object][] = [
  [{}, {}],
  [{ html: '<p>' }, { markup: { kind: 'html', text: '<p>' } }],
  [{ markdown: '# a', pageZoom: 2 }, { markup: { kind: 'markdown', text: '# a' } }],
  [{ pageZoom: 2, format: 'pdf' }, { zoom: 2 }],
]
for (const [options, source] of sources) {
  t.test(`buildSource with ${JSON.stringify(options)} plans ${JSON.stringify(source)}`, async (t) => {
    t.strictSame(buildSource(withDefaults(options)), source)
  })
}

const URL = 'https://site.example/'
const partitionOf = (options: CaptureOptions, secrets?: PrivateOptions, batchId: string | undefined = 'batch_1', url = URL, more = {}) =>
  buildPlan(url, { httpCache: 'batch', ...options }, secrets, { batchId, ...more }).httpCache?.partition

t.test('buildPlan shares responses within a batch by default', async (t) => {
  for (const options of [undefined, {}, { httpCache: 'batch' }] as const)
    t.match(buildPlan(URL, options, undefined, { batchId: 'batch_1' }), { httpCache: { partition: /^[0-9a-f]{64}$/ } })
})

t.test('buildPlan shares nothing outside of a batch, and nothing when http_cache is off', async (t) => {
  t.equal(buildPlan(URL, { httpCache: 'batch' }).httpCache, undefined)
  t.equal(buildPlan(URL, { httpCache: 'off' }, undefined, { batchId: 'batch_1' }).httpCache, undefined)
})

t.test('pages of a batch with the same options share a partition', async (t) => {
  t.equal(partitionOf({}), partitionOf({}, undefined, 'batch_1', 'https://other.example/'))
  t.equal(partitionOf({ locale: 'de-DE', darkMode: true }), partitionOf({ darkMode: true, locale: 'de-DE' }), 'in any order')
})

const others: { name: string; partition: string | undefined }[] = [
  { name: 'batch', partition: partitionOf({}, undefined, 'batch_2') },
  { name: 'proxy', partition: partitionOf({ proxy: 'http://proxy.example:3128' }) },
  { name: 'user agent', partition: partitionOf({ userAgent: 'x' }) },
  { name: 'locale', partition: partitionOf({ locale: 'de-DE' }) },
  { name: 'time zone', partition: partitionOf({ timezone: 'Europe/Berlin' }) },
  { name: 'certificate check', partition: partitionOf({ ignoreHttpsErrors: true }) },
  { name: 'headers', partition: partitionOf({}, { headers: { 'X-A': '1' } }) },
  { name: 'other headers', partition: partitionOf({}, { headers: { 'X-A': '2' } }) },
  { name: 'headers for another origin', partition: partitionOf({}, { headers: { 'X-A': '1' } }, 'batch_1', 'https://other.example/') },
  { name: 'credentials', partition: partitionOf({}, { basicAuthUsername: 'a', basicAuthPassword: 'b' }) },
  { name: 'cookies', partition: partitionOf({}, { cookies: [{ name: 'a', value: 'b' }] }) },
  {
    name: 'policy of the key',
    partition: partitionOf({}, undefined, 'batch_1', URL, { capturePolicy: { keyId: 'key_1', allowedRequestHosts: ['site.example'] } }),
  },
  { name: 'credentials of a proxy', partition: partitionOf({ proxy: 'http://proxy.example:3128' }, { proxyUsername: 'a' }) },
]

t.test('captures that differ in anything that affects requests have separate partitions', async (t) => {
  const all = [partitionOf({}), ...others.map(({ partition }) => partition)]
  t.equal(new Set(all).size, all.length, others.map(({ name }) => name).join(', '))
})
