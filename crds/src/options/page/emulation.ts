import { z } from 'zod'
import { choice, declare, flag, group, number, off, on, PICTURE } from '../rules/declare.ts'

const MAX_FEATURES = 20

const MediaFeature = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[-a-z0-9/ ]+$/)
/** Values of CSS media features by name. */
export const MediaFeatures = z
  .record(z.string().regex(/^[a-z][-a-z]{0,63}$/), MediaFeature)
  .refine((features) => Object.keys(features).length <= MAX_FEATURES, { message: `must have at most ${MAX_FEATURES} features` })
  .meta({ maxProperties: MAX_FEATURES })

/** Emulated device and CSS media. */
export const emulationGroup = group('Device and media', PICTURE, {
  viewportMobile: flag({ absent: 'the device’s, else false' })(
    'Lays the page out as a phone does: honors its viewport tag and overlays scroll bars.',
  ),
  viewportHasTouch: flag({ absent: 'the device’s, else false' })('Reports a touch screen to the page.'),
  viewportLandscape: off('Makes the longer side of the window its width.'),
  mediaType: choice(['screen', 'print'], { absent: 'screen, and print for a pdf' })('CSS media type: screen or print.'),
  reducedMotion: off('Sets the CSS media feature prefers-reduced-motion to reduce.'),
  forcedColors: off('Replaces the page’s colors with a few high-contrast colors.'),
  prefersContrast: choice(['no_preference', 'more', 'less'], { default: 'no_preference' })(
    'CSS media feature prefers-contrast: no_preference, more or less.',
  ),
  mediaFeatures: declare(MediaFeatures, { example: { 'color-gamut': 'p3' } })(
    'Other CSS media features by name, such as color-gamut: p3, at most 20.',
  ),
  darkModeForce: off('Darkens pages that have no dark color scheme.'),
  javascriptEnabled: on('Runs the page’s scripts. Scripts in these options run in either case.'),
  bypassCsp: flag({ default: false, policy: 'bypassCsp' })(
    'Disables the page’s Content-Security-Policy, so that scripts can add blocked content.',
  ),
  pageZoom: number(0.25, 5, { default: 1 })(
    'Zoom of the browser, 0.25 to 5: the window has fewer and larger CSS pixels, so media queries and vh follow. The picture has the same size in pixels. For a pdf, magnifies the page.',
  ),
})
