import { count, instant } from '@tintype/crds/schema/fields'
import { z } from 'zod'
import { name } from '../../http/fields.ts'

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

/** Status of the service or of a component. */
export type Health = z.infer<typeof health>
/** Result of a probe. */
export type ComponentHealth = z.infer<typeof component>

/** Responses above this time count as slow. */
const SLOW_MILLISECONDS = 1_000

/** Evaluates a probe: a failed one is an outage, a slow one is degraded. */
export const evaluateComponent = (hasResponded: boolean, durationMilliseconds: number): ComponentHealth => ({
  status: !hasResponded ? 'outage' : durationMilliseconds > SLOW_MILLISECONDS ? 'degraded' : 'operational',
  response_time_ms: Math.round(durationMilliseconds),
})

/** Without the database nothing works. Without storage reads and creates still work. */
export function evaluateService(database: Health, storage: Health): Health {
  if (database === 'outage') return 'outage'
  return database === 'operational' && storage === 'operational' ? 'operational' : 'degraded'
}

interface StatusFacts {
  version: string
  now: Date
  uptimeSeconds: number
  responseMilliseconds: number
  database: ComponentHealth
  storage: ComponentHealth
}

/** The body of GET /status. */
export const toServiceStatus = ({ version, now, uptimeSeconds, responseMilliseconds, database, storage }: StatusFacts) => ({
  status: evaluateService(database.status, storage.status),
  version,
  timestamp: now.toISOString(),
  uptime_seconds: Math.floor(uptimeSeconds),
  response_time_ms: Math.round(responseMilliseconds),
  components: { database, storage, api: { status: 'operational' satisfies Health } },
})
