import { DEVICES, type Device, toDeviceId } from '@tintype/crds/options/page/browser'
import { z } from 'zod'
import { dataBody } from '../../http/fields.ts'
import { type Route, routeFor } from '../../http/route.ts'

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

const DeviceList = dataBody('DeviceList', z.array(DeviceRecord), 'Every device.')

const toDeviceRecord = ({ name, width, height, scale, mobile, touch, userAgent }: Device): DeviceRecord => ({
  id: toDeviceId(name),
  name,
  viewport_width: width,
  viewport_height: height,
  device_scale_factor: scale,
  is_mobile: mobile,
  has_touch: touch,
  user_agent: userAgent,
})

const route = routeFor('Devices')

const example = {
  success: true,
  data: [
    {
      id: 'pixel_9',
      name: 'Pixel 9',
      viewport_width: 360,
      viewport_height: 732,
      device_scale_factor: 3,
      is_mobile: true,
      has_touch: true,
      user_agent: 'Mozilla/5.0 (Linux; Android 14; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36',
    },
  ],
}

const body = { success: true, data: DEVICES.map(toDeviceRecord) }

export const deviceRoutes: readonly Route<unknown>[] = [
  route('GET /devices', {
    id: 'listDevices',
    scope: 'screenshots:read',
    summary: 'List the devices',
    description:
      'Lists the allowed values of `options.device`: the devices of Playwright. The list changes only with the version of the service.',
    responses: { 200: { description: 'All devices.', schema: DeviceList, example } },
    handle: ({ reply }) => {
      reply.header('cache-control', 'private, max-age=3600')
      return body
    },
  }),
]
