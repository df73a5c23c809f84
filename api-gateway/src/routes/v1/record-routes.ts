import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ById, FRESH, type Query } from './records.ts'

type HandlerResult = Promise<FastifyReply>

/** Handlers for the records that clients manage: keys and webhooks. */
export interface RecordHandlers {
  createOne: (request: FastifyRequest<Query>, reply: FastifyReply) => HandlerResult
  readMany: (request: FastifyRequest<Query>) => object
  readOne: (request: FastifyRequest<ById>, reply: FastifyReply) => HandlerResult
  updateOne: (request: FastifyRequest<ById>, reply: FastifyReply) => HandlerResult
  deleteOne: (request: FastifyRequest<ById>, reply: FastifyReply) => HandlerResult
}

/** Adds the CRUD routes of a kind. PUT is a partial update, like PATCH. */
export function addRecordRoutes(app: FastifyInstance, kind: 'keys' | 'webhooks', handlers: RecordHandlers): void {
  const read = { config: { scope: `${kind}:read` } } as const
  const write = { config: { scope: `${kind}:write` } } as const
  app.post<Query>(`/${kind}`, write, handlers.createOne)
  app.get<Query>(`/${kind}`, read, async (request, reply) => {
    reply.headers(FRESH)
    return handlers.readMany(request)
  })
  app.get<ById>(`/${kind}/:id`, read, handlers.readOne)
  app.put<ById>(`/${kind}/:id`, write, handlers.updateOne)
  app.patch<ById>(`/${kind}/:id`, write, handlers.updateOne)
  app.delete<ById>(`/${kind}/:id`, write, handlers.deleteOne)
}
