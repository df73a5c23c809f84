import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'
import { type Device, findDevice } from '@tintype/crds/devices'

/** What a browser context is made with. */
export interface ContextPlan {
  /** CSS pixels. */
  viewport: { width: number; height: number }
  deviceScaleFactor: number
  colorScheme: 'light' | 'dark'
  /** What a device changes beyond its window; absent: a desktop. */
  emulated?: Pick<Device, 'mobile' | 'touch' | 'userAgent'>
}

/** Works out the window, and the browser that the page is to believe in. */
export function buildContext(options: EffectiveOptions): ContextPlan {
  const { viewportWidth, viewportHeight, deviceScaleFactor, darkMode } = options
  const device = options.device === undefined ? undefined : findDevice(options.device)
  return {
    viewport: { width: viewportWidth, height: viewportHeight },
    deviceScaleFactor,
    colorScheme: darkMode ? 'dark' : 'light',
    ...(device ? { emulated: { mobile: device.mobile, touch: device.touch, userAgent: device.userAgent } } : {}),
  }
}
