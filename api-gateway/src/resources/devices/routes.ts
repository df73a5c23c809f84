import { DEVICES } from '@tintype/crds/options/page/devices'
import { type Route, routeFor } from '../../http/route.ts'
import { DeviceList, toDeviceRecord } from './record.ts'

const route = routeFor('Screenshots')

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

/** Routes of devices. */
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
