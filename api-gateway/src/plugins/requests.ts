import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../metrics/metrics.ts'
import { clientAddressOf } from './client-address.ts'

const CLIENT_ID = /^[A-Za-z0-9_-]{1,128}$/

/** The client's X-Request-Id if it is valid, else a new id. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && CLIENT_ID.test(given) ? given : randomUUID()
}

/** Sends X-Request-Id with every response, so that clients can quote it in reports. */
export function addRequestId(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
}

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
