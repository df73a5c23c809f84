import { z } from 'zod'
import { count, instant } from '../../http/fields.ts'
import { name } from '../../http/named-schemas.ts'
import { DeviceRecord } from '../../translate/service/device.ts'

const health = z.enum(['operational', 'degraded', 'outage'])
const component = z.object({ status: health, response_time_ms: count('Response time in milliseconds.') })

/** Body of GET /status. */
export const ServiceStatus = name(
  'ServiceStatus',
  z
    .object({
      status: health.describe('Status of the whole service.'),
      version: z
        .string()
        .regex(/^\d+\.\d+\.\d+$/)
        .describe('Version of this API.'),
      timestamp: instant('Now.'),
      uptime_seconds: count('Seconds since this replica started.'),
      response_time_ms: count('Milliseconds to build this response.'),
      components: z.object({
        database: component.describe('The Kubernetes API.'),
        storage: component.describe('The bucket.'),
        api: z.object({ status: health }),
      }),
    })
    .describe('Status of the service and its components.'),
)

export const DeviceList = name('DeviceList', z.object({ success: z.literal(true), data: z.array(DeviceRecord) }).describe('Every device.'))

export const OpenApiDocument = name('OpenApiDocument', z.record(z.string(), z.unknown()).describe('This document.'))
