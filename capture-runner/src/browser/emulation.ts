import type { BrowserContextOptions, Page } from 'playwright-core'
import type { ContextPlan } from '../plan/context.ts'
import type { MediaPlan } from '../plan/media.ts'
import type { DevTools } from './devtools.ts'
import { setFontFamilies } from './font-families.ts'
import { buildUserAgent, userAgentOf } from './user-agent.ts'

// How a context is made to pass for another device, place or time. What Playwright can do it does for every frame and worker of the page; the rest
// goes by DevTools to the page itself.

/** What a shared worker says of its brands cannot be changed in time. Browsers of phones have none either: pages do without. */
export const WITHOUT_SHARED_WORKERS = 'delete globalThis.SharedWorker'

/** What a context is opened with. */
export const toContextOptions = (plan: ContextPlan, version: string): BrowserContextOptions => ({
  viewport: plan.viewport,
  deviceScaleFactor: plan.deviceScaleFactor,
  colorScheme: plan.colorScheme,
  reducedMotion: plan.reducedMotion ? 'reduce' : 'no-preference',
  forcedColors: plan.forcedColors ? 'active' : 'none',
  contrast: plan.moreContrast ? 'more' : 'no-preference',
  userAgent: userAgentOf(version, plan.emulated),
  isMobile: plan.emulated?.mobile ?? false,
  hasTouch: plan.emulated?.touch ?? false,
  timezoneId: plan.timezone,
  ...(plan.locale === undefined ? {} : { locale: plan.locale }),
  // Of a locale the page tells by itself, but not its workers.
  ...headersFor(plan.acceptLanguage ?? plan.locale),
  ...(plan.geolocation ? { geolocation: plan.geolocation, permissions: ['geolocation'] } : {}),
  javaScriptEnabled: !plan.scriptsOff,
  // A service worker would give another browser's name, platform and language than the page that it serves.
  serviceWorkers: plan.emulated || plan.locale !== undefined ? 'block' : 'allow',
  bypassCSP: plan.bypassCsp ?? false,
  ignoreHTTPSErrors: plan.ignoreCertificates ?? false,
})

const headersFor = (language: string | undefined) => (language === undefined ? {} : { extraHTTPHeaders: { 'Accept-Language': language } })

/** What a page needs besides. */
export async function applyEmulation(session: DevTools, page: Page, version: string, plan: ContextPlan): Promise<void> {
  const { forceDark, locale } = plan
  const acceptLanguage = locale === undefined ? {} : { acceptLanguage: locale }
  await Promise.all([
    session.send('Emulation.setUserAgentOverride', { ...buildUserAgent(version, plan.emulated), ...acceptLanguage }),
    setFontFamilies(session),
    plan.mediaType === undefined ? undefined : page.emulateMedia({ media: plan.mediaType }),
    emulateMore(session, plan),
    forceDark ? session.send('Emulation.setAutoDarkModeOverride', { enabled: true }) : undefined,
  ])
}

/** Brings a page to other media. */
export async function emulateMedia(session: DevTools, page: Page, media: MediaPlan): Promise<void> {
  await Promise.all([page.emulateMedia(toMedia(media)), emulateMore(session, media)])
}

/** Features that Playwright has no word for. The type is told by this session too, which would forget it in the next process of the page. */
async function emulateMore(session: DevTools, media: MediaPlan): Promise<void> {
  const features = featuresOf(media)
  if (features.length === 0 && media.mediaType === undefined) return
  await session.send('Emulation.setEmulatedMedia', { media: media.mediaType ?? '', features })
}

const featuresOf = ({ mediaFeatures = {} }: MediaPlan) => Object.entries(mediaFeatures).map(([name, value]) => ({ name, value }))

const toMedia = ({ colorScheme, mediaType, reducedMotion, forcedColors, moreContrast }: MediaPlan) =>
  ({
    colorScheme,
    media: mediaType ?? null,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    forcedColors: forcedColors ? 'active' : 'none',
    contrast: moreContrast ? 'more' : 'no-preference',
  }) as const

/** What Playwright does for every frame of the page by itself, for the session of one: plans that {@link isAdaptable} takes ask for no more. */
export async function emulate(session: DevTools, version: string, plan: ContextPlan): Promise<void> {
  await Promise.all([
    session.send('Emulation.setUserAgentOverride', buildUserAgent(version, plan.emulated)),
    session.send('Emulation.setTimezoneOverride', { timezoneId: plan.timezone }),
    session.send('Emulation.setEmulatedMedia', toEmulatedMedia(plan)),
    setFontFamilies(session),
  ])
}

/** All of the media in DevTools' words. */
export function toEmulatedMedia(media: MediaPlan) {
  const { colorScheme, media: type, reducedMotion, forcedColors, contrast } = toMedia(media)
  const features = [
    { name: 'prefers-color-scheme', value: colorScheme },
    { name: 'prefers-reduced-motion', value: reducedMotion },
    { name: 'forced-colors', value: forcedColors },
    { name: 'prefers-contrast', value: contrast },
    ...featuresOf(media),
  ]
  return { media: type ?? '', features }
}

/** The window, in DevTools' words. Its screen is as large as it is. */
export const toMetrics = ({
  viewport: { width, height },
  deviceScaleFactor,
  emulated,
}: Pick<ContextPlan, 'viewport' | 'deviceScaleFactor' | 'emulated'>) => {
  const mobile = emulated?.mobile ?? false
  return {
    mobile,
    width,
    height,
    screenWidth: width,
    screenHeight: height,
    deviceScaleFactor,
    screenOrientation: toOrientation(mobile, width > height),
  }
}

/** The window as tall as `height`, for layout only: what the browser draws stays as large as it is, and costs no memory. Absent: the window itself. */
export const toLayoutMetrics = (plan: Parameters<typeof toMetrics>[0], height: number | undefined) => {
  const metrics = toMetrics(plan)
  return height === undefined ? metrics : { ...metrics, height, dontSetVisibleSize: true }
}

/** As Playwright has it: a phone is held upright unless its window is wider than tall. */
const toOrientation = (isMobile: boolean, isWide: boolean) =>
  isMobile && !isWide ? { angle: 0, type: 'portraitPrimary' as const } : { angle: isMobile ? 90 : 0, type: 'landscapePrimary' as const }
