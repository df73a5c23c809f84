import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../metrics/metrics.ts'
import { clientAddressOf } from './client-address.ts'

/** Measures and logs every response by route pattern. Paths and queries are left out, because a query may contain a signature. */
export function addRequestMetrics(app: FastifyInstance, { requestSeconds }: Pick<Metrics, 'requestSeconds'>): void {
  app.addHook('onResponse', async (request, reply) => {
    const labels = { method: request.method, route: request.routeOptions.url ?? 'none', code: String(reply.statusCode) }
    requestSeconds.observe(labels, reply.elapsedTime / 1_000)
    const durationMilliseconds = Math.round(reply.elapsedTime)
    const accountName = request.accountName || undefined
    request.log.debug({ ...labels, accountName, clientAddress: clientAddressOf(request), durationMilliseconds }, 'request completed')
  })
}
