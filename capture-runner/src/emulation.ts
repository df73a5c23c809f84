import type { BrowserContextOptions, Page } from 'playwright-core'
import type { DevTools } from './devtools.ts'
import type { ContextPlan } from './plans/context.ts'
import { buildUserAgent, userAgentOf } from './user-agent.ts'

// How a context is made to pass for another device, place or time. What Playwright can do it does for every frame and worker of the page; the rest
// goes by DevTools to the page itself.

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
    plan.mediaType === undefined ? undefined : page.emulateMedia({ media: plan.mediaType }),
    emulateMore(session, plan),
    forceDark ? session.send('Emulation.setAutoDarkModeOverride', { enabled: true }) : undefined,
  ])
}

/** Brings a page from some media to others, as far as a prepared context can be brought there. */
export async function emulateMedia(session: DevTools, page: Page, to: ContextPlan, from: ContextPlan): Promise<void> {
  const wanted = toMedia(to)
  if (JSON.stringify(wanted) === JSON.stringify(toMedia(from))) return
  await Promise.all([page.emulateMedia(wanted), emulateMore(session, to)])
}

/** Features that Playwright has no word for. The type is told by this session too, which would forget it in the next process of the page. */
async function emulateMore(session: DevTools, { mediaFeatures = {}, mediaType }: ContextPlan): Promise<void> {
  const features = Object.entries(mediaFeatures).map(([name, value]) => ({ name, value }))
  if (features.length === 0 && mediaType === undefined) return
  await session.send('Emulation.setEmulatedMedia', { media: mediaType ?? '', features })
}

const toMedia = ({ colorScheme, mediaType, reducedMotion, forcedColors, moreContrast }: ContextPlan) =>
  ({
    colorScheme,
    media: mediaType ?? null,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    forcedColors: forcedColors ? 'active' : 'none',
    contrast: moreContrast ? 'more' : 'no-preference',
  }) as const
