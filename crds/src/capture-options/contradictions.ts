import type { CelRule } from '../kinds/custom-resource.ts'
import { type CaptureOptions, withDefaults } from './catalogue.ts'

/** Device pixels that one window may have: 7680² × 5² would not fit in any runner. */
export const MAX_VIEWPORT_PIXELS = 100_000_000

/** Device pixels of the window that the options ask for, a device's among them. */
export function windowPixels(options: CaptureOptions): number {
  const { viewportWidth, viewportHeight, deviceScaleFactor } = withDefaults(options)
  return viewportWidth * viewportHeight * deviceScaleFactor ** 2
}

/** Two options that cannot hold together: said once, checked by the gateway in TypeScript and by the API server in CEL. */
export interface Contradiction extends CelRule {
  /** The option, in camel case, that the error points at. */
  option: keyof CaptureOptions
  message: string
  holds(options: CaptureOptions): boolean
}

export const contradictions: readonly Contradiction[] = [
  {
    option: 'omitBackground',
    message: 'a transparent background needs format png',
    rule: '!has(self.omitBackground) || !self.omitBackground || !has(self.format) || self.format == "png"',
    holds: ({ omitBackground, format }) => omitBackground === true && format !== undefined && format !== 'png',
  },
  {
    option: 'deviceScaleFactor',
    message: 'viewport width × height × scale² is at most 100,000,000 device pixels',
    rule: [
      '(has(self.viewportWidth) ? double(self.viewportWidth) : 1920.0)',
      '(has(self.viewportHeight) ? double(self.viewportHeight) : 1080.0)',
      '(has(self.deviceScaleFactor) ? double(self.deviceScaleFactor) : 1.0)',
      '(has(self.deviceScaleFactor) ? double(self.deviceScaleFactor) : 1.0) <= 100000000.0',
    ].join(' * '),
    holds: (options) => {
      // CEL knows no devices: what one stands for is judged where options are read and where they are carried out.
      const { device: _, ...chosen } = options
      return windowPixels(chosen) > MAX_VIEWPORT_PIXELS
    },
  },
]
