import { toCall } from '../page/call.ts'
import type { ContextPlan } from '../plan/context.ts'
import type { MediaPlan } from '../plan/media.ts'
import { type DevTools, enableNetwork } from './devtools.ts'
import { setFontFamilies } from './font-families.ts'
import { buildUserAgent } from './user-agent.ts'

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
