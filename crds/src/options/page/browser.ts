import { z } from 'zod'
import { withAsciiForm } from '../../text/ascii-form.ts'
import { DAY_OR_TIME } from '../../text/time-text.ts'
import { choice, declare, type Facts, flag, formed, group, integer, list, number, off, on, PICTURE } from '../rules/declare.ts'
import deviceList from './device-list.json' with { type: 'json' }

/** A device to emulate, as Playwright describes it. */
export interface Device {
  /** Playwright's spelling, such as `iPhone 15 Pro`. */
  name: string
  /** CSS pixels. */
  width: number
  height: number
  /** Device pixels for each CSS pixel. */
  scale: number
  /** Honors the page's viewport tag and has overlay scrollbars. */
  mobile: boolean
  touch: boolean
  userAgent: string
}

/** Every device, in Playwright's order. capture-runner/generate-devices.ts writes the list. */
export const DEVICES: readonly Device[] = deviceList

/** Ignores case and separators: `iPhone 15 Pro`, `iphone_15_pro` and `IPHONE-15-PRO` name one device. */
const fold = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('+', 'plus')
    .replaceAll(/[^a-z0-9]/g, '')

const byFoldedName = new Map(DEVICES.map((device) => [fold(device.name), device]))

/** Finds a device by its name in any spelling. */
export const findDevice = (name: string): Device | undefined => byFoldedName.get(fold(name))

/** `iPhone 15 Pro` → `iphone_15_pro`, the spelling of the REST API. */
export const toDeviceId = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('+', '_plus')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')

const deviceNames = DEVICES.map(({ name }) => name) as [string, ...string[]]

/** Size and scale of the viewport. */
export const viewportGroup = group('Viewport', PICTURE, {
  viewportWidth: integer(1, 7680, { default: 1920 })('Width of the viewport in CSS pixels.'),
  viewportHeight: integer(1, 7680, { default: 1080 })('Height of the viewport in CSS pixels.'),
  deviceScaleFactor: number(0.1, 5, { default: 1 })('Device pixels per CSS pixel.'),
  device: choice(deviceNames, { example: 'iPhone 15 Pro' })(
    'Device to emulate: its viewport, pixel ratio, touch and user agent. Other options override these.',
  ),
  darkMode: off('Sets the CSS media feature prefers-color-scheme to dark.'),
})

const visible = (most: number, pattern: RegExp, form: string, own: Facts<string>) =>
  declare(z.string().min(1).max(most).regex(pattern, form), own, `at most ${most} characters`)
const ascii = (most: number, own: Facts<string>) => visible(most, /^[\x20-\x7e]+$/, 'must be printable ASCII', own)

/** Headers that identify the client. Secret headers are in private.ts. */
export const identityGroup = group('Identity of the request', PICTURE, {
  userAgent: ascii(1024, {
    absent: 'the device’s, else the browser’s own',
    example: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  })('User agent that servers and scripts see. Client hints match it, and service workers are blocked.'),
  userAgentPlatform: ascii(64, { absent: 'the platform that matches user_agent', example: 'Win32' })(
    'Platform that scripts and client hints report, such as Win32, MacIntel or Linux x86_64. Workers report the browser’s own.',
  ),
  acceptLanguage: visible(256, /^[A-Za-z0-9*,;=. -]+$/, 'must be languages, such as de-CH, de;q=0.8', {
    absent: 'derived from locale',
    example: 'de-AT,de;q=0.9',
  })('Header Accept-Language of every request; does not change locale.'),
  headersScope: choice(['same_origin', 'same_site', 'all'], { default: 'same_origin' })(
    'Which requests carry headers and authorization: same_origin for the page’s own origin, same_site for hosts of its site, all for every request, also to third parties.',
  ),
})

const PROXY_URL = /^(https?|socks5):\/\/([-A-Za-z0-9._]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?$/
const HOST = z
  .string()
  .min(1)
  .max(253)
  .regex(/^(\*\.)?[-A-Za-z0-9._:[\]]+$/, withAsciiForm())

/** Proxy and connection options. The user name and password of a proxy are in private.ts. */
export const networkGroup = group('Network', PICTURE, {
  proxy: formed(512, PROXY_URL, { form: withAsciiForm(), links: 'no', policy: 'proxy', example: 'http://proxy.example.com:3128' })(
    'URL of the proxy for the page’s traffic: http, https or socks5, with host and port. A user name and password in it become proxy_username and proxy_password.',
  ),
  proxyBypass: list(HOST, 50, { links: 'no', policy: 'proxy', example: ['*.example.com'] })(
    'Hosts to reach without the proxy; *.example.com matches all subdomains.',
  ),
  ignoreHttpsErrors: flag({ default: false, policy: 'ignoreHttpsErrors' })('Accepts invalid TLS certificates.'),
  httpCache: choice(['off', 'batch'], { default: 'batch', picture: 'separate' })(
    'HTTP cache: batch shares scripts, style sheets, fonts and images among the captures of one batch; off requests them again for each capture. The cache stores only fresh responses to requests without cookies or credentials. No effect outside a batch.',
  ),
})

const DAY_OR_TIME_FORM = 'must be a day, or a time with its zone, that exists, such as 2026-11-21T18:00:00Z'
const FIRST_YEAR = 1990
const LAST_YEAR = 2100

/** Emulated location, time zone, language and clock. */
export const placeGroup = group('Place and time', PICTURE, {
  geolocationLatitude: number(-90, 90, { absent: 'none, geolocation is denied', example: 48.2082 })(
    'Latitude of the emulated geolocation in degrees.',
  ),
  geolocationLongitude: number(-180, 180, { example: 16.3738 })('Longitude of the emulated geolocation in degrees.'),
  geolocationAccuracy: number(0, 100_000, { default: 0, example: 20 })('Accuracy of the emulated geolocation in meters.'),
  timezone: formed(64, /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/, { default: 'UTC', example: 'Europe/Vienna' })(
    'IANA time zone of the page, such as Europe/Vienna, in capital or small letters.',
  ),
  locale: formed(35, /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$/, { default: 'en-US', example: 'de-AT' })(
    'Language and region of the page as a BCP 47 tag, such as de-AT. Sets the formats of scripts, navigator.language and Accept-Language. What the browser draws by itself stays American English: form fields for dates, times, months, weeks, numbers and files, buttons without a label, and validation messages. The lang attribute of the page decides the forms of Han letters; without it they are those of simplified Chinese.',
  ),
  fixedTime: formed(40, DAY_OR_TIME, {
    form: DAY_OR_TIME_FORM,
    absent: 'none, the clock is the real one',
    example: '2026-11-21T18:00:00Z',
  })(
    'Time at which the clock of each document starts when it loads, ISO 8601 with a zone, 1990 to 2100. A day alone begins at 00:00 UTC. It runs on, so that delayed work of the page happens. A pdf has this time as its date.',
  ),
})

/**
 * The name of a time zone as the IANA database spells it: `us/pacific` is `US/Pacific`. Undefined: it has none, such as for an offset, or for `PST`,
 * `SystemV/EST5` and other names that only ICU knows.
 */
export function toTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined
  try {
    // The engine must have its offsets too. Intl alone would replace an alias, and knows names of ICU.
    new Intl.DateTimeFormat('en', { timeZone: name })
    // Some browsers that show the console have no Temporal. The gateway checks the name again.
    return typeof Temporal === 'undefined' ? name : new Temporal.ZonedDateTime(0n, name).timeZoneId
  } catch {
    return undefined
  }
}

/** True if the browser has formats for the language of a tag. */
export const hasFormats = (locale: string): boolean => Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0

/** True for a valid time between the first and the last year. */
export function isFixedTime(text: string): boolean {
  const instant = new Date(text)
  const year = instant.getUTCFullYear()
  return !Number.isNaN(instant.getTime()) && year >= FIRST_YEAR && year <= LAST_YEAR
}

/** True for a well-formed BCP 47 tag. */
export function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

const MAX_FEATURES = 20

const MediaFeature = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[-a-z0-9/ ]+$/)
/** Values of CSS media features by name. */
export const MediaFeatures = z
  .record(z.string().regex(/^[a-z][-a-z]{0,63}$/), MediaFeature)
  .refine((features) => Object.keys(features).length <= MAX_FEATURES, { message: `must have at most ${MAX_FEATURES} features` })
  .meta({ maxProperties: MAX_FEATURES })

/** Emulated device and CSS media. */
export const emulationGroup = group('Device and media', PICTURE, {
  viewportMobile: flag({ absent: 'the device’s, else false' })(
    'Lays the page out as a phone does: honors its viewport tag and overlays scroll bars.',
  ),
  viewportHasTouch: flag({ absent: 'the device’s, else false' })('Reports a touch screen to the page.'),
  viewportLandscape: off('Makes the longer side of the window its width.'),
  mediaType: choice(['screen', 'print'], { absent: 'screen, and print for a pdf' })('CSS media type: screen or print.'),
  reducedMotion: off('Sets the CSS media feature prefers-reduced-motion to reduce.'),
  forcedColors: off('Replaces the page’s colors with a few high-contrast colors.'),
  prefersContrast: choice(['no_preference', 'more', 'less'], { default: 'no_preference' })(
    'CSS media feature prefers-contrast: no_preference, more or less.',
  ),
  mediaFeatures: declare(MediaFeatures, { example: { 'color-gamut': 'p3' } })(
    'Other CSS media features by name, such as color-gamut: p3, at most 20.',
  ),
  darkModeForce: off('Darkens pages that have no dark color scheme.'),
  javascriptEnabled: on('Runs the page’s scripts. Scripts in these options run in either case.'),
  bypassCsp: flag({ default: false, policy: 'bypassCsp' })(
    'Disables the page’s Content-Security-Policy, so that scripts can add blocked content.',
  ),
  pageZoom: number(0.25, 5, { default: 1 })(
    'Zoom of the browser, 0.25 to 5: the window has fewer and larger CSS pixels, so media queries and vh follow. The picture has the same size in pixels. For a pdf, magnifies the page.',
  ),
})
