import { choice, group, integer, number, off, PICTURE } from '../rules/declare.ts'
import { DEVICES } from './devices.ts'

const deviceNames = DEVICES.map(({ name }) => name) as [string, ...string[]]

/** Size and scale of the viewport. */
export const viewportGroup = group('Viewport', PICTURE, {
  viewportWidth: integer(1, 7680, { default: 1920 })('Width of the viewport in CSS pixels.'),
  viewportHeight: integer(1, 7680, { default: 1080 })('Height of the viewport in CSS pixels.'),
  deviceScaleFactor: number(0.1, 5, { default: 1 })('Device pixels per CSS pixel.'),
  device: choice(deviceNames, { example: 'iPhone 15 Pro' })(
    'Device to emulate: its viewport, pixel ratio, touch and user agent. Other options override these.',
  ),
  darkMode: off('Sets the CSS media feature prefers-color-scheme to dark.'),
})
