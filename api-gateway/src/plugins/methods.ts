import type { FastifyInstance } from 'fastify'
import { ApiError, notFound } from '../errors.ts'

interface KnownPath {
  pattern: RegExp
  methods: Set<string>
}

/** `/v1/screenshots/:id` as an expression over paths. */
const toPattern = (url: string): RegExp => {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`)
}

/**
 * A known path with another method answers 405 and Allow, OPTIONS 204 and Allow; fastify by itself says 404 to both. Decided before the
 * body is read. Must be added before the routes.
 */
export function addMethods(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: toPattern(url), methods: new Set(['OPTIONS']) }
    for (const name of [method].flat()) known.methods.add(name)
    paths.set(url, known)
  })
  const allowed = (path: string): string[] => [
    ...new Set([...paths.values()].filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods])),
  ]
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return
    const methods = allowed(request.url.split('?')[0] ?? '').sort()
    if (methods.length === 0) throw notFound('path')
    const headers = { allow: methods.join(', ') }
    if (request.method === 'OPTIONS') return reply.code(204).headers(headers).send()
    throw new ApiError('METHOD_NOT_ALLOWED', `${request.method} is not a method of this path`, { headers })
  })
  app.setNotFoundHandler(() => {
    throw notFound('path')
  })
}
