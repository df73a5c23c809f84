import { z } from 'zod'

const MAX_FEATURES = 20

/** The device and the media that the page is laid out for, beyond its window. */
export const emulationOptions = {
  viewportMobile: z
    .boolean()
    .describe('Lays the page out as a phone does: its viewport tag counts, scroll bars overlay. Default: the device’s, else false.'),
  viewportHasTouch: z.boolean().describe('Reports a touch screen to the page. Default: the device’s, else false.'),
  viewportLandscape: z.boolean().describe('Turns the window so that its longer side is its width. Default: false.'),
  mediaType: z.enum(['screen', 'print']).describe('CSS media type: screen or print. Default: screen, and print for a pdf.'),
  reducedMotion: z.boolean().describe('Asks the page for less motion. Default: false.'),
  forcedColors: z.boolean().describe('Puts a few colors of high contrast in place of the page’s own. Default: false.'),
  prefersContrast: z
    .enum(['no_preference', 'more', 'less'])
    .describe('Contrast that the page is asked for: no_preference, more or less. Default: no_preference.'),
  mediaFeatures: z
    .record(
      z.string().regex(/^[a-z][-a-z]{0,63}$/),
      z
        .string()
        .min(1)
        .max(64)
        .regex(/^[-a-z0-9/ ]+$/),
    )
    .refine((features) => Object.keys(features).length <= MAX_FEATURES, { message: `there must be at most ${MAX_FEATURES} features` })
    .meta({ maxProperties: MAX_FEATURES })
    .describe('Other CSS media features by name, such as color-gamut: p3, at most 20. Default: none.'),
  darkModeForce: z.boolean().describe('Darkens pages that have no dark scheme of their own. Default: false.'),
  javascriptEnabled: z.boolean().describe('Lets the page’s scripts run; scripts of these options run either way. Default: true.'),
  bypassCsp: z.boolean().describe('Switches the page’s Content-Security-Policy off, for what scripts put into it. Default: false.'),
  pageZoom: z.number().min(0.25).max(5).describe('Magnification of the page within its window, 0.25 to 5. Default: 1.'),
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
