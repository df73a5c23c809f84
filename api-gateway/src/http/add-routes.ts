import type { FastifyInstance } from 'fastify'
import { MAX_BODY_BYTES } from './body.ts'
import { type CheckQuery, type RawQuery, readQuery } from './query.ts'
import { isLenient } from './request-headers.ts'
import { NO_CACHE, setIgnoredOptionsHeader } from './response-headers.ts'
import type { Route } from './route.ts'

// Registers declared routes with Fastify. Authentication runs before, in onRequest. The query is checked before the body, and both before the handler.

/** Every route exists under both prefixes. */
const PREFIXES = ['/api/v1', '/v1']

const toUrl = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

function addRoute<Deps>(app: FastifyInstance, route: Route<Deps>, deps: Deps): void {
  const { method, path, url = toUrl(path), scope, query = {}, checkQuery, body, handlesHead, handle } = route
  const name = method.toUpperCase()
  app.route<{ Params: object; Querystring: RawQuery }>({
    method: handlesHead ? [name, 'HEAD'] : name,
    url,
    ...(handlesHead ? { exposeHeadRoute: false } : {}),
    config: {
      ...(scope === undefined ? {} : { scope }),
      ...(body ? { maxBodyBytes: body.maxBytes ?? MAX_BODY_BYTES } : {}),
    },
    handler: async (request, reply) => {
      const parsed = query === 'unchecked' ? {} : readQuery(request.query, query, checkQuery as CheckQuery<object> | undefined)
      const read = body?.read(request.body, { isLenient: isLenient(request.headers.prefer), deps })
      if (scope !== undefined) reply.headers(NO_CACHE)
      setIgnoredOptionsHeader(reply, read?.ignored ?? [])
      const input = { request, reply, params: request.params, query: parsed, body: read?.body }
      return handle(input as Parameters<typeof handle>[0], deps)
    },
  })
}

/** Adds routes with the dependencies of their handlers. */
export function addRoutes<Deps>(app: FastifyInstance, routes: readonly Route<Deps>[], deps: Deps): void {
  const [outside, inside] = [routes.filter(({ isOutsideApi }) => isOutsideApi), routes.filter(({ isOutsideApi }) => !isOutsideApi)]
  for (const prefix of PREFIXES) {
    app.register(
      async (scope) => {
        for (const route of inside) addRoute(scope, route, deps)
      },
      { prefix },
    )
  }
  app.register(async (scope) => {
    for (const route of outside) addRoute(scope, route, deps)
  })
}
