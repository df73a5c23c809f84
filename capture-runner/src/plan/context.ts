import type { EffectiveOptions } from '@tintype/crds/options/catalogue'
import { type Device, findDevice } from '@tintype/crds/options/page/devices'
import { buildMedia, type MediaPlan } from './media.ts'

/** The browser that the page is to believe in. */
export interface EmulatedBrowser extends Pick<Device, 'mobile' | 'touch'> {
  /** Absent: the browser's own. */
  userAgent?: string
  /** True for a user agent that was chosen letter by letter; a device's Chrome gets the version that is really there. */
  isExact?: boolean
  /** What `navigator.platform` and client hints name; absent: what fits the user agent. */
  platform?: string
}

/** What a browser context is made with. What is absent is as the browser has it. */
export interface ContextPlan extends MediaPlan {
  /** CSS pixels. */
  viewport: { width: number; height: number }
  deviceScaleFactor: number
  /** Absent: a desktop. */
  emulated?: EmulatedBrowser
  timezone: string
  locale?: string
  acceptLanguage?: string
  /** Degrees, and metres of accuracy. */
  geolocation?: { latitude: number; longitude: number; accuracy: number }
  /** Where the clock stands, ISO 8601. */
  fixedTime?: string
  scriptsOff?: true
  bypassCsp?: true
  ignoreCertificates?: true
  /** A step works on Playwright's page: with its keyboard, or what it knows of errors. */
  needsPlaywright?: true
}

const DEFAULT_LOCALE = 'en-US'

/** Works out the window, and the browser, place and time that the page is to believe in. */
export function buildContext(options: EffectiveOptions): ContextPlan {
  const { deviceScaleFactor, timezone, locale, acceptLanguage, fixedTime } = options
  const emulated = buildEmulated(options)
  return {
    viewport: buildViewport(options),
    deviceScaleFactor,
    ...buildMedia(options),
    ...(emulated ? { emulated } : {}),
    timezone,
    ...(locale === DEFAULT_LOCALE ? {} : { locale }),
    ...(acceptLanguage === undefined ? {} : { acceptLanguage }),
    ...buildGeolocation(options),
    ...(fixedTime === undefined ? {} : { fixedTime }),
    ...(options.javascriptEnabled ? {} : { scriptsOff: true }),
    ...(options.bypassCsp ? { bypassCsp: true } : {}),
    ...(options.ignoreHttpsErrors ? { ignoreCertificates: true } : {}),
    ...(options.pressKey || options.failOnPageError ? { needsPlaywright: true } : {}),
  }
}

/** Landscape is the longer side as the width. */
function buildViewport({ viewportWidth: width, viewportHeight: height, viewportLandscape }: EffectiveOptions): ContextPlan['viewport'] {
  return viewportLandscape ? { width: Math.max(width, height), height: Math.min(width, height) } : { width, height }
}

function buildEmulated(options: EffectiveOptions): EmulatedBrowser | undefined {
  const device = options.device === undefined ? undefined : findDevice(options.device)
  const { userAgent, userAgentPlatform: platform } = options
  const mobile = options.viewportMobile ?? device?.mobile ?? false
  const touch = options.viewportHasTouch ?? device?.touch ?? false
  if (!device && !mobile && !touch && userAgent === undefined && platform === undefined) return undefined
  return {
    mobile,
    touch,
    ...(userAgent === undefined ? (device ? { userAgent: device.userAgent } : {}) : { userAgent, isExact: true }),
    ...(platform === undefined ? {} : { platform }),
  }
}

function buildGeolocation(options: EffectiveOptions): Pick<ContextPlan, 'geolocation'> {
  const { geolocationLatitude: latitude, geolocationLongitude: longitude, geolocationAccuracy: accuracy } = options
  return latitude === undefined || longitude === undefined ? {} : { geolocation: { latitude, longitude, accuracy } }
}
