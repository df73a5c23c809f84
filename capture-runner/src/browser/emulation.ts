import { toCall } from '../page/call.ts'
import type { ContextPlan, MediaPlan } from '../plan/context.ts'
import { type DevTools, enableNetwork } from './devtools.ts'

// Emulates another device, place or time, in each session with a page, frame or worker.

/** For pages and workers with a virtual clock (ADR 34). */
export const WITH_MOVING_CLOCK = toCall('adjustGlobals', null)

/** The same, and borders of the window as in a visible browser. */
const WITH_CLOCK_AND_OUTER_SIZE = toCall('adjustGlobals', { width: 8, height: 85 })

/** Scripts that run in each document before its own. */
export const toInitScripts = ({ emulated, locale, fixedTime }: ContextPlan): string[] => [
  // The client hints of a shared worker cannot be overridden in time. Mobile browsers have no shared workers, so pages work without.
  toCall('removeSharedWorkers'),
  // A service worker would report another browser, platform and language than its page.
  ...(emulated || locale !== undefined ? [toCall('refuseServiceWorkers')] : []),
  emulated?.mobile ? WITH_MOVING_CLOCK : WITH_CLOCK_AND_OUTER_SIZE,
  // Reads the clock of the script before.
  ...(fixedTime === undefined ? [] : [toCall('startClock', Date.parse(fixedTime))]),
]

/** Emulates what a plan wants in the session of a page, or of a frame in another process. @throws when the browser refuses a value */
export async function emulate(session: DevTools, version: string, plan: ContextPlan): Promise<void> {
  const { emulated, locale, geolocation } = plan
  await Promise.all([
    emulateIdentity(session, version, plan),
    session.send('Emulation.setTimezoneOverride', { timezoneId: plan.timezone }),
    session.send('Emulation.setEmulatedMedia', toEmulatedMedia(plan)),
    setFontFamilies(session),
    locale !== undefined && session.send('Emulation.setLocaleOverride', { locale }),
    geolocation && session.send('Emulation.setGeolocationOverride', geolocation),
    emulated?.touch && session.send('Emulation.setTouchEmulationEnabled', { enabled: true }),
    plan.forceDark && session.send('Emulation.setAutoDarkModeOverride', { enabled: true }),
    plan.scriptsOff && session.send('Emulation.setScriptExecutionDisabled', { value: true }),
    plan.bypassCsp && session.send('Page.setBypassCSP', { enabled: true }),
    plan.ignoreCertificates && session.send('Security.setIgnoreCertificateErrors', { ignore: true }),
  ])
}

/** Sets the user agent and language that scripts and servers see. Workers do not inherit them. */
export async function emulateIdentity(
  session: DevTools,
  version: string,
  { emulated, locale, acceptLanguage }: ContextPlan,
): Promise<void> {
  const language = acceptLanguage ?? locale
  const ofScripts = locale === undefined ? {} : { acceptLanguage: locale }
  await Promise.all([
    session.send('Emulation.setUserAgentOverride', { ...buildUserAgent(version, emulated), ...ofScripts }),
    language !== undefined && enableNetwork(session),
    language !== undefined && session.send('Network.setExtraHTTPHeaders', { headers: { 'Accept-Language': language } }),
  ])
}

/** All media settings as DevTools parameters. */
export function toEmulatedMedia({ colorScheme, mediaType, reducedMotion, forcedColors, moreContrast, mediaFeatures = {} }: MediaPlan) {
  const features = {
    'prefers-color-scheme': colorScheme,
    'prefers-reduced-motion': reducedMotion ? 'reduce' : 'no-preference',
    'forced-colors': forcedColors ? 'active' : 'none',
    'prefers-contrast': moreContrast ? 'more' : 'no-preference',
    ...mediaFeatures,
  }
  return { media: mediaType ?? '', features: Object.entries(features).map(([name, value]) => ({ name, value })) }
}

/** The window as DevTools parameters. The screen has the same size. */
export const toMetrics = ({ viewport: { width, height }, deviceScaleFactor, emulated, frameControl }: ContextPlan) => {
  const mobile = emulated?.mobile ?? false
  return {
    mobile,
    width,
    height,
    screenWidth: width,
    screenHeight: height,
    deviceScaleFactor,
    screenOrientation: toOrientation(mobile, width > height),
    // The window of a video is as large as its picture. Without the scale, a frame would have CSS pixels.
    ...(frameControl !== 'video' || deviceScaleFactor === 1 ? {} : { scale: deviceScaleFactor, dontSetVisibleSize: true }),
  }
}

/** As in Playwright: a mobile device is in portrait orientation unless its window is wider than tall. */
const toOrientation = (isMobile: boolean, isWide: boolean) =>
  isMobile && !isWide ? { angle: 0, type: 'portraitPrimary' as const } : { angle: isMobile ? 90 : 0, type: 'landscapePrimary' as const }

// User agent and client hints. Headers, navigator and client hints must be consistent, because sites compare them.

type Emulated = ContextPlan['emulated']

const majorOf = (version: string): string => version.split('.')[0] ?? version

/** Like Chrome's reduced user agent: all numbers after the major version are 0. */
const chromeOf = (version: string): string => `Chrome/${majorOf(version)}.0.0.0`

/**
 * The user agent of a context. For a device, its user agent with this browser's version if it is a Chrome. Otherwise the browser's own without the
 * word Headless, for which about six in a hundred sites refuse access.
 */
export function userAgentOf(version: string, emulated?: Emulated): string {
  if (emulated?.userAgent !== undefined) {
    return emulated.isExact ? emulated.userAgent : emulated.userAgent.replace(/Chrome\/[\d.]+/, chromeOf(version))
  }
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ${chromeOf(version)} Safari/537.36`
}

/**
 * The same with matching client hints and platform, because Playwright leaves the brand HeadlessChrome in place. Browsers other than Chrome send no
 * hints.
 */
export function buildUserAgent(actualVersion: string, emulated?: Emulated) {
  const userAgent = userAgentOf(actualVersion, emulated)
  const [, claimed] = /Chrome\/([\d.]+)/.exec(userAgent) ?? []
  const platform = emulated?.platform ?? navigatorPlatformOf(userAgent)
  if (claimed === undefined) return { userAgent, platform }
  const version = majorOf(claimed) === majorOf(actualVersion) ? actualVersion : claimed
  const brands = (of: string, noise: string) => [
    { brand: 'Not:A-Brand', version: noise },
    { brand: 'Chromium', version: of },
  ]
  const hints = { brands: brands(majorOf(version), '8'), fullVersionList: brands(version, '8.0.0.0'), bitness: '64', wow64: false }
  const { platform: hinted, ...system } = platformOf(userAgent)
  const hintedPlatform = emulated?.platform === undefined ? hinted : hintOf(emulated.platform)
  const userAgentMetadata = { ...hints, ...system, platform: hintedPlatform, mobile: emulated?.mobile ?? false }
  return { userAgent, platform, userAgentMetadata }
}

/** The value of `navigator.platform` for a user agent. */
function navigatorPlatformOf(userAgent: string): string {
  if (/iPhone|iPad/.test(userAgent)) return userAgent.includes('iPad') ? 'iPad' : 'iPhone'
  if (userAgent.includes('Android')) return 'Linux armv81'
  if (userAgent.includes('Windows')) return 'Win32'
  return userAgent.includes('Macintosh') ? 'MacIntel' : 'Linux x86_64'
}

/** The platform name in client hints for a value of `navigator.platform`. */
function hintOf(platform: string): string {
  if (/^Win/.test(platform)) return 'Windows'
  if (/^Mac/.test(platform)) return 'macOS'
  if (/^(iPhone|iPad)/.test(platform)) return 'iOS'
  return /^Linux arm/.test(platform) ? 'Android' : /^Linux/.test(platform) ? 'Linux' : platform
}

function platformOf(userAgent: string) {
  const [, platformVersion, model] = /Android ([\d.]+); ([^;)]+?)(?: Build|\))/.exec(userAgent) ?? []
  if (platformVersion !== undefined) return { platform: 'Android', platformVersion, architecture: '', model: model ?? '' }
  const platform = userAgent.includes('Windows') ? 'Windows' : userAgent.includes('Macintosh') ? 'macOS' : 'Linux'
  return { platform, platformVersion: '', architecture: 'x86', model: '' }
}

// For a missing glyph, Chromium queries fontconfig by language alone, without serif or sans-serif. Only this setting gives generic families a meaning
// per script. The faces, and their order for each language, are in fonts/fonts.conf.

type Families = { standard?: string; serif?: string; sansSerif?: string; fixed?: string }

/** `region` as in the names of Noto's CJK faces. */
const cjk = (region: string): Families => ({ serif: `Noto Serif CJK ${region}`, fixed: `Noto Sans Mono CJK ${region}` })

const serif = (name: string): Families => ({ serif: `Noto Serif ${name}` })

/** Generic families by script (ISO 15924). `standard` draws letters that a face lacks; its default is Times New Roman. */
const SCRIPTS: Record<string, Families> = {
  Jpan: cjk('JP'),
  Hans: cjk('SC'),
  Hant: cjk('TC'),
  Hang: cjk('KR'),
  Thai: serif('Thai'),
  Deva: serif('Devanagari'),
  Beng: serif('Bengali'),
  Guru: serif('Gurmukhi'),
  Gujr: serif('Gujarati'),
  Taml: serif('Tamil'),
  Telu: serif('Telugu'),
  Knda: serif('Kannada'),
  Mlym: serif('Malayalam'),
  Sinh: serif('Sinhala'),
  Laoo: serif('Lao'),
  Khmr: serif('Khmer'),
  Mymr: serif('Myanmar'),
  Ethi: serif('Ethiopic'),
  Armn: serif('Armenian'),
  Geor: serif('Georgian'),
  Hebr: serif('Hebrew'),
  // Chromium has one script for Arabic and Urdu, whose serif faces differ. fonts.conf chooses those by language, so only the sans-serif
  // face is here. Arial draws Latin letters, which that face lacks.
  Arab: { sansSerif: 'Noto Sans Arabic', standard: 'Arial' },
}

const FONT_FAMILIES = {
  fontFamilies: {},
  forScripts: Object.entries(SCRIPTS).map(([script, fontFamilies]) => ({ script, fontFamilies })),
}

/** Gives serif text of each script a serif face. Can be called once per session. */
export async function setFontFamilies(session: DevTools): Promise<void> {
  await session.send('Page.setFontFamilies', FONT_FAMILIES)
}
