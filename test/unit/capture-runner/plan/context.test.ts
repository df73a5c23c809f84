import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { withDefaults } from '@tintype/crds/options/catalog'
import t from 'tap'
import { buildContext } from '../../../../capture-runner/src/plan/context.ts'

const build = (options: CaptureOptions) => buildContext(withDefaults(options))

t.test('buildContext without options is a desktop in UTC', async (t) => {
  t.strictSame(build({}), { viewport: { width: 1920, height: 1080 }, deviceScaleFactor: 1, colorScheme: 'light', timezone: 'UTC' })
})

const effects: [CaptureOptions, object][] = [
  [{ viewportWidth: 500, viewportHeight: 900, viewportLandscape: true }, { viewport: { width: 900, height: 500 } }],
  [{ viewportLandscape: true }, { viewport: { width: 1920, height: 1080 } }],
  [{ device: 'iPhone 15 Pro', viewportLandscape: true }, { viewport: { width: 659, height: 393 } }],
  [{ device: 'iPhone 15 Pro', viewportMobile: false }, { emulated: { mobile: false, touch: true, userAgent: /iPhone/ } }],
  [{ viewportHasTouch: true }, { emulated: { mobile: false, touch: true } }],
  [{ userAgent: 'me' }, { emulated: { userAgent: 'me', isExact: true } }],
  [{ userAgentPlatform: 'Win32' }, { emulated: { platform: 'Win32' } }],
  [
    { timezone: 'Asia/Tokyo', locale: 'ja' },
    { timezone: 'Asia/Tokyo', locale: 'ja' },
  ],
  [{ timezone: 'asia/tokyo' }, { timezone: 'Asia/Tokyo' }],
  // An object of an earlier version: the browser refuses it.
  [{ timezone: 'Mars/Olympus' }, { timezone: 'Mars/Olympus' }],
  [{ acceptLanguage: 'fr' }, { acceptLanguage: 'fr' }],
  [{ geolocationLatitude: 1, geolocationLongitude: 2 }, { geolocation: { latitude: 1, longitude: 2, accuracy: 0 } }],
  [{ fixedTime: '2026-01-01' }, { fixedTime: '2026-01-01' }],
  [
    { javascriptEnabled: false, bypassCsp: true, ignoreHttpsErrors: true },
    { scriptsOff: true, bypassCsp: true, ignoreCertificates: true },
  ],
  [
    { mediaType: 'print', reducedMotion: true, forcedColors: true, prefersContrast: 'more' },
    { mediaType: 'print', reducedMotion: true, forcedColors: true, moreContrast: true },
  ],
  [
    { prefersContrast: 'less', mediaFeatures: { 'color-gamut': 'p3' } },
    { mediaFeatures: { 'prefers-contrast': 'less', 'color-gamut': 'p3' } },
  ],
  [
    { darkMode: true, darkModeForce: true },
    { colorScheme: 'dark', forceDark: true },
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
