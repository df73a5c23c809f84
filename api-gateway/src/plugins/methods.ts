import type { FastifyInstance } from 'fastify'
import { ApiError, notFound } from '../errors.ts'

interface KnownPath {
  url: string
  pattern: RegExp
  methods: Set<string>
}

/** `/v1/screenshots/:id` as an expression over paths. */
const toPattern = (url: string): RegExp => {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`)
}

const isExact = (url: string): boolean => !/[:*]/.test(url)

/** The methods of each path, learned as the routes are added. */
class KnownPaths {
  readonly #known = new Map<string, KnownPath>()

  add(url: string, methods: readonly string[]): void {
    const known = this.#known.get(url) ?? { url, pattern: toPattern(url), methods: new Set(['OPTIONS']) }
    for (const method of methods) known.methods.add(method)
    this.#known.set(url, known)
  }

  /** In order; a path that is spelled out is not also an id: `/screenshots/batch` has its own methods only. Empty: no such path. */
  methodsOf(path: string): string[] {
    const exact = this.#known.get(path)
    const all = exact ? [exact] : [...this.#known.values()].filter(({ pattern }) => pattern.test(path))
    return [...new Set(all.flatMap(({ methods }) => [...methods]))].sort()
  }

  /** True when the path is spelled out, but the route that fastify found for it is one that takes it as an id. */
  isShadowed(path: string, routeUrl: string | undefined): boolean {
    return routeUrl !== undefined && !isExact(routeUrl) && this.#known.has(path)
  }
}

/**
 * A known path with another method answers 405 and Allow, OPTIONS 204 and Allow; fastify by itself says 404 to both. Decided before the
 * key is checked and the body is read. Must be added before the routes.
 */
export function addMethods(app: FastifyInstance): void {
  const paths = new KnownPaths()
  app.addHook('onRoute', ({ url, method }) => paths.add(url, [method].flat()))
  app.addHook('onRequest', async (request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    if (!request.is404 && !paths.isShadowed(path, request.routeOptions.url)) return
    const methods = paths.methodsOf(path)
    if (methods.length === 0) throw notFound('path')
    const headers = { allow: methods.join(', ') }
    if (request.method === 'OPTIONS') return reply.code(204).headers(headers).send()
    throw new ApiError('METHOD_NOT_ALLOWED', `${request.method} is not a method of this path`, { headers })
  })
  app.setNotFoundHandler(() => {
    throw notFound('path')
  })
}
