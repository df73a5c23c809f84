import { DEVICES } from '@tintype/crds/options/page/devices'
import type { FastifyInstance } from 'fastify'
import { assertNoQuery } from '../../translate/common/query.ts'
import { toDeviceRecord } from '../../translate/service/device.ts'

/** GET /devices: the allowed values of `options.device`. */
export function addDevicesRoute(app: FastifyInstance): void {
  const body = { success: true, data: DEVICES.map(toDeviceRecord) }
  app.get<{ Querystring: Record<string, unknown> }>('/devices', { config: { scope: 'screenshots:read' } }, async (request, reply) => {
    assertNoQuery(request.query)
    return reply.header('cache-control', 'private, max-age=3600').send(body)
  })
}
