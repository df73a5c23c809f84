import type { BrowserContextOptions, Page } from 'playwright'
import { toCall } from '../page/call.ts'
import type { ContextPlan } from '../plan/context.ts'
import type { MediaPlan } from '../plan/media.ts'
import type { DevTools } from './devtools.ts'
import { setFontFamilies } from './font-families.ts'
import { buildUserAgent, userAgentOf } from './user-agent.ts'

// Emulates another device, place or time. Playwright emulates what it can, in every frame and worker. The rest goes to the page by DevTools.

/** The client hints of a shared worker cannot be overridden in time. Mobile browsers have no shared workers, so pages work without. */
export const WITHOUT_SHARED_WORKERS = toCall('removeSharedWorkers')

/** For pages and workers with a virtual clock (ADR 34). */
export const WITH_MOVING_CLOCK = toCall('adjustGlobals', null)

/** The same, and borders of the window as in a visible browser. The windows of Playwright's tabs have the same. */
export const WITH_CLOCK_AND_OUTER_SIZE = toCall('adjustGlobals', { width: 8, height: 85 })

/** Options of a new context. */
export const toContextOptions = (plan: ContextPlan, version: string): BrowserContextOptions => ({
  ...windowOptions(plan),
  colorScheme: plan.colorScheme,
  reducedMotion: plan.reducedMotion ? 'reduce' : 'no-preference',
  forcedColors: plan.forcedColors ? 'active' : 'none',
  contrast: plan.moreContrast ? 'more' : 'no-preference',
  userAgent: userAgentOf(version, plan.emulated),
  hasTouch: plan.emulated?.touch ?? false,
  timezoneId: plan.timezone,
  ...(plan.locale === undefined ? {} : { locale: plan.locale }),
  // Playwright's locale sets the header for the page but not for its workers.
  ...headersFor(plan.acceptLanguage ?? plan.locale),
  ...(plan.geolocation ? { geolocation: plan.geolocation, permissions: ['geolocation'] } : {}),
  javaScriptEnabled: !plan.scriptsOff,
  // A service worker would report another browser, platform and language than its page.
  serviceWorkers: plan.emulated || plan.locale !== undefined ? 'block' : 'allow',
  bypassCSP: plan.bypassCsp ?? false,
  ignoreHTTPSErrors: plan.ignoreCertificates ?? false,
})

/** For a tab with frame control, Playwright would set the bounds of the window, after which the tab never draws again. */
const windowOptions = ({ frameControl, viewport, deviceScaleFactor, emulated }: ContextPlan): BrowserContextOptions =>
  frameControl ? { viewport: null } : { viewport, deviceScaleFactor, isMobile: emulated?.mobile ?? false }

const headersFor = (language: string | undefined) => (language === undefined ? {} : { extraHTTPHeaders: { 'Accept-Language': language } })

/** Applies what Playwright's context options do not cover. */
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

/** Changes the emulated media of a page. */
export async function emulateMedia(session: DevTools, page: Page, media: MediaPlan): Promise<void> {
  await Promise.all([page.emulateMedia(toMedia(media)), emulateMore(session, media)])
}

/** Media features that Playwright does not support. This session also sets the media type, or else the page's next process would lose it. */
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

/** Emulates in a DevTools session what Playwright sets for every frame. {@link isAdaptable} accepts only plans that need no more. */
export async function emulate(session: DevTools, version: string, plan: ContextPlan): Promise<void> {
  await Promise.all([
    session.send('Emulation.setUserAgentOverride', buildUserAgent(version, plan.emulated)),
    session.send('Emulation.setTimezoneOverride', { timezoneId: plan.timezone }),
    session.send('Emulation.setEmulatedMedia', toEmulatedMedia(plan)),
    setFontFamilies(session),
  ])
}

/** All media settings as DevTools parameters. */
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

/** The window as DevTools parameters. The screen has the same size. */
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

/** The window with another height for layout only. The visible size stays the same, which costs no memory. Absent: the window itself. */
export const toLayoutMetrics = (plan: Parameters<typeof toMetrics>[0], height: number | undefined) => {
  const metrics = toMetrics(plan)
  return height === undefined ? metrics : { ...metrics, height, dontSetVisibleSize: true }
}

/** The window of a tab with frame control. For a video, it is as large as the picture, and without the scale, a frame would have CSS pixels. */
export const toFrameMetrics = (plan: Parameters<typeof toMetrics>[0] & Pick<ContextPlan, 'frameControl'>) => ({
  ...toMetrics(plan),
  ...(plan.frameControl !== 'video' || plan.deviceScaleFactor === 1 ? {} : { scale: plan.deviceScaleFactor, dontSetVisibleSize: true }),
})

/** As in Playwright: a mobile device is in portrait orientation unless its window is wider than tall. */
const toOrientation = (isMobile: boolean, isWide: boolean) =>
  isMobile && !isWide ? { angle: 0, type: 'portraitPrimary' as const } : { angle: isMobile ? 90 : 0, type: 'landscapePrimary' as const }
