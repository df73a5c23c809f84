import type { FastifyInstance } from 'fastify'
import { API_VERSION } from '../../common/version.ts'
import type { Probe } from '../../store/ports.ts'
import { toServiceStatus } from '../../translate/service/service-status.ts'

export interface StatusDeps {
  database: Probe
  storage: Probe
  now: () => Date
  /** When this process started. */
  startedAt: Date
}

/** GET /status: public, and readable from any web page. Always responds with 200. Readiness is at /readyz. */
export function addStatusRoute(app: FastifyInstance, { database, storage, now, startedAt }: StatusDeps): void {
  app.get('/status', async (_request, reply) => {
    const components = { database: await database(), storage: await storage() }
    const responseMilliseconds = reply.elapsedTime
    const uptimeSeconds = (now().getTime() - startedAt.getTime()) / 1_000
    reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache' })
    return toServiceStatus({ version: API_VERSION, now: now(), uptimeSeconds, responseMilliseconds, ...components })
  })
}
