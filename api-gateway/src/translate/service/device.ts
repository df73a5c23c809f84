import { type Device, toDeviceId } from '@tintype/crds/options/page/devices'
import { z } from 'zod'

/** A device as `GET /devices` shows it. */
export const DeviceRecord = z.object({
  id: z.string().describe('What to send as options.device; case and separators do not count.'),
  name: z.string().describe('Name for people.'),
  viewport_width: z.int().describe('CSS pixels.'),
  viewport_height: z.int().describe('CSS pixels.'),
  device_scale_factor: z.number().describe('Device pixels for each CSS pixel.'),
  is_mobile: z.boolean().describe('Honours the viewport tag of pages.'),
  has_touch: z.boolean().describe('Reports touch.'),
  user_agent: z.string().describe('What the page is told; the version of a Chrome is the browser’s own.'),
})
export type DeviceRecord = z.infer<typeof DeviceRecord>

/** Builds the record of a device. */
export const toDeviceRecord = ({ name, width, height, scale, mobile, touch, userAgent }: Device): DeviceRecord => ({
  id: toDeviceId(name),
  name,
  viewport_width: width,
  viewport_height: height,
  device_scale_factor: scale,
  is_mobile: mobile,
  has_touch: touch,
  user_agent: userAgent,
})
