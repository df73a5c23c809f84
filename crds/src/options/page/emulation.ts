import { z } from 'zod'
import { pictureOption } from '../rules/option-rules.ts'

const MAX_FEATURES = 20

/** Emulated device and CSS media. */
export const emulationOptions = {
  viewportMobile: pictureOption(
    z
      .boolean()
      .describe('Lays the page out as a phone does: honors its viewport tag and overlays scroll bars. Default: the device’s, else false.'),
  ),
  viewportHasTouch: pictureOption(z.boolean().describe('Reports a touch screen to the page. Default: the device’s, else false.')),
  viewportLandscape: pictureOption(z.boolean().describe('Makes the longer side of the window its width. Default: false.')),
  mediaType: pictureOption(z.enum(['screen', 'print']).describe('CSS media type: screen or print. Default: screen, and print for a pdf.')),
  reducedMotion: pictureOption(z.boolean().describe('Sets the CSS media feature prefers-reduced-motion to reduce. Default: false.')),
  forcedColors: pictureOption(z.boolean().describe('Replaces the page’s colors with a few high-contrast colors. Default: false.')),
  prefersContrast: pictureOption(
    z
      .enum(['no_preference', 'more', 'less'])
      .describe('CSS media feature prefers-contrast: no_preference, more or less. Default: no_preference.'),
  ),
  mediaFeatures: pictureOption(
    z
      .record(
        z.string().regex(/^[a-z][-a-z]{0,63}$/),
        z
          .string()
          .min(1)
          .max(64)
          .regex(/^[-a-z0-9/ ]+$/),
      )
      .refine((features) => Object.keys(features).length <= MAX_FEATURES, { message: `must have at most ${MAX_FEATURES} features` })
      .meta({ maxProperties: MAX_FEATURES })
      .describe('Other CSS media features by name, such as color-gamut: p3, at most 20. Default: none.'),
  ),
  darkModeForce: pictureOption(z.boolean().describe('Darkens pages that have no dark color scheme. Default: false.')),
  javascriptEnabled: pictureOption(
    z.boolean().describe('Runs the page’s scripts. Scripts in these options run in either case. Default: true.'),
  ),
  bypassCsp: pictureOption(
    z.boolean().describe('Disables the page’s Content-Security-Policy, so that scripts can add blocked content. Default: false.'),
  ),
  pageZoom: pictureOption(
    z
      .number()
      .min(0.25)
      .max(5)
      .describe(
        'Zoom of the browser, 0.25 to 5: the window has fewer and larger CSS pixels, so media queries and vh follow. The picture has the same size in pixels. For a pdf, magnifies the page. Default: 1.',
      ),
  ),
}

export const emulationDefaults = {
  viewportLandscape: false,
  reducedMotion: false,
  forcedColors: false,
  prefersContrast: 'no_preference',
  darkModeForce: false,
  javascriptEnabled: true,
  bypassCsp: false,
  pageZoom: 1,
} as const
