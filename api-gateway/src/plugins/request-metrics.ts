import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../metrics.ts'

/** Counts and times every answer by route pattern, never by path; a log line a request, without its query, which may be a signature. */
export function addRequestMetrics(app: FastifyInstance, { requestSeconds }: Pick<Metrics, 'requestSeconds'>): void {
  app.addHook('onResponse', async (request, reply) => {
    const labels = { method: request.method, route: request.routeOptions.url ?? 'none', code: String(reply.statusCode) }
    requestSeconds.observe(labels, reply.elapsedTime / 1_000)
    const durationMilliseconds = Math.round(reply.elapsedTime)
    request.log.debug({ ...labels, accountName: request.accountName || undefined, durationMilliseconds }, 'request answered')
  })
}
