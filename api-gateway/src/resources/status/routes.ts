import { API_VERSION } from '../../common/version.ts'
import { type Route, routeFor } from '../../http/route.ts'
import type { Probe } from './probe.ts'
import { ServiceStatus, toServiceStatus } from './service-status.ts'

export interface StatusDeps {
  database: Probe
  storage: Probe
  now: () => Date
  /** When this process started. */
  startedAt: Date
}

const route = routeFor<StatusDeps>('Service')

const example = {
  status: 'operational',
  version: '1.0.0',
  timestamp: '2026-11-21T10:00:00.123Z',
  uptime_seconds: 86_400,
  response_time_ms: 2,
  components: {
    database: { status: 'operational', response_time_ms: 3 },
    storage: { status: 'operational', response_time_ms: 4 },
    api: { status: 'operational' },
  },
}

/** Routes of the service status. Readiness is at /readyz. */
export const statusRoutes: readonly Route<StatusDeps>[] = [
  route('GET /status', {
    id: 'getStatus',
    summary: 'Read the service status',
    description: 'Public, and readable from any web page. The HTTP status is always 200, and the body contains the health of the service.',
    responses: { 200: { description: 'The status.', schema: ServiceStatus, example, headers: ['Cache-Control'] } },
    handle: async ({ reply }, { database, storage, now, startedAt }) => {
      const components = { database: await database(), storage: await storage() }
      const responseMilliseconds = reply.elapsedTime
      const uptimeSeconds = (now().getTime() - startedAt.getTime()) / 1_000
      reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache' })
      return toServiceStatus({ version: API_VERSION, now: now(), uptimeSeconds, responseMilliseconds, ...components })
    },
  }),
]
