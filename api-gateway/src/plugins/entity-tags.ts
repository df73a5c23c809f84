import type { FastifyInstance } from 'fastify'

/**
 * Keeps the entity tags of records and files. A proxy that compresses a response removes its strong tag (Envoy) or makes it weak (nginx), and the client
 * could then send no condition. `no-transform` forbids that. Public documents stay compressible, and lists have no tag.
 */
export function addEntityTags(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    const cacheControl = reply.getHeader('cache-control')
    if (typeof cacheControl !== 'string' || !cacheControl.startsWith('private') || !reply.hasHeader('etag')) return
    reply.header('cache-control', `${cacheControl}, no-transform`)
  })
}
