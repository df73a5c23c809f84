import { z } from 'zod'
import { DEVICES } from './devices.ts'

const deviceNames = DEVICES.map(({ name }) => name) as [string, ...string[]]

/** The window that the page is laid out in (spec 2.2). */
export const viewportOptions = {
  viewportWidth: z.int().min(1).max(7680).describe('Width of the browser window in CSS pixels, 1 to 7680. Default: 1920.'),
  viewportHeight: z.int().min(1).max(7680).describe('Height of the browser window in CSS pixels, 1 to 7680. Default: 1080.'),
  deviceScaleFactor: z.number().min(0.1).max(5).describe('Device pixels for each CSS pixel, 0.1 to 5. Default: 1.'),
  device: z
    .enum(deviceNames)
    .describe('Device to emulate: its window, pixel ratio, touch and user agent, but for what other options choose. Default: none.'),
  darkMode: z.boolean().describe('Asks the page for its dark color scheme, if it has one. Default: false.'),
}

export const viewportDefaults = { viewportWidth: 1920, viewportHeight: 1080, deviceScaleFactor: 1, darkMode: false }
