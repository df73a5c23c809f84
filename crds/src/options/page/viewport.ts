import { z } from 'zod'
import { pictureOption } from '../rules/option-rules.ts'
import { DEVICES } from './devices.ts'

const deviceNames = DEVICES.map(({ name }) => name) as [string, ...string[]]

/** Size and scale of the viewport. */
export const viewportOptions = {
  viewportWidth: pictureOption(z.int().min(1).max(7680).describe('Width of the viewport in CSS pixels, 1 to 7680. Default: 1920.')),
  viewportHeight: pictureOption(z.int().min(1).max(7680).describe('Height of the viewport in CSS pixels, 1 to 7680. Default: 1080.')),
  deviceScaleFactor: pictureOption(z.number().min(0.1).max(5).describe('Device pixels per CSS pixel, 0.1 to 5. Default: 1.')),
  device: pictureOption(
    z
      .enum(deviceNames)
      .describe('Device to emulate: its viewport, pixel ratio, touch and user agent. Other options override these. Default: none.'),
  ),
  darkMode: pictureOption(z.boolean().describe('Sets the CSS media feature prefers-color-scheme to dark. Default: false.')),
}

export const viewportDefaults = { viewportWidth: 1920, viewportHeight: 1080, deviceScaleFactor: 1, darkMode: false }
