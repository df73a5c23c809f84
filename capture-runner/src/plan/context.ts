import { captureDefaults, type EffectiveOptions } from '@tintype/crds/options/catalog'
import { type Device, findDevice, toTimeZone } from '@tintype/crds/options/page/browser'

/** The browser to emulate. */
export interface EmulatedBrowser extends Pick<Device, 'mobile' | 'touch'> {
  /** Absent: the browser's own. */
  userAgent?: string
  /** True for the client's own user agent, which is used unchanged. A device's Chrome gets the actual version. */
  isExact?: boolean
  /** Value for `navigator.platform` and client hints; absent: one that matches the user agent. */
  platform?: string
}

/** Settings of a browser context. Absent values are the browser's defaults. */
export interface ContextPlan extends MediaPlan {
  /** CSS pixels. */
  viewport: { width: number; height: number }
  deviceScaleFactor: number
  /** Height of the window in its pictures, in CSS pixels, if a zoom makes it a fraction; absent: that of the viewport. */
  shownHeight?: number
  /** Absent: a desktop. */
  emulated?: EmulatedBrowser
  timezone: string
  locale?: string
  acceptLanguage?: string
  /** In degrees; accuracy in meters. */
  geolocation?: { latitude: number; longitude: number; accuracy: number }
  /** Time at which the clock of each document starts, ISO 8601. */
  fixedTime?: string
  scriptsOff?: true
  bypassCsp?: true
  ignoreCertificates?: true
  /** The tab draws frames only on command. For a video, each frame is a picture, so the window is as large as the picture. */
  frameControl?: 'picture' | 'video'
}

/** Builds the plan for the window and the emulated browser, place and time. */
export function buildContext(options: EffectiveOptions): ContextPlan {
  const { locale, acceptLanguage, fixedTime } = options
  const emulated = buildEmulated(options)
  return {
    ...buildWindow(options),
    ...buildMedia(options),
    ...(emulated ? { emulated } : {}),
    timezone: toTimeZone(options.timezone) ?? options.timezone,
    ...(locale === captureDefaults.locale ? {} : { locale }),
    ...(acceptLanguage === undefined ? {} : { acceptLanguage }),
    ...buildGeolocation(options),
    ...(fixedTime === undefined ? {} : { fixedTime }),
    ...(options.javascriptEnabled ? {} : { scriptsOff: true }),
    ...(options.bypassCsp ? { bypassCsp: true } : {}),
    ...(options.ignoreHttpsErrors ? { ignoreCertificates: true } : {}),
  }
}

/** Zooms as a browser does: the window has fewer and larger CSS pixels. The picture has as many pixels as without the zoom. */
function buildWindow(options: EffectiveOptions): Pick<ContextPlan, 'viewport' | 'deviceScaleFactor' | 'shownHeight'> {
  const { deviceScaleFactor, pageZoom, format } = options
  const viewport = buildViewport(options)
  // Browsers print without their zoom. The step `zoom` enlarges a page for a PDF.
  if (pageZoom === 1 || format === 'pdf') return { viewport, deviceScaleFactor }
  const width = Math.max(1, Math.round(viewport.width / pageZoom))
  const zoom = viewport.width / width
  const shownHeight = viewport.height / zoom
  const height = Math.ceil(shownHeight - ROUNDING)
  return {
    viewport: { width, height },
    deviceScaleFactor: deviceScaleFactor * zoom,
    ...(height - shownHeight > ROUNDING ? { shownHeight } : {}),
  }
}

const ROUNDING = 1e-6

/** In landscape orientation, the longer side is the width. */
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

/** Emulated media. Absent values are the browser's defaults. */
export interface MediaPlan {
  colorScheme: 'light' | 'dark'
  mediaType?: 'screen' | 'print'
  reducedMotion?: true
  forcedColors?: true
  moreContrast?: true
  /** Further CSS media features by name. */
  mediaFeatures?: Readonly<Record<string, string>>
  forceDark?: true
}

/** Builds the plan for media. */
function buildMedia(options: EffectiveOptions): MediaPlan {
  const { darkMode, mediaType, reducedMotion, forcedColors, prefersContrast, mediaFeatures, darkModeForce } = options
  const features = { ...mediaFeatures, ...(prefersContrast === 'less' ? { 'prefers-contrast': 'less' } : {}) }
  return {
    colorScheme: darkMode ? 'dark' : 'light',
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(reducedMotion ? { reducedMotion: true } : {}),
    ...(forcedColors ? { forcedColors: true } : {}),
    ...(prefersContrast === 'more' ? { moreContrast: true } : {}),
    ...(Object.keys(features).length === 0 ? {} : { mediaFeatures: features }),
    ...(darkModeForce ? { forceDark: true } : {}),
  }
}
