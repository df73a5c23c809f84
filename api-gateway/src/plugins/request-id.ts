import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

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
