import type { FastifyInstance } from 'fastify'
import { ApiError, notFound } from '../common/errors.ts'

interface KnownPath {
  url: string
  pattern: RegExp
  methods: Set<string>
}

/** Regular expression for a route such as `/v1/screenshots/:id`. */
const toPattern = (url: string): RegExp => {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`)
}

const isExact = (url: string): boolean => !/[:*]/.test(url)

/** Collects the methods of each path while routes are added. */
class KnownPaths {
  readonly #known = new Map<string, KnownPath>()

  add(url: string, methods: readonly string[]): void {
    const known = this.#known.get(url) ?? { url, pattern: toPattern(url), methods: new Set(['OPTIONS']) }
    for (const method of methods) known.methods.add(method)
    this.#known.set(url, known)
  }

  /** Sorted methods of a path, empty for an unknown path. A static path such as `/screenshots/batch` does not match `/screenshots/:id`. */
  methodsOf(path: string): string[] {
    const exact = this.#known.get(path)
    const all = exact ? [exact] : [...this.#known.values()].filter(({ pattern }) => pattern.test(path))
    return [...new Set(all.flatMap(({ methods }) => [...methods]))].sort()
  }

  /** True for a static path that Fastify matched with a parameterized route. */
  isShadowed(path: string, routeUrl: string | undefined): boolean {
    return routeUrl !== undefined && !isExact(routeUrl) && this.#known.has(path)
  }
}

/**
 * Responds with 405 and Allow to a known path with a wrong method, and with 204 and Allow to OPTIONS. Fastify itself responds with 404 to both.
 * Runs before authentication and before the body is read. Must be added before the routes.
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
