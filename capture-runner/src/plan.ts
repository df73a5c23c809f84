import type { CaptureOptions } from '@tintype/crds/capture-options/catalogue'
import { withDefaults } from '@tintype/crds/capture-options/catalogue'
import { MAX_VIEWPORT_PIXELS, windowPixels } from '@tintype/crds/capture-options/contradictions'
import type { ImageFormat } from '@tintype/crds/capture-options/image'
import type { PrivateOptions } from '@tintype/crds/capture-options/private'
import type { WaitState } from '@tintype/crds/capture-options/waiting'
import { type Device, findDevice } from '@tintype/crds/devices'
import { CaptureError } from './errors.ts'
import { buildSignIn, type SignInPlan } from './sign-in-plan.ts'

// What the steps are told, computed once from the options. Pure, so that every default and every effect of an option can be tested
// without a browser.

/** What a browser context is made with. */
export interface ContextPlan {
  /** CSS pixels. */
  viewport: { width: number; height: number }
  deviceScaleFactor: number
  colorScheme: 'light' | 'dark'
  /** What a device changes beyond its window; absent: a desktop. */
  emulated?: Pick<Device, 'mobile' | 'touch' | 'userAgent'>
}

/** The file that is wanted. */
export interface PicturePlan {
  format: ImageFormat
  /** 0 to 100; absent for png. */
  quality?: number
  transparent: boolean
  fullPage: boolean
  /** CSS pixels at which a full-page picture ends. */
  maxHeight: number
}

/** One capture, step by step. Absent: the step is not wanted. */
export interface CapturePlan {
  url: string
  /** By what the page is to know the visitor. Secret. */
  signIn?: SignInPlan
  context: ContextPlan
  picture: PicturePlan
  states: readonly WaitState[]
  /** For the navigation, and again for each selector that is waited for. */
  timeoutMilliseconds: number
  styles?: string
  scripts?: string
  click?: string
  waitForSelector?: string
  delayMilliseconds: number
  /** What the client should know before anything has been done. */
  warnings: readonly string[]
}

/** The context that a runner prepares ahead: that of an order without options. */
export const DEFAULT_CONTEXT: ContextPlan = buildPlan('', undefined).context

/**
 * Works the options of one order out.
 * @throws CaptureError TOO_LARGE for a window that no schema could judge: a device's pixel ratio in a window of one's own
 */
export function buildPlan(url: string, options: CaptureOptions | undefined, privateOptions?: PrivateOptions): CapturePlan {
  const { viewportWidth, viewportHeight, deviceScaleFactor, darkMode, ...rest } = withDefaults(options)
  const { format, imageQuality, omitBackground, fullPage, fullPageMaxHeight, timeout, delay, waitUntil } = rest
  const { styles, scripts, click, waitForSelector } = rest
  if (windowPixels(options ?? {}) > MAX_VIEWPORT_PIXELS)
    throw new CaptureError('TOO_LARGE', 'the window exceeds 100,000,000 device pixels: choose a smaller one, or device_scale_factor')
  const device = options?.device === undefined ? undefined : findDevice(options.device)
  const signIn = buildSignIn(url, privateOptions)
  return {
    url,
    ...(signIn ? { signIn } : {}),
    context: {
      viewport: { width: viewportWidth, height: viewportHeight },
      deviceScaleFactor,
      colorScheme: darkMode ? 'dark' : 'light',
      ...(device ? { emulated: { mobile: device.mobile, touch: device.touch, userAgent: device.userAgent } } : {}),
    },
    picture: {
      format,
      ...(format === 'png' ? {} : { quality: imageQuality }),
      transparent: omitBackground,
      fullPage,
      maxHeight: fullPageMaxHeight,
    },
    states: waitUntil,
    timeoutMilliseconds: timeout,
    ...(styles ? { styles } : {}),
    ...(scripts ? { scripts } : {}),
    ...(click ? { click } : {}),
    ...(waitForSelector ? { waitForSelector } : {}),
    delayMilliseconds: delay,
    warnings: [...findIdle(options)],
  }
}

/** Options that were chosen and change nothing, as sentences. */
function* findIdle(options: CaptureOptions = {}): Generator<string> {
  if (options.imageQuality !== undefined && (options.format ?? 'png') === 'png') yield 'image_quality has no effect on png'
  if (options.fullPageMaxHeight !== undefined && !options.fullPage) yield 'full_page_max_height has no effect without full_page'
}

/** True when a prepared context needs no more than a new window size and colour scheme to serve `wanted`. */
export const isAdaptable = (wanted: ContextPlan): boolean =>
  wanted.deviceScaleFactor === DEFAULT_CONTEXT.deviceScaleFactor && wanted.emulated === undefined
