import { type Device, toDeviceId } from '@tintype/crds/options/page/devices'
import { z } from 'zod'
import { dataBody } from '../../http/envelopes.ts'

/** A device as `GET /devices` shows it. */
const DeviceRecord = z.object({
  id: z.string().describe('Value for options.device. Case and separators are ignored.'),
  name: z.string().describe('Display name.'),
  viewport_width: z.int().describe('CSS pixels.'),
  viewport_height: z.int().describe('CSS pixels.'),
  device_scale_factor: z.number().describe('Device pixels per CSS pixel.'),
  is_mobile: z.boolean().describe('Applies the viewport meta tag of pages.'),
  has_touch: z.boolean().describe('Supports touch events.'),
  user_agent: z.string().describe('User agent that the page receives. The version in a Chrome user agent is the browser’s own.'),
})
type DeviceRecord = z.infer<typeof DeviceRecord>

export const DeviceList = dataBody('DeviceList', z.array(DeviceRecord), 'Every device.')

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
